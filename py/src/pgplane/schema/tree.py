"""The SQL tree `db/`: where it is, what is in it, and in which order its code loads."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Self

STATE_NAME = re.compile(r"\d{4}\.[a-z0-9][a-z0-9-]*")
RELEASE_NAME = re.compile(r"\d{4}\.release-(?P<version>\d+\.\d+\.\d+)")
NOT_TRANSACTIONAL = re.compile(r"^--\s*transactional\s*:\s*false\s*$", re.MULTILINE)


CODE_BEGINS = "-- The code, file by file:"
CODE_ENDS = "-- The code ends."
"""Lines around a code text in every script that loads it."""
FILE_HEADER = re.compile(r"^-- ((?:functions|views|triggers)/\S+\.sql|grants\.sql)$", re.MULTILINE)
"""The line ahead of each file in a code text."""


class MigrationError(Exception):
    """Something about migrations was refused or failed; says why and what to do."""


class TreeError(MigrationError):
    """The SQL tree breaks one of its own rules; the message says which file and what to do."""


@dataclass(frozen=True)
class Code:
    """Functions, views and triggers as one text.

    `sha256` is over that text alone; `release` is the release it was frozen in, None for a
    working tree.
    """

    sql: str
    release: str | None = None

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True)
class Migration:
    """One entry of `db/migrations`: a state triple, or the step of a release."""

    path: Path
    tree: "Tree"

    @property
    def id(self) -> str:
        """File name without extension, as yoyo knows it."""
        return self.path.stem

    @property
    def release(self) -> str | None:
        """The version that this step loads the code of; None for a state migration."""
        named = RELEASE_NAME.fullmatch(self.id)
        return named["version"] if named else None

    @property
    def rollback(self) -> Path:
        return self.path.with_name(f"{self.id}.rollback.sql")

    @property
    def verify(self) -> Path:
        return self.tree.root / "verify" / f"{self.id}.sql"

    @property
    def transactional(self) -> bool:
        """False for a file that must run outside a transaction, as CREATE INDEX CONCURRENTLY."""
        return not (self.path.suffix == ".sql" and NOT_TRANSACTIONAL.search(self.path.read_text()))

    @property
    def sha256(self) -> str:
        """Over everything that may not change once the migration was applied."""
        digest = hashlib.sha256(self.path.read_bytes())
        for part in self._frozen_with():
            digest.update(b"\0" + part.read_bytes())
        return digest.hexdigest()

    def _frozen_with(self) -> list[Path]:
        if self.release is None:
            return [self.rollback]
        folder = self.tree.release_folder(self.release)
        return [folder / "code.sql", folder / "code.rollback.sql"]

    def check(self) -> None:
        """Raise TreeError unless the migration is whole: named well, with its way back."""
        if self.release is None and self.path.suffix == ".py":
            raise TreeError(f"{self.path}: only a release step is Python; write SQL")
        if self.release is None and not STATE_NAME.fullmatch(self.id):
            raise TreeError(f"{self.path}: a migration is named NNNN.slug.sql, in lower case")
        wanted = self._frozen_with() + ([self.verify] if self.release is None else [])
        for part in wanted:
            if not part.is_file() or not part.read_text().strip():
                raise TreeError(f"{self.id} has no {part.relative_to(self.tree.root)}: write it")


@dataclass(frozen=True)
class Tree:
    """A folder laid out as `db/` is."""

    root: Path

    @classmethod
    def shipped(cls) -> Self:
        """The tree of this installation: inside the wheel, else in the checkout it runs from."""
        package = Path(__file__).resolve().parents[1]
        for root in (package / "db", package.parents[2] / "db"):
            if (root / "bootstrap.sql").is_file():
                return cls(root)
        raise TreeError("this installation of pgplane carries no SQL: install it again")

    @classmethod
    def checkout(cls) -> Self:
        """The tree of the checkout that this runs from, which may be written to."""
        tree = cls.shipped()
        if tree.root.is_relative_to(Path(__file__).parents[1]):
            raise TreeError("this pgplane is installed: run it in a checkout")
        return tree

    @property
    def bootstrap(self) -> str:
        return (self.root / "bootstrap.sql").read_text()

    def migrations(self) -> list[Migration]:
        """All migrations in the order they apply, checked; raises TreeError."""
        found = [
            Migration(path, self)
            for path in sorted((self.root / "migrations").iterdir())
            if path.suffix in {".sql", ".py"}
            and not path.name.endswith(".rollback.sql")
            and not path.name.startswith("post-apply")
        ]
        for migration in found:
            migration.check()
        numbers = Counter(migration.id[:4] for migration in found)
        for number, times in numbers.items():
            if times > 1:
                raise TreeError(f"{times} migrations are numbered {number}: renumber the newer one")
        return found

    def code(self) -> Code:
        """The working tree's code in load order."""
        return Code("\n".join(self._headed(path) for path in self.code_files()))

    def code_files(self) -> list[Path]:
        """Helpers, views, functions, triggers, grants; by file name within each.

        Helpers are the functions whose name starts with `_`. Public functions come after views,
        because they may return rows of one.
        """
        functions = self._named(self.root / "functions")
        helpers = [path for path in functions if path.name.startswith("_")]
        public = [path for path in functions if not path.name.startswith("_")]
        views = self._named(self.root / "views")
        triggers = self._named(self.root / "triggers")
        grants = [path for path in [self.root / "grants.sql"] if path.is_file()]
        return [*helpers, *views, *public, *triggers, *grants]

    @staticmethod
    def _named(folder: Path) -> list[Path]:
        files = sorted(folder.rglob("*.sql"), key=lambda path: path.name)
        for one, other in pairwise(files):
            if one.name == other.name:
                raise TreeError(f"{one} and {other}: a name is given once")
        return files

    def _headed(self, path: Path) -> str:
        return f"-- {path.relative_to(self.root)}\n{path.read_text().rstrip()}\n"

    def releases(self) -> list[str]:
        """Versions that are frozen here, oldest first."""
        folder = self.root / "releases"
        versions = [p.name for p in folder.iterdir() if p.is_dir()] if folder.is_dir() else []
        return sorted(versions, key=version_key)

    def release_folder(self, version: str) -> Path:
        return self.root / "releases" / version

    def frozen(self, version: str) -> Code:
        """The code of a release."""
        script = (self.release_folder(version) / "code.sql").read_text()
        code = script.split(f"{CODE_BEGINS}\n", 1)[1].split(CODE_ENDS, 1)[0]
        return Code(code, version)

    def checksums(self, version: str) -> Iterator[tuple[str, str]]:
        """(file name, sha256) of every line of a release's SHA256SUMS."""
        for line in (self.release_folder(version) / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split(maxsplit=1)
            yield name, digest


def version_key(version: str) -> tuple[int, ...]:
    """Sorts versions X.Y.Z by number; raises TreeError for anything else."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise TreeError(f"{version!r} is no version: write X.Y.Z")
    return tuple(int(part) for part in version.split("."))
