"""docs/reference.md says what the catalog says, docs/notifications.md what the functions say."""

import re

import psycopg

from pgplane.edge.replies import pump
from pgplane.schema import reference
from pgplane.schema.tree import Tree

from ..support.postgres import ROOT


def test_the_reference_is_the_catalog(queue_db: str) -> None:
    with psycopg.connect(queue_db) as connection:
        written = reference.render(connection)
    kept = (ROOT / "docs" / "reference.md").read_text()
    assert kept == written, "run `make reference` and commit docs/reference.md"


def test_every_channel_is_described() -> None:
    code = Tree.shipped().code().sql
    sent = re.findall(r"\bpg_notify\('(plane_\w+)'", code)
    assert len(sent) == code.count("pg_notify("), "a channel is a constant"
    text = (ROOT / "docs" / "notifications.md").read_text()
    described = re.findall(r"^\| `(plane_\w+)` \|", text, re.MULTILINE)
    assert described
    assert sorted(described) == sorted(set(sent))
    assert set(pump.CHANNELS) <= set(sent)
