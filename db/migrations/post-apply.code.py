"""The functions, views and triggers, for plain yoyo, which runs this after it applied migrations.

`pgplane migrate` does the same by itself and does not read this file.
"""

from pathlib import Path

from yoyo import step

from pgplane.schema.migrations import catch_up
from pgplane.schema.tree import Tree

step(lambda connection: catch_up(connection, Tree(Path(__file__).resolve().parents[1])))
