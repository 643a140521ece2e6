"""Read the tables that SQL declares: CREATE TABLE with types, keys, references and checks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Reference,
    Relation,
    Scalar,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.scaffold.ddl.read_flink import FlinkTable, is_flink, read_flink
from ontoweir.scaffold.flatten_rows import make_name

_SECOND = 1_000_000
_TIMES = ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "DATETIME", "DATETIME64")
_TYPES: dict[str, ColumnType] = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT", "UINT"), IntType()),
    **dict.fromkeys(("SERIAL", "BIGSERIAL", "SMALLSERIAL", "UBIGINT", "USMALLINT"), IntType()),
    **dict.fromkeys(("DOUBLE", "FLOAT"), FloatType()),
    **dict.fromkeys(("TEXT", "VARCHAR", "NVARCHAR", "CHAR", "NCHAR", "UUID"), StringType()),
    **dict.fromkeys(_TIMES, TimestampType()),
    "BOOLEAN": BooleanType(),
    "DATE": DateType(),
}


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
        files: SQL; other statements than CREATE TABLE are passed over.

    Raises:
        UsageError: there is no such file.
        DataError: one is not SQL, or creates no table.
    """
    return _declare([table for file in files for table in _list_tables(file)])


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
            for one in read_flink(text):
                tables += [_Table(made, one) for made in _parse(file, one.sql, "spark", line)]
        else:
            tables += [_Table(made) for made in _parse(file, text, "postgres", line)]
    return _declare(tables, marked_only=flink)


def _declare(tables: "Sequence[_Table]", *, marked_only: bool = False) -> DeclaredTables:
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


def _tell_time(table: "_Table", time: str) -> str:
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


def _list_tables(file: Path) -> "list[_Table]":
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
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _not_known(file, error, 0) from error
    if is_flink(text):
        tables = [
            _Table(made, flink)
            for flink in read_flink(text)
            for made in _parse(file, flink.sql, "spark", flink.line)
        ]
    else:
        tables = [_Table(made) for made in _parse(file, text, "postgres", 0)]
    if not tables:
        raise DataError(
            "no table is created",
            why="tables are read from CREATE TABLE",
            fix="name a file that has it",
            source=Source(str(file)),
        )
    return tables


def _parse(file: Path, text: str, dialect: str, line: int) -> list[exp.Create]:
    """The tables that a text creates; `line`: where it is in its file (0: it is all of it)."""
    try:
        statements = parse(text, read=dialect)
    except SqlglotError as error:
        raise _not_known(file, error, line) from error
    return [s for s in statements if isinstance(s, exp.Create) and isinstance(s.this, exp.Schema)]


def _not_known(file: Path, error: Exception, line: int) -> DataError:
    details: list[Any] = getattr(error, "errors", [])
    place = line or (details[0].get("line") if details else None)
    return DataError(
        f"it is not SQL that is known: {str(error).splitlines()[0][:200]}",
        why="tables are read from CREATE TABLE, in the dialect of PostgreSQL, or of Flink",
        fix="correct it, or leave out what is not about tables",
        source=Source(str(file), place),
    )


class _Table:
    """What a CREATE TABLE declares; `flink`: what is only Flink's of it."""

    def __init__(self, created: exp.Create, flink: FlinkTable | None = None) -> None:
        self.flink = flink
        schema = created.this
        self.name = make_name(schema.this.name)
        self._keys: list[tuple[str, ...]] = []
        self._references: list[Reference] = []
        columns: dict[str, Column] = {}
        self.left_out = [] if flink is None else [*flink.left_out]
        for part in _flat(schema.expressions):
            if isinstance(part, exp.ColumnDef):
                kind = _column_type(part.args.get("kind"))
                if kind is None:
                    self.left_out.append(part.name)
                    continue
                columns[part.name] = Column(part.name, kind)
                for constraint in part.args.get("constraints") or ():
                    self._constrain(constraint.args.get("kind"), (part.name,), columns)
            else:
                self._constrain(part, (), columns)
        self.columns = tuple(columns.values())
        named = set(columns)
        self.keys = tuple(dict.fromkeys(k for k in self._keys if k and set(k) <= named))
        self.references = tuple(r for r in self._references if set(r.columns) <= named)

    def _constrain(self, part: object, column: tuple[str, ...], columns: dict[str, Column]) -> None:
        match part:
            case exp.PrimaryKeyColumnConstraint():
                self._keys.append(column)
            case exp.PrimaryKey():
                self._keys.append(tuple(e.name for e in part.expressions))
            case exp.UniqueColumnConstraint():
                inner = part.this
                unique = column if inner is None else tuple(e.name for e in inner.expressions)
                self._keys.append(unique)
            case exp.Reference():
                self._references.append(_refer(column, part))
            case exp.ForeignKey():
                own = tuple(e.name for e in part.expressions)
                self._references.append(_refer(own, part.args["reference"]))
            case exp.CheckColumnConstraint():
                _check(part.this, columns)
            case _:
                pass


def _flat(parts: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """Parts of a table, those of named constraints too."""
    for part in parts:
        if isinstance(part, exp.Constraint):
            yield from part.expressions
        else:
            yield part


def _refer(columns: tuple[str, ...], to: exp.Expr) -> Reference:
    target = to.this
    if isinstance(target, exp.Schema):
        names = tuple(e.name for e in target.expressions)
        return Reference(columns, make_name(target.this.name), names)
    return Reference(columns, make_name(target.name), ())


def _check(condition: exp.Expr, columns: dict[str, Column]) -> None:
    """The domain that a CHECK of one column gives it; other conditions say nothing."""
    for part in condition.flatten() if isinstance(condition, exp.And) else (condition,):
        column = columns.get(part.this.name) if isinstance(part.this, exp.Column) else None
        if column is None:
            continue
        match part:
            case exp.In() if part.expressions:
                values = [_constant(e) for e in part.expressions]
                if isinstance(column.type, StringType) and all(isinstance(v, str) for v in values):
                    column = replace(column, enum=tuple(str(v) for v in values))
            case exp.Between():
                low, high = _constant(part.args["low"]), _constant(part.args["high"])
                column = _bound(_bound(column, low, least=True), high, least=False)
            case exp.GTE():
                column = _bound(column, _constant(part.expression), least=True)
            case exp.LTE():
                column = _bound(column, _constant(part.expression), least=False)
            case _:
                pass
        columns[column.name] = column


def _bound(column: Column, value: Scalar | None, *, least: bool) -> Column:
    if not isinstance(value, int) or not isinstance(column.type, IntType | DecimalType):
        return column
    return replace(column, minimum=value) if least else replace(column, maximum=value)


def _constant(node: exp.Expr) -> Scalar | None:
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        return -inner if isinstance(inner, int) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.this)
    return int(node.this) if str(node.this).isdecimal() else None


def _column_type(kind: object) -> ColumnType | None:
    """The type of ours (None: there is none)."""
    if not isinstance(kind, exp.DataType):
        return None
    name = str(kind.this.value if hasattr(kind.this, "value") else kind.this).upper()
    if name == "DECIMAL":
        sizes = [int(p.name) for p in kind.expressions]
        if not sizes:
            return FloatType()
        return DecimalType(sizes[0], sizes[1] if len(sizes) > 1 else 0)
    return _TYPES.get(name)
