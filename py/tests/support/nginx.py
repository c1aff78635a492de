"""nginx in front of an edge, with the file of `deploy/`; all that it writes is in one folder."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from .postgres import ROOT
from .processes import PATIENCE
from .sockets import free_port

DEPLOYED = ROOT / "deploy" / "nginx.conf"
UNPACKED = ROOT / ".tools" / "nginx" / "usr" / "sbin" / "nginx"

BARE = """
server {
    listen 80;
    access_log off;
    location / {
        proxy_pass http://127.0.0.1:8000;
    }
}
"""
"""What nginx does by itself: HTTP/1.0 to the edge, and every answer buffered."""

MAIN = """
daemon off;
%(user)s
worker_processes 1;
pid %(folder)s/nginx.pid;
error_log %(folder)s/error.log warn;
events {
    worker_connections %(connections)d;
}
http {
    client_body_temp_path %(folder)s/body;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    include %(folder)s/site.conf;
}
"""
"""What Debian's nginx.conf is to a file in conf.d, with every path in the folder."""


def find_nginx() -> str | None:
    """The nginx of PATH, of Debian's place for it, or the one that is unpacked in `.tools/`."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:{UNPACKED.parent}")


class Nginx:
    """A running nginx; its logs are what it has written so far."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        self._folder = folder

    @property
    def access_log(self) -> str:
        """A line for each request that has ended."""
        return self._read("pgplane.log")

    @property
    def error_log(self) -> str:
        """What went wrong, from warnings on."""
        return self._read("error.log")

    def _read(self, name: str) -> str:
        path = self._folder / name
        return path.read_text() if path.exists() else ""


@contextmanager
def nginx(
    folder: Path,
    edge: int | Sequence[int],
    site: str | None = None,
    connections: int = 512,
    **directives: str,
) -> Iterator[Nginx]:
    """nginx on a free port before the edge there, or those, with the deployed file or another.

    `directives` take other values than the file gives them, as `client_body_timeout="1s"`.
    """
    program = find_nginx()
    assert program is not None
    port = free_port()
    text = site if site is not None else DEPLOYED.read_text()
    if isinstance(edge, int):
        text = _replaced(text, "127.0.0.1:8000", f"127.0.0.1:{edge}")
    else:
        servers = "\n    ".join(f"server 127.0.0.1:{one};" for one in edge)
        text = _replaced(text, "server 127.0.0.1:8000;", servers)
    text = _replaced(text, "listen 80", f"listen 127.0.0.1:{port}")
    for name, value in directives.items():
        (line,) = [line for line in text.splitlines() if line.split()[:1] == [name]]
        text = _replaced(text, line, f"{name} {value};")
    (folder / "site.conf").write_text(text.replace("/var/log/nginx/", f"{folder}/"))
    user = "user root;" if os.geteuid() == 0 else ""
    values = {"folder": folder, "user": user, "connections": connections}
    (folder / "main.conf").write_text(MAIN % values)
    process = subprocess.Popen(
        [program, "-p", str(folder), "-c", str(folder / "main.conf")], stderr=subprocess.PIPE
    )
    running = Nginx(folder, port)
    try:
        _wait_until_open(running, process)
        yield running
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def _replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old} should be there once"
    return text.replace(old, new)


def _wait_until_open(running: Nginx, process: subprocess.Popen[bytes]) -> None:
    until = monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", running.port)).close()
            return
        except ConnectionRefusedError:
            assert process.poll() is None, process.communicate()[1].decode()
            assert monotonic() < until, "nginx does not listen"
            sleep(0.01)
