"""Builds the catalog from the `[streams.*]` and `[relations.*]` sections of the project file."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from urllib.parse import urlsplit

from ontoweir.files.name_formats import NESTED, NESTED_PARQUET, POSTGRES
from ontoweir.mappings.catalog.check_view import check_view
from ontoweir.mappings.catalog.read_closing import read_closing
from ontoweir.mappings.catalog.read_columns import read_columns
from ontoweir.mappings.catalog.read_envelope import (
    check_archives,
    check_envelope,
    read_archive,
    read_envelope,
    read_mqtt,
    read_registry,
)
from ontoweir.mappings.catalog.read_rules import check_columns, read_iri, read_rules
from ontoweir.mappings.catalog.read_timestamp import read_timestamp
from ontoweir.mappings.catalog.read_versions import read_versions
from ontoweir.mappings.catalog.read_views import read_views
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    Reference,
    Relation,
    Stream,
)
from ontoweir.mappings.model.column_types import (
    name_column_type,
    type_family,
)
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean
from ontoweir.mappings.sql.read_scope import SqlRefusal

_KEPT = ("csv", "json", "mqtt", "parquet", "arrow", "avro")
_COMMON = ("source", "keys", "references", "columns")
_STREAM = (
    *("source", "timestamp", "max_per_timestamp", "keys", "references", "lags", "columns"),
    *("clustered", "closed_by", "ordered", "on_bad_file", "iri"),
)
_RELATION = (*_COMMON, "max_rows")


def load_catalog(root: TomlTable) -> Catalog:
    """The catalog declared in the project file's root table; paths in it are absolute.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    streams_table, relations_table = root.table("streams"), root.table("relations")
    streams = {n: _read_stream(streams_table.table(n)) for n in streams_table.values}
    changing = [n for n in relations_table.values if "versions" in relations_table.table(n).values]
    relations = {
        n: _read_relation(relations_table.table(n))
        for n in relations_table.values
        if n not in changing
    }
    for name in sorted(streams.keys() & {*relations, *changing}):
        raise relations_table.error(
            name,
            f"{name!r} is both a stream and a relation",
            why="tables are known by their name alone",
            fix="rename one of them",
        )
    tables: list[Stream | Relation] = [*streams.values(), *relations.values()]
    for table in tables:
        section = (streams_table if isinstance(table, Stream) else relations_table).table(
            table.name
        )
        _check_references(table, section, relations, streams)
        if isinstance(table, Stream):
            _check_lags(table, section, streams)
    check_archives(streams, relations, streams_table)
    changed = {n: read_versions(relations_table.table(n), streams) for n in changing}
    catalog = Catalog({**streams, **changed}, relations, root.lines.file)
    for relation in relations.values():
        if relation.data.view is not None:
            _check_view(relation, relation.data.view, catalog, relations_table)
    return read_views(root.table("views"), catalog)


def _check_view(relation: Relation, view: str, catalog: Catalog, relations: TomlTable) -> None:
    try:
        check_view(relation, view, catalog)
    except SqlRefusal as error:
        line = "" if error.line is None else f", line {error.line}"
        raise (
            relations.table(relation.name)
            .table("source")
            .error(
                "view",
                f"the view of {relation.name}{line}: {error.what}",
                why=error.why,
                fix=error.fix,
            )
        ) from None


def _read_stream(table: TomlTable) -> Stream:
    table.refuse_unknown(_STREAM)
    table.need("source", '{ format = "parquet", path = "…" }')
    table.need("timestamp", '{ column = "ts", unit = "1 second" }')
    time = read_timestamp(table)
    bad = table.text("on_bad_file") or "stop"
    if bad not in ("stop", "quarantine"):
        raise table.error(
            "on_bad_file",
            f"on_bad_file is {bad!r}",
            why="a file that cannot be read stops a live run, or is moved away",
            fix='write "stop" or "quarantine"',
        )
    columns = tuple(c for c in read_columns(table) if c.name != time.column)
    for part in () if time.written is None else time.written.columns:
        if any(c.name == part for c in columns):
            raise table.table("timestamp").error(
                "from",
                f"{part!r} is a column of {table.path[-1]!r}, and in from",
                why="it holds the timestamp, which is read once",
                fix="remove it from columns",
            )
    data = _read_source(table.table("source"), static=False)
    data = _lead_paths(table, data, columns, () if time.written is None else time.written.columns)
    check_envelope(table, data.envelope, columns)
    return Stream(
        name=table.path[-1],
        data=data,
        timestamp=time.column,
        step_us=time.step_us,
        max_per_timestamp=table.count("max_per_timestamp", least=1),
        columns=columns,
        keys=_read_keys(table, [time.column, *(c.name for c in columns)]),
        references=_read_references(table, [time.column, *(c.name for c in columns)]),
        source=table.lines.place(*table.path),
        idle_us=time.idle_us,
        lags=read_rules(table, columns, time.step_us),
        start_us=time.start_us,
        on_bad_file=bad,
        align=time.align,
        written=time.written,
        lateness_us=time.lateness_us,
        floor_us=time.floor_us,
        window_us=time.window_us,
        closing=read_closing(table, columns, time.step_us),
        iri=read_iri(table, columns),
    )


