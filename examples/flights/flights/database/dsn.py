"""Connection strings as URLs, which every tool understands."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from psycopg.conninfo import conninfo_to_dict


def url(dsn: str = "", **changes: str | int) -> str:
    """The URL of a connection string in either of libpq's forms, with some of its parts changed."""
    parts = {
        name: str(value)
        for name, value in {**conninfo_to_dict(dsn), **changes}.items()
        if value is not None
    }
    user, password = quote(parts.pop("user", ""), safe=""), parts.pop("password", None)
    database = quote(parts.pop("dbname", ""), safe="")
    hosts, ports = parts.get("host", ""), parts.get("port", "")
    login = user if password is None else f"{user}:{quote(password, safe='')}"
    place = ""
    if hosts and not set(hosts) & set(",/:"):
        place = f"{parts.pop('host')}:{parts.pop('port')}" if ports.isdigit() else parts.pop("host")
    query = f"?{urlencode(parts, quote_via=quote)}" if parts else ""
    return f"postgresql://{login}{'@' if login else ''}{place}/{database}{query}"
