"""The whole life of a job from psql alone: the session that the README opens with."""

import re
import subprocess

import psycopg
import pytest

from ..support.postgres import ROOT, find_psql, for_role

PROMPT = re.compile(r"^plane[=-]> ")


@pytest.fixture
def visitor(queue_db: str) -> str:
    """A login that may be admin, producer and worker in turn, and is none of them by itself."""
    with psycopg.connect(queue_db, autocommit=True) as connection:
        if connection.execute("select from pg_roles where rolname = 'visitor'").rowcount == 0:
            connection.execute("create role visitor login noinherit")
        connection.execute("grant plane_admin, plane_producer, plane_worker to visitor")
    return for_role(queue_db, "visitor")


def readme_session() -> list[str]:
    """The lines of the README's first console block, prompts and output."""
    block = re.search(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    assert block is not None, "the README opens with a psql session"
    return block[1].splitlines()


def test_the_session_in_the_readme_prints_what_it_says(visitor: str) -> None:
    lines = readme_session()
    typed = [PROMPT.sub("", line) for line in lines if PROMPT.match(line)]
    printed = [line for line in lines if not PROMPT.match(line)]

    psql = subprocess.run(
        [str(find_psql()), "-X", "-v", "ON_ERROR_STOP=1", "-P", "pager=off", visitor],
        input="\n".join(typed) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert psql.stderr == ""
    assert [line.rstrip() for line in psql.stdout.splitlines()] == printed


def test_the_session_in_the_readme_goes_from_enqueue_to_done() -> None:
    """What the session must show: who enqueues, who works, a late word refused, an end."""
    session = "\n".join(readme_session())
    steps = ["plane_producer", "enqueue", "plane_worker", "claim", "complete_job", "done"]
    places = [session.find(step) for step in steps]
    assert -1 not in places, dict(zip(steps, places, strict=True))
    assert places == sorted(places)