def _read_relation(table: TomlTable) -> Relation:
    table.refuse_unknown(_RELATION)
    table.need("source", '{ format = "csv", path = "…" }')
    columns = read_columns(table)
    data = _read_source(table.table("source"), static=True)
    data = _lead_paths(table, data, columns, ())
    return Relation(
        name=table.path[-1],
        data=data,
        columns=columns,
        keys=_read_keys(table, [c.name for c in columns]),
        references=_read_references(table, [c.name for c in columns]),
        max_rows=table.count("max_rows", least=0),
        source=table.lines.place(*table.path),
    )


def _read_source(table: TomlTable, *, static: bool) -> DataSource:
    known = ("format", "path", "options", "sort", "view", "unnest")
    live = ("keep", "envelope", "delete", "registry", "archive")
    table.refuse_unknown(known if static else (*known, *live))
    view, kind, path = table.text("view"), table.text("format"), table.text("path")
    if view is not None and (not static or kind is not None or path is not None):
        raise table.error(
            "view",
            f"[{table.name()}] has a view" + (" and a format or path" if static else ""),
            why="a view is Spark SQL over static relations and takes the place of format and path",
            fix="keep only the view" if static else "give the stream a format and a path",
        )
    if view is None:
        table.need("format", '"parquet"')
    if kind in ("jsonl", "ndjson"):
        raise table.error(
            "format",
            f"[{table.name()}] has format = {kind!r}",
            why="formats have Spark's names, and lines of JSON are called json there",
            fix='write format = "json"',
        )
    options_table = table.table("options")
    options = tuple((key, _option(options_table, key)) for key in options_table.values)
    if kind == "view" and (options or path is None):
        raise table.error(
            "format",
            f"[{table.name()}] is a temporary view of Spark, with "
            + ("options" if options else "no path"),
            why="its path is the view's name, and it has no options",
            fix="remove the options" if options else 'write path = "NAME"',
        )
    if kind == POSTGRES:
        _check_postgres(table, path or "", options, static=static)
    sort, keep = table.flag("sort"), not static and table.flag("keep")
    if keep and kind not in _KEPT:
        raise table.error(
            "keep",
            f"[{table.name()}] has keep = true",
            why="only what is made of local files is kept: of CSV, JSON lines, Parquet, Arrow and "
            "Avro",
            fix="remove keep",
        )
    mqtt: tuple[tuple[str, str], ...] = ()
    if kind == "mqtt":
        options, mqtt = read_mqtt(table, options, static=static)
        kind = "json"  # as which messages are written
    unnest = table.text("unnest")
    nestable = kind == "json" or kind in NESTED
    if unnest is not None and not (nestable and all(unnest.split("."))):
        raise table.error(
            "unnest",
            f"[{table.name()}] has unnest = {unnest!r}",
            why="it names an array in JSON lines, Parquet, Arrow, Avro, Delta or Iceberg, by names "
            "with dots",
            fix='write it as "values", or "reading.values"'
            if nestable
            else 'write format = "json", and unnest = "values"',
        )
    form = kind or "view"
    data = DataSource(form, path, options, view, sort, keep, unnest, mqtt=mqtt)
    if static:
        return data
    envelope, registry = read_envelope(table), read_registry(table)
    return replace(data, envelope=envelope, registry=registry, archive=read_archive(table))


def _check_postgres(
    table: TomlTable, path: str, options: tuple[tuple[str, str], ...], *, static: bool
) -> None:
    secret = "password=" in path or ":" in urlsplit(path).netloc.rpartition("@")[0]
    plain = path.startswith(("postgresql://", "postgres://")) and not secret
    if static and plain and all(name == "table" for name, _ in options):
        return
    raise table.error(
        "format" if not static else "options" if plain else "path",
        f"[{table.name()}] is of PostgreSQL"
        + ("" if not static else ", with options" if plain else ", with a password" * secret),
        why="a static relation may be a table of a server, whose address is the path; a password "
        "is not written here",
        fix='write path = "postgresql://USER@HOST/DATABASE" and options = { table = '
        '"SCHEMA.TABLE" }, with the password in PGPASSWORD or ~/.pgpass'
        if static
        else "copy it by `ontoweir init --from postgresql://…`, or write it to files or Kafka",
    )


