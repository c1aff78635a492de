"""The edge: HTTP and server-sent events in front of the ledger."""

from pgplane.edge.app import create_app

__all__ = ["create_app"]
