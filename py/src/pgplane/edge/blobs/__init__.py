"""Blobs: the bytes that results name, from the database to a client."""
