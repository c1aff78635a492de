"""The edge: HTTP and server-sent events in front of the ledger."""
