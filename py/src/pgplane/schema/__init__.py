"""The schema: the SQL tree `db/`, and what brings a database to it."""
