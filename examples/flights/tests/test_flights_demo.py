"""The demo's own parts: it must notice a wrong answer, and help where it cannot run."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import jwt
import psutil  # type: ignore[import-untyped]
import pytest

from flights.demo import (
    account,
    binaries,
    cluster,
    configuration,
    identity,
    page,
    ports,
    services,
    timing,
)
from flights.demo.asking import Reply
from flights.demo.board import board
from flights.demo.checking import refusal_fault, rows_fault
from flights.demo.processes import Child, Register, wait_until
from flights.demo.questions import Refused, questions
from flights.demo.terminal import Terminal
from flights.demo.trouble import DemoError
from flights.operations import surface

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def child(folder: Path, *command: str) -> Child:
    return Child("sleeper", list(command or SLEEPER), os.environ, folder / "sleeper.log")


class TestChecks:
    """Nothing wrong may pass."""

    def test_equal_rows_have_no_fault(self) -> None:
        rows = [{"carrier": "UA", "plane": {"year": 1999}}]
        assert rows_fault(rows, json.loads(json.dumps(rows))) is None

    @pytest.mark.parametrize(
        ("got", "words"),
        [
            ([], "0 rows where the database has 2"),
            ([{"a": 1, "b": 2}, {"a": 3, "b": 5}], "row 2: b is 5, the database has 4"),
            ([{"a": 3, "b": 4}, {"a": 1, "b": 2}], "row 1: a is 3"),
            ([{"a": 1}, {"a": 3, "b": 4}], "row 1: b is None"),
            ([{"a": 1, "b": 2, "c": 9}, {"a": 3, "b": 4}], "row 1: c is 9"),
        ],
        ids=["too few", "a value", "the order", "a column is missing", "a column too many"],
    )
    def test_a_difference_is_named(self, got: list[dict[str, int]], words: str) -> None:
        fault = rows_fault([{"a": 1, "b": 2}, {"a": 3, "b": 4}], got)
        assert fault is not None
        assert words in fault

    def test_a_refusal_must_be_the_one_that_was_due(self) -> None:
        due = Refused(403, "ORIGIN_NOT_IN_SCOPE")
        right = Reply(0, problem={"status": 403, "code": "ORIGIN_NOT_IN_SCOPE"})
        other = Reply(0, problem={"status": 404, "code": "NOT_FOUND"})
        assert refusal_fault(due, right) is None
        assert "404 NOT_FOUND" in (refusal_fault(due, other) or "")
        assert "answered with 1 rows" in (refusal_fault(due, Reply(0, result={"rows": [{}]})) or "")

    def test_every_operation_is_asked(self) -> None:
        people = identity.people()
        asked = {question.operation for question in [*questions(people), *board(people)]}
        exports = {"flights_csv", "month_report"}
        assert asked | exports == {entry["name"] for entry in surface.manifest()}


class TestTiming:
    """Quantiles are samples that were really measured."""

    def test_quantiles(self) -> None:
        row = timing.Row("step", [part / 1000 for part in range(100, 0, -1)])
        assert (row.quantile(0.5), row.quantile(0.95)) == (0.050, 0.095)
        assert timing.Row("one", [0.007]).quantile(0.95) == 0.007

    def test_clocks_are_reconciled(self) -> None:
        """The database is 5 s ahead of us: what it says happened 2 ms ago lies in our future."""
        reply = Reply(
            sent=100.0,
            accepted=100.004,
            answered=100.020,
            job_id="7",
            result={"rows": []},
            times={"created": 105.002, "claimed": 105.005, "finished": 105.018},
        )
        series = timing.Series([reply], [], [], starts={"7": -4.996}, skew=5.0)
        steps = {row.step: row.samples[0] for row in timing.table(series)}
        assert steps["Enqueue → 202"] == pytest.approx(0.004)
        assert steps["Queue wait (enqueue → handler start)"] == pytest.approx(0.004)
        assert steps["Execution (claim → done), drill-down"] == pytest.approx(0.013)
        assert steps["Notify → SSE event"] == pytest.approx(0.002)
        assert steps["End to end, drill-down"] == pytest.approx(0.020)

    def test_handler_starts_are_read_from_the_log(self, tmp_path: Path) -> None:
        lines = [
            {"event": "worker.started"},
            {"event": "job.started", "job_id": 12, "queued_ms": 3.5},
        ]
        text = "\n".join(["no JSON", *map(json.dumps, lines), '"text"'])
        writer = child(tmp_path)
        writer.stop()
        writer.log.write_text(text)
        assert services.handler_starts(writer) == {"12": 0.0035}

    def test_the_table_has_a_line_a_step(self) -> None:
        lines = timing.rendered([timing.Row("Enqueue → 202", [0.0014, 0.002])])
        assert lines[-1].split() == ["Enqueue", "→", "202", "1.4", "ms", "2.0", "ms", "2"]


class TestProcesses:
    """A child that dies is noticed, one that was left behind is ended."""

    async def test_a_child_that_ends_is_reported_with_its_log(self, tmp_path: Path) -> None:
        failing = child(tmp_path, sys.executable, "-c", "raise SystemExit('no queue database')")

        async def never() -> bool:
            return False

        with pytest.raises(DemoError, match=r"(?s)ended with status 1.*no queue database"):
            await wait_until(never, failing)

    async def test_a_child_that_is_late_is_reported(self, tmp_path: Path) -> None:
        slow = child(tmp_path)

        async def never() -> bool:
            return False

        try:
            with pytest.raises(DemoError, match="not ready within 0 s"):
                await wait_until(never, slow, seconds=0.2)
        finally:
            slow.stop()

    def test_a_program_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DemoError, match="cannot start sleeper"):
            child(tmp_path, str(tmp_path / "missing"))

    def test_a_child_left_behind_is_ended(self, tmp_path: Path) -> None:
        left = child(tmp_path)
        Register(tmp_path / "children.json").write([left])
        said: list[str] = []
        Register(tmp_path / "children.json").clear(said.append)
        assert not psutil.pid_exists(left.pid)
        left.stop()
        assert said == ["stopping the sleeper that an earlier run left behind"]
        assert not (tmp_path / "children.json").exists()

    def test_a_stranger_with_the_same_process_id_is_left_alone(self, tmp_path: Path) -> None:
        stranger = child(tmp_path)
        file = tmp_path / "children.json"
        began = psutil.Process(stranger.pid).create_time() - 1
        file.write_text(json.dumps([{"name": "edge", "pid": stranger.pid, "began": began}]))
        Register(file).clear(lambda _text: None)
        try:
            stranger.require_alive()
        finally:
            stranger.stop()

    def test_a_deaf_child_is_ended_all_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("flights.demo.processes._GRACE_SECONDS", 0.2)
        code = (
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
            "print('deaf', flush=True); time.sleep(600)"
        )
        deaf = child(tmp_path, sys.executable, "-c", code)
        deadline = time.monotonic() + 20
        while "deaf" not in deaf.log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert deaf.stop() == -signal.SIGKILL


class TestConfiguration:
    """What is set is taken or refused, never ignored."""

    def test_nothing_set(self) -> None:
        config = configuration.read({"ONCE": "", "PATH": "/bin"})
        assert (config.port, config.once, config.queue_url) == (None, False, None)
        assert config.folder.name == ".demo"

    @pytest.mark.parametrize(("text", "once"), [("1", True), ("yes", True), ("0", False)])
    def test_once(self, text: str, once: bool) -> None:
        assert configuration.read({"ONCE": text}).once is once

    @pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", "8 000", "٣"])
    def test_a_port_that_is_none_is_refused(self, text: str) -> None:
        with pytest.raises(DemoError, match="DEMO_PORT"):
            configuration.read({"DEMO_PORT": text})

    def test_a_connection_string_that_is_none_is_refused(self) -> None:
        with pytest.raises(DemoError, match="PLANE_QUEUE_URL is no connection string"):
            configuration.read({"PLANE_QUEUE_URL": "nonsense"})

    def test_a_taken_port_is_refused_or_passed_over(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(DemoError, match=f"port {port} is taken.*DEMO_PORT"):
                ports.require_free(port, "DEMO_PORT")
            assert ports.first_free(port) > port


class TestCluster:
    """The server: beginnings and ends that are not as they should be."""

    def test_no_room(self, open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Full:
            free = 1 << 20

        monkeypatch.setattr("shutil.disk_usage", lambda _path: Full)
        with pytest.raises(DemoError, match="1 MB free"):
            unmade(open_folder).start(None, lambda _text: None)

    def test_data_of_another_version(self, open_folder: Path) -> None:
        server = unmade(open_folder)
        server.data.mkdir()
        (server.data / "PG_VERSION").write_text("9\n")
        with pytest.raises(DemoError, match="are of PostgreSQL 9"):
            server.start(None, lambda _text: None)

    def test_a_pid_file_that_names_a_stranger_is_removed(self, open_folder: Path) -> None:
        """The process exists, but is no server; the data are none, so that the start fails."""
        server = unmade(open_folder)
        server.data.mkdir()
        version = subprocess.run(
            [server.programs / "postgres", "--version"], capture_output=True, text=True, check=True
        )
        major = version.stdout.split()[-1].split(".")[0]
        (server.data / "PG_VERSION").write_text(f"{major}\n")
        pid_file = server.data / "postmaster.pid"
        pid_file.write_text(f"{os.getpid()}\n{server.data}\n")
        with pytest.raises(DemoError, match="did not start"):
            server.start(None, lambda _text: None)
        assert not pid_file.exists()

    def test_a_copy_of_the_programs_works(self, open_folder: Path) -> None:
        programs = binaries.copied(binaries.installed(), open_folder / "server")
        answer = account.for_server().run([programs / "initdb", "--version"], cwd=open_folder)
        assert (answer.returncode, answer.stdout.split()[0]) == (0, "initdb")


def unmade(folder: Path) -> cluster.Cluster:
    """A cluster of ours that was never made."""
    made = cluster.prepared(folder, lambda _text: None)
    return cluster.Cluster(folder, made.programs, made.account)


class TestPage:
    """What the page finds beside it."""

    def test_without_a_built_page_there_is_none(self, tmp_path: Path) -> None:
        assert page.assembled(tmp_path, identity.people(), built=tmp_path / "dist") is None

    def test_users_are_beside_the_page_and_their_tokens_are_good(self, tmp_path: Path) -> None:
        built = tmp_path / "dist"
        built.mkdir()
        (built / "index.html").write_text("<!doctype html>")
        people = identity.people()
        served = page.assembled(tmp_path, people, built)
        assert served is not None
        assert (served / "index.html").is_file()
        users = json.loads((served / "users.json").read_text())
        assert [set(user) for user in users] == [
            {"label", "token", "client", "scope", "staff"} for _ in people.everybody()
        ]
        for user in users:
            claims = jwt.decode(
                user["token"],
                people.public_key,
                algorithms=["ES256"],
                audience=identity.AUDIENCE,
                issuer=identity.ISSUER,
            )
            assert (claims["client"], claims["branches"]) == (user["client"], user["scope"])


class TestTerminal:
    """Plain lines where nobody watches, one moving line where somebody does."""

    def test_plain_lines(self) -> None:
        out = io.StringIO()
        with Terminal(out).step("loading") as step:
            step.at(0.5, "flights")
            step.outcome("done")
        assert "\x1b" not in out.getvalue()
        assert out.getvalue().startswith("  ✓ loading done (0.")
        assert out.getvalue().count("\n") == 1

    def test_a_moving_line(self) -> None:
        class Screen(io.StringIO):
            def isatty(self) -> bool:
                return True

        out = Screen()
        with Terminal(out).step("loading") as step:
            step.at(0.5, "flights")
        assert " 50%  flights" in out.getvalue()
        assert out.getvalue().endswith("\n")

    def test_a_failed_step_says_so(self) -> None:
        out = io.StringIO()
        with pytest.raises(ValueError, match="broken"), Terminal(out).step("loading"):
            raise ValueError("broken")
        assert out.getvalue().startswith("  ✗ loading")