def _lead_paths(
    table: TomlTable, data: DataSource, columns: Sequence[Column], times: Sequence[str]
) -> DataSource:
    """The source with the paths of its columns, and of those that make its timestamp, where its
    files have columns that may be nested.

    Raises:
        CatalogError: a column is by a path where the data has none.
    """
    for column in columns:
        if column.path is None:
            continue
        declared = table.table("columns").table(column.name)
        named = data.format == "csv" and column.path
        if not named and not all(column.path.split(".")):
            raise declared.wrong("from", 'names with dots, such as "device.id"')
        formats = ("csv", "json", "kafka", *NESTED)
        if data.format in formats or data.envelope is not None:
            continue
        raise declared.error(
            "from",
            f"column {column.name!r} is from {column.path!r}, where the data is {data.format}",
            why="a path leads into JSON lines, Parquet, Arrow, Avro, Delta and Iceberg, or into "
            "messages of Kafka, and in CSV it is a name in the header",
            fix='write format = "json" in the source, or remove from',
        )
    if data.format not in NESTED:
        return data
    paths = [(c.name, c.path) for c in columns if c.path is not None]
    paths += [(name, name) for name in times if "." in name]
    if not paths and data.unnest is None:
        return data
    form = NESTED_PARQUET if data.format == "parquet" else data.format
    return replace(data, format=form, paths=tuple(paths))


def _option(table: TomlTable, key: str) -> str:
    value = table.values[key]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float, Decimal)):
        return str(value)
    raise table.wrong(key, "a string")


def _read_keys(table: TomlTable, known: list[str]) -> tuple[tuple[str, ...], ...]:
    keys: list[tuple[str, ...]] = []
    for key in table.items("keys"):
        if not isinstance(key, list) or not key or not all(isinstance(c, str) for c in key):
            raise table.wrong("keys", 'a list of keys, each a list of columns: [["id", "ts"]]')
        check_columns(table, "keys", key, known, table.path[-1])
        keys.append(tuple(key))
    return tuple(keys)


def _read_references(table: TomlTable, known: list[str]) -> tuple[Reference, ...]:
    references: list[Reference] = []
    for item in table.items("references"):
        if not isinstance(item, dict):
            raise table.wrong("references", "a list of tables { columns, relation, to }")
        entry = TomlTable(item, (*table.path, "references"), table.lines)
        entry.refuse_unknown(("columns", "relation", "to"))
        for key, example in (("columns", '["id"]'), ("relation", '"sensor"'), ("to", '["id"]')):
            entry.need(key, example)
        columns, to = entry.texts("columns"), entry.texts("to")
        check_columns(entry, "columns", columns, known, table.path[-1])
        if not columns or len(columns) != len(to):
            raise entry.error(
                "to",
                f"{len(columns)} columns reference {len(to)}",
                why="a reference pairs columns one by one",
                fix="list as many columns as to",
            )
        references.append(Reference(columns, entry.text("relation") or "", to))
    return tuple(references)


def _check_lags(stream: Stream, section: TomlTable, streams: dict[str, Stream]) -> None:
    for lag in stream.lags:
        behind = streams.get(lag.behind)
        if behind is None:
            raise section.error(
                "lags",
                f"{stream.name!r} lags behind the unknown stream {lag.behind!r}",
                why="a lag is between two declared streams",
                fix=did_you_mean(lag.behind, streams),
            )
        check_columns(section, "lags", lag.to, [c.name for c in behind.columns], behind.name)
        for name, other in zip(lag.columns, lag.to, strict=True):
            mine, theirs = stream.column(name), behind.column(other)
            assert mine is not None
            assert theirs is not None
            if type_family(mine.type) != type_family(theirs.type):
                raise section.error(
                    "lags",
                    f"{stream.name}.{name} is {name_column_type(mine.type)}, and {behind.name}."
                    f"{other}, which it joins, is {name_column_type(theirs.type)}",
                    why="values of different types are never equal, so no row lags behind another",
                    fix="name columns that are joined, or declare both with one type",
                )
            if lag.breach is not None and mine.type != theirs.type:
                raise section.error(
                    "lags",
                    f"{stream.name}.{name} is {name_column_type(mine.type)}, and {behind.name}."
                    f"{other} is {name_column_type(theirs.type)}, of a lag with on_violation",
                    why="values that are remembered are compared as they are declared",
                    fix="declare both columns with one type",
                )


def _check_references(
    table: Stream | Relation,
    section: TomlTable,
    relations: dict[str, Relation],
    streams: dict[str, Stream],
) -> None:
    for reference in table.references:
        target = relations.get(reference.relation)
        if target is None:
            is_stream = reference.relation in streams
            raise section.error(
                "references",
                f"{table.name!r} references "
                + ("the stream " if is_stream else "the unknown relation ")
                + repr(reference.relation),
                why="a reference points to a declared static relation",
                fix=did_you_mean(reference.relation, relations),
            )
        check_columns(
            section, "references", reference.to, [c.name for c in target.columns], target.name
        )
        for name, other in zip(reference.columns, reference.to, strict=True):
            mine, theirs = table.column(name), target.column(other)
            if mine is None or theirs is None:
                continue  # a stream's timestamp
            if type_family(mine.type) != type_family(theirs.type):
                raise section.error(
                    "references",
                    f"{table.name}.{name} is {name_column_type(mine.type)} and references "
                    f"{target.name}.{other}, which is {name_column_type(theirs.type)}",
                    why="values of different types are never equal",
                    fix="declare both columns with one type",
                )
