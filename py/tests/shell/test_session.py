"""Sessions: JSON arrives raw, and nothing is left open."""

import pytest

from pgplane import session


@pytest.mark.parametrize("binary", [False, True])
async def test_json_arrives_as_the_text_that_postgresql_printed(
    queue_db: str, binary: bool
) -> None:
    connection = await session.connect(queue_db, application_name="test")
    async with connection:
        cursor = await connection.execute(
            """select '{"b": 1.50, "a": 12345678901234567890}'::jsonb, '{"n":  1e400}'::json""",
            binary=binary,
        )
        assert await cursor.fetchone() == (
            b'{"a": 12345678901234567890, "b": 1.50}',
            b'{"n":  1e400}',
        )


async def test_a_pool_lends_connections_in_autocommit_with_raw_json(queue_db: str) -> None:
    async with (
        session.pool(queue_db, application_name="test", max_size=1) as pool,
        pool.connection() as connection,
    ):
        assert connection.autocommit
        cursor = await connection.execute("select '[1.0]'::jsonb")
        assert await cursor.fetchone() == (b"[1.0]",)
