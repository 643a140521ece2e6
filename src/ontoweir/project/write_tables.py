"""Tables of a catalog as sections of a project file, with all their declarations."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from ontoweir.mappings.model.catalog import Catalog, Column, Lag, Relation, Scalar, Stream
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.parse_duration import show_duration


def write_tables(catalog: Catalog, paths: dict[str, str]) -> str:
    """Sections of a project file for some tables, read from Parquet files.

    Args:
        catalog: what is declared.
        paths: the file of each table, relative to the project file.
    """
    lines: list[str] = []
    for name, path in paths.items():
        table = catalog.table(name)
        section = "streams" if isinstance(table, Stream) else "relations"
        lines += ["", f"[{section}.{quote(name)}]"]
        lines.append(f'source = {{ format = "parquet", path = {quote(path)} }}')
        lines += _of_time(table) if isinstance(table, Stream) else _of_size(table)
        if table.keys:
            lines.append(f"keys = [{', '.join(_list(key) for key in table.keys)}]")
        if table.references:
            entries = (
                f"{{ columns = {_list(r.columns)}, relation = {quote(r.relation)}, "
                f"to = {_list(r.to)} }}"
                for r in table.references
            )
            lines.append(f"references = [{', '.join(entries)}]")
        lines.append(f"[{section}.{quote(name)}.columns]")
        lines += [f"{quote(c.name)} = {_column(c)}" for c in table.columns]
    return "\n".join(lines) + "\n"


def list_related(catalog: Catalog, names: Iterable[str]) -> list[str]:
    """Tables with all that their declarations name: relations that they reference, streams that
    they lag behind."""
    related: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in related:
            continue
        related.add(name)
        table = catalog.table(name)
        waiting += [r.relation for r in table.references]
        if isinstance(table, Stream):
            waiting += [lag.behind for lag in table.lags]
    return sorted(related)


def _of_time(stream: Stream) -> list[str]:
    time = [f"column = {quote(stream.timestamp)}", f'unit = "{show_duration(stream.grid_us)}"']
    if stream.start_us is not None:
        start = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=stream.start_us)
        time.append(f"start = {quote(start.isoformat())}")
    if stream.align != "error":
        time.append(f"align = {quote(stream.align)}")
    if stream.lateness_us:
        time.append(f'lateness = "{show_duration(stream.lateness_us)}"')
    if stream.floor_us is not None:
        time += ["adapt = true", f'floor = "{show_duration(stream.floor_us)}"']
        if stream.window_us is not None:
            time.append(f'window = "{show_duration(stream.window_us)}"')
    lines = [f"timestamp = {{ {', '.join(time)} }}"]
    if stream.max_per_timestamp is not None:
        lines.append(f"max_per_timestamp = {stream.max_per_timestamp}")
    if stream.lags:
        entries = (
            f"{{ behind = {quote(lag.behind)}, columns = {_list(lag.columns)}, "
            f"to = {_list(lag.to)}, {_length(lag)} }}"
            for lag in stream.lags
        )
        lines.append(f"lags = [{', '.join(entries)}]")
    return lines


def _length(lag: Lag) -> str:
    said = f'within = "{show_duration(lag.within_us)}"'
    if lag.rows is not None and lag.every_us is not None:
        said = f'rows = {lag.rows}, every = "{show_duration(lag.every_us)}"'
    return said + ', matches = "one"' * lag.one


def _of_size(relation: Relation) -> list[str]:
    return [] if relation.max_rows is None else [f"max_rows = {relation.max_rows}"]


def _column(column: Column) -> str:
    limits = [
        f"{name} = {_scalar(value)}"
        for name, value in (("min", column.minimum), ("max", column.maximum))
        if value is not None
    ]
    if column.enum is not None:
        limits.append(f"enum = [{', '.join(map(_scalar, column.enum))}]")
    kind = quote(name_column_type(column.type))
    return kind if not limits else f"{{ type = {kind}, {', '.join(limits)} }}"


def _scalar(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Decimal):
        return f"{value:f}" if value % 1 else f"{value:.1f}"
    return repr(value)


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(quote, names))}]"


def quote(text: str) -> str:
    """A basic string of TOML."""
    return json.dumps(text, ensure_ascii=False)
