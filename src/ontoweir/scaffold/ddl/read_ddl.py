"""Read the tables that SQL declares: CREATE TABLE with types, keys, references and checks."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.mappings.model.catalog import (
    Catalog,
    DataSource,
    Reference,
    Relation,
    Stream,
    TimestampType,
)
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.runtime.spark.explain_java import describe_cause
from ontoweir.scaffold.ddl.created_table import CreatedTable, list_created
from ontoweir.scaffold.ddl.read_flink import is_flink, read_flink

_SECOND = 1_000_000
_DATA = re.compile(r"^COPY [^;]+ FROM stdin;.*?^\\\.$|^\\[^\n]*$", re.MULTILINE | re.DOTALL)
"""Rows in a dump of PostgreSQL, and what is meant for the program that reads it."""


@dataclass(frozen=True, slots=True)
class DeclaredTables:
    """A catalog; in words why its streams are such, by name; and the columns whose types are not
    known, as TABLE.COLUMN; and those that say when a program comes to a row (PROCTIME of Flink)."""

    catalog: Catalog
    reasons: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    processed: tuple[str, ...] = ()


def read_ddl(files: Sequence[Path]) -> DeclaredTables:
    """The tables that files of SQL create; those with a timestamp are streams. Their data is to be
    put into `data/TABLE.parquet`.

    Args:
        files: SQL; what one alters may be created by another; other statements than CREATE TABLE
            and ALTER TABLE are passed over.

    Raises:
        UsageError: there is no such file.
        DataError: one is not SQL, or none creates a table.
    """
    flink: list[CreatedTable] = []
    statements: list[exp.Expr | None] = []
    for file in files:
        text = _read_text(file)
        if is_flink(text):
            for made in read_flink(text):
                flink += [CreatedTable(one, made) for one in _creations(file, made.sql, made.line)]
        else:
            statements += _parse(file, text, "mysql" if "`" in text else "postgres", 0)
    tables = [*flink, *list_created(statements)]
    if not tables:
        altered = dict.fromkeys(s.this.name for s in statements if isinstance(s, exp.Alter))
        raise DataError(
            "no table is created",
            why=f"only ALTER TABLE is there, of {_list_some(list(altered))}"
            if altered
            else "tables are read from CREATE TABLE",
            fix=f"name the file that creates the tables too: --from TABLES.sql --from {files[-1]}"
            if altered
            else "name a file that has it",
            source=Source(str(files[-1])),
        )
    return _declare(tables)


def _list_some(names: Sequence[str]) -> str:
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")


def read_tables(texts: Sequence[tuple[Source, str]], *, flink: bool) -> DeclaredTables:
    """As `read_ddl`, of single statements of CREATE TABLE.

    Args:
        texts: where each begins, and what it is.
        flink: they are Flink's: those with a watermark are streams, others are not.

    Raises:
        DataError: one is not SQL.
    """
    tables = []
    for source, text in texts:
        file, line = Path(source.file), source.line or 1
        if flink:
            for one in read_flink(text, nested=True):
                tables += [CreatedTable(made, one) for made in _creations(file, one.sql, line)]
        else:
            tables += list_created(_parse(file, text, "postgres", line))
    return _declare(tables, marked_only=flink)


def _declare(tables: Sequence[CreatedTable], *, marked_only: bool = False) -> DeclaredTables:
    """The catalog of some tables; `marked_only`: those without a watermark are no streams."""
    streams: dict[str, Stream] = {}
    relations: dict[str, Relation] = {}
    reasons = []
    for table in tables:
        source = DataSource("parquet", f"data/{table.name}.parquet")
        times = [c.name for c in table.columns if isinstance(c.type, TimestampType)]
        marked = None if table.flink is None else table.flink.time
        time = marked if marked in times else next(iter(() if marked_only else times), None)
        if time is None:
            relations[table.name] = Relation(
                table.name, source, table.columns, table.keys, table.references
            )
            continue
        written = None if table.flink is None or marked != time else table.flink.written
        parts = {time, *(() if written is None else written.columns)}
        columns = tuple(c for c in table.columns if c.name not in parts)
        streams[table.name] = Stream(
            table.name,
            source,
            time,
            _SECOND,
            None,
            columns,
            table.keys,
            table.references,
            written=written,
        )
        reasons.append((table.name, _tell_time(table, time)))
    kept = {n: replace(s, references=_known(s.references, relations)) for n, s in streams.items()}
    static = {
        n: replace(r, references=_known(r.references, relations)) for n, r in relations.items()
    }
    left_out = tuple(f"{t.name}.{column}" for t in tables for column in t.left_out)
    processed = tuple(
        f"{t.name}.{t.flink.processed}" for t in tables if t.flink and t.flink.processed
    )
    return DeclaredTables(Catalog(kept, static), tuple(reasons), left_out, processed)


def _tell_time(table: CreatedTable, time: str) -> str:
    """Why a column is a stream's time."""
    flink = table.flink
    if flink is None or flink.time != time:
        return "it is declared as a timestamp"
    if not flink.delay_us:
        return "it has a watermark"
    late = show_duration(flink.delay_us)
    return (
        f'it has a watermark {late} behind, which is lateness = "{late}" in its timestamp; add '
        "that with max_per_timestamp, the rows that share one at most"
    )


def _known(
    references: tuple[Reference, ...], relations: dict[str, Relation]
) -> tuple[Reference, ...]:
    """Those to static relations; a reference without columns is to the key."""
    found = []
    for reference in references:
        relation = relations.get(reference.relation)
        if relation is None:
            continue
        width = len(reference.columns)
        to = reference.to or next((k for k in relation.keys if len(k) == width), ())
        if to:
            found.append(replace(reference, to=to))
    return tuple(dict.fromkeys(found))


def _read_text(file: Path) -> str:
    """
    Raises:
        UsageError, DataError: as `read_ddl`.
    """
    if not file.is_file():
        raise UsageError(
            f"there is no {file}",
            why="it is SQL by its name",
            fix="name a file with CREATE TABLE",
            source=Source(str(file)),
        )
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _not_known(file, error, 0) from error


def _creations(file: Path, text: str, line: int) -> list[exp.Create]:
    """The tables that Flink's SQL creates, by one statement each."""
    statements = _parse(file, text, "spark", line)
    return [s for s in statements if isinstance(s, exp.Create) and isinstance(s.this, exp.Schema)]


def _parse(file: Path, text: str, dialect: str, line: int) -> list[exp.Expr | None]:
    """The statements of a text; `line`: where it is in its file (0: it is all of it)."""
    text = _DATA.sub(lambda found: "\n" * found[0].count("\n"), text)
    try:
        logging.getLogger("sqlglot").setLevel(logging.ERROR)  # of what is passed over
        return parse(text, read=dialect)
    except SqlglotError as error:
        raise _not_known(file, error, line) from error


def _not_known(file: Path, error: Exception, line: int) -> DataError:
    details: list[Any] = getattr(error, "errors", [])
    place = line or (details[0].get("line") if details else None)
    return DataError(
        f"it is not SQL that is known: {describe_cause(error)[:200]}",
        why="tables are read from CREATE TABLE, in the dialect of PostgreSQL, or of Flink",
        fix="correct it, or leave out what is not about tables",
        source=Source(str(file), place),
    )
