"""pgplane: the thin Python shell around the stored functions of a PostgreSQL data plane."""

from importlib.metadata import version

__version__: str = version("pgplane")
