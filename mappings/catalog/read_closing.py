"""Read the rules that say when no further row with a value comes: `clustered` by gap or rows ([B]
CA), `ordered` ([B] OA), and `closed_by` (punctuations)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ontoweir.mappings.catalog.read_breach import BREACH_KEYS, read_breach, read_floor, read_rows
from ontoweir.mappings.catalog.read_order import read_order
from ontoweir.mappings.catalog.read_rules import (
    ROWS_KEY,
    check_columns,
    check_keys,
    check_repeated,
    read_clustered,
    read_span,
)
from ontoweir.mappings.model.catalog import BooleanType, ClosingRule, Column
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.read_table import TomlTable


def read_closing(
    table: TomlTable, columns: Sequence[Column], step_us: int
) -> tuple[ClosingRule, ...]:
    """What a stream's `clustered`, by gap or rows, `ordered` and `closed_by` say.

    Args:
        table: the stream's.
        columns: its columns.
        step_us: its unit of time.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    known = [column.name for column in columns]
    rules: list[ClosingRule] = []
    for item in table.items("clustered"):
        assert isinstance(item, dict)  # read_rules saw to it
        entry = TomlTable(item, (*table.path, "clustered"), table.lines)
        if "within" in entry.values:
            continue
        named, place = read_clustered(entry, known), table.lines.place(*table.path, "clustered")
        breach = read_breach(entry, [c for c in columns if c.name in named], step_us)
        most = entry.count(ROWS_KEY, least=1)
        if "gap" in entry.values:
            gap = read_span(entry, "gap", step_us)
            floor = read_floor(entry, gap, partial(read_span, entry, "floor", step_us))
            rule = ClosingRule(named, gap_us=gap, source=place, breach=breach, floor=floor)
        else:
            rows = entry.count("rows", least=0) or 0
            floor = read_floor(entry, rows, partial(read_rows, entry))
            rule = ClosingRule(named, rows=rows, source=place, breach=breach, floor=floor)
        rules.append(replace(rule, most_rows=most))
    one = table.values.get("closed_by")
    ends = [one] if isinstance(one, dict) else table.items("closed_by")
    rules += read_order(table, columns)
    rules += (_read_end(table, item, columns, step_us) for item in ends)
    for rule in rules:
        if not rule.is_order:  # values that come once have an order, too
            check_keys(table, "closed_by" if rule.ends else "clustered", rule.columns)
    return tuple(rules)


def _read_end(
    table: TomlTable, item: object, columns: Sequence[Column], step_us: int
) -> ClosingRule:
    """A row that says that it is the last one of its value."""
    if not isinstance(item, dict):
        raise table.wrong("closed_by", "a list of tables { columns, column, max_open }")
    entry = TomlTable(item, (*table.path, "closed_by"), table.lines)
    entry.refuse_unknown(("columns", "column", "max_open", ROWS_KEY, *BREACH_KEYS))
    entry.need("columns", '["order"]')
    entry.need("column", '"is_last"')
    entry.need("max_open", "10000, the most values that are not closed at one time")
    named, name = entry.texts("columns"), entry.text("column") or ""
    known = [column.name for column in columns]
    check_columns(entry, "columns", named, known, table.path[-1])
    check_columns(entry, "column", [name], known, table.path[-1])
    if not named or name in named:
        raise entry.error(
            "columns",
            "closed_by names no columns" if not named else f"closed_by {name!r} closes itself",
            why="a row in which one column is true is the last with its values of others",
            fix='write columns = ["order"]',
        )
    check_repeated(entry, named)
    kind = next(column.type for column in columns if column.name == name)
    if not isinstance(kind, BooleanType):
        raise entry.error(
            "column",
            f"{name!r} is {name_column_type(kind)}",
            why="a row says that it is the last one by a column that is true",
            fix="name a boolean column, or declare it as one",
        )
    place = table.lines.place(*table.path, "closed_by")
    most = entry.count("max_open", least=1)
    breach = read_breach(entry, [c for c in columns if c.name in named], step_us)
    rule = ClosingRule(named, ends=name, most_open=most, source=place, breach=breach)
    return replace(rule, most_rows=entry.count(ROWS_KEY, least=1))
