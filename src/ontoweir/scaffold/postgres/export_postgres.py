"""The tables of a server of PostgreSQL as Parquet files, which a project reads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.database.read_postgres import open_postgres, read_postgres
from ontoweir.scaffold.ddl.read_constraints import Constraints
from ontoweir.scaffold.flatten_rows import make_name
from ontoweir.scaffold.postgres.read_declared import TableId, read_declared

if TYPE_CHECKING:
    from ontoweir.runtime.database.read_postgres import Server

SCHEMES = ("postgres", "postgresql")
_SOURCE = Source("--from")
_LIST = """
SELECT c.oid, n.nspname, c.relname, c.relkind IN ('v', 'm'),
    has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
    AND n.nspname !~ '^(pg_|_timescaledb)' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e'
        AND d.classid = 'pg_class'::regclass)
ORDER BY c.oid
"""
"""Tables and views, whether they are views, and whether they may be read; without what belongs to
an extension, and parts of tables."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The files of tables; what is declared of each, by the name that a catalog has for it; views
    that are left out, and tables that this user may not read."""

    files: tuple[Path, ...]
    declared: Mapping[str, Constraints]
    views: tuple[str, ...]
    denied: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    oid: TableId
    schema: str
    name: str
    view: bool
    readable: bool

    @property
    def shown(self) -> str:
        return f"{self.schema}.{self.name}"


def export_postgres(url: str, folder: Path, *, views: bool) -> Exported:
    """Write each table to a Parquet file: of all of them one state. It is called as the table is,
    with its schema where several have such a table.

    Args:
        url: an address as libpq has it, `postgresql://USER@HOST/DATABASE`; with `#TABLE,…`, each
            perhaps as SCHEMA.TABLE, these alone.
        folder: for the files.
        views: what views compute is copied too.

    Raises:
        UsageError: psycopg is not installed; or there is no table, or none of a name; or one that
            is named may not be read.
        DataError: the server is not there, or refuses.
    """
    import pyarrow.parquet as pq
    from psycopg.sql import Identifier

    address, _, named = url.partition("#")
    with open_postgres(address, _SOURCE) as server:
        chosen, left = _choose(server, [n for n in named.split(",") if n], views=views)
        names = _name_files(chosen)
        files = []
        for one in chosen:
            made = folder / f"{names[one.oid]}.parquet"
            rows = read_postgres(server, Identifier(one.schema, one.name))
            first = next(rows)
            if not first.schema.names:
                continue
            with pq.ParquetWriter(made, first.schema, store_schema=False) as writer:
                for some in rows:
                    writer.write_table(some)
            files.append(made)
        declared = read_declared(server, names)
    return Exported(
        tuple(files),
        declared,
        tuple(one.shown for one in left if one.view),
        tuple(one.shown for one in left if not one.view),
    )


def _choose(
    server: "Server", named: Sequence[str], *, views: bool
) -> tuple[list[_Found], list[_Found]]:
    """The tables that are copied, and those that are left out."""
    found = [_Found(*row) for row in server.execute(_LIST).fetchall()]
    if named:
        for name in named:
            fits = [one for one in found if name in (one.name, one.shown)]
            if len(fits) != 1 or not fits[0].readable:
                what = "may not be read" if len(fits) == 1 else "is in several schemas"
                raise UsageError(
                    f"the database's table {name} {what if fits else 'is not there'}",
                    why="the tables behind # are copied into the project",
                    fix="it has " + (", ".join(one.shown for one in found[:20]) or "none"),
                    source=_SOURCE,
                )
        return [one for one in found if {one.name, one.shown} & {*named}], []
    chosen = [one for one in found if one.readable and (views or not one.view)]
    if not chosen:
        raise UsageError(
            "the database has no table" + (" that may be read" if found else ""),
            why="a project is made of tables",
            fix="name another database, or connect as another user",
            source=_SOURCE,
        )
    return chosen, [one for one in found if one not in chosen]


def _name_files(chosen: Sequence[_Found]) -> dict[TableId, str]:
    """What each table's file is called."""
    often = Counter(make_name(one.name) for one in chosen)
    return {
        one.oid: make_name(one.name)
        if often[make_name(one.name)] == 1
        else make_name(f"{one.schema}_{one.name}")
        for one in chosen
    }
