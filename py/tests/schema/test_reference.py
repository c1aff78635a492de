"""docs/reference.md says what the catalog says."""

import psycopg

from pgplane.schema import reference

from ..support.postgres import ROOT


def test_the_reference_is_the_catalog(queue_db: str) -> None:
    with psycopg.connect(queue_db) as connection:
        written = reference.render(connection)
    kept = (ROOT / "docs" / "reference.md").read_text()
    assert kept == written, "run `make reference` and commit docs/reference.md"
