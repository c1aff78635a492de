"""Make `.venv` with everything of py/requirements.lock in it, and pgplane itself, editable.

Run by the Makefile with whatever Python there is, so that it can say when that one will not do.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older one may run this
    sys.exit("pgplane needs Python 3.11 or newer: name one, make PYTHON=python3.12")
try:
    import ensurepip  # noqa: F401 - Debian leaves it out, and venv with it, of python3 itself
    import venv
except ImportError:
    sys.exit(
        f"{sys.executable} cannot make virtual environments: install its venv module "
        "(Debian: apt-get install python3-venv)"
    )

import subprocess
from collections import deque
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
LOCK = ROOT / "py" / "requirements.lock"


def main() -> None:
    if not (VENV / "bin" / "python").exists():
        say("Making .venv ...")
        venv.create(VENV, with_pip=True)
    say("Installing the Python packages of py/requirements.lock into .venv ...")
    pip("--require-hashes", "-r", str(LOCK))
    pip("--no-deps", "--no-build-isolation", "-e", str(ROOT / "py"))


def pip(*arguments: str) -> None:
    """Run pip's install, telling how far it is; its last lines are shown when it fails."""
    command = [VENV / "bin" / "python", "-u", "-m", "pip", "install", "--disable-pip-version-check"]
    last: deque[str] = deque(maxlen=15)
    found = 0
    with subprocess.Popen(  # noqa: S603 - our own pip
        [*command, "--progress-bar", "off", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            last.append(line)
            if line.startswith("Collecting "):
                found += 1
                if found % 10 == 0:
                    say(f"  {found} found")
            elif line.startswith("Installing collected packages") and found:
                say(f"  unpacking {found} ...")
    if process.returncode != 0:
        sys.exit("".join(last) + "pip failed: see above; run make again once that is mended")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


main()
