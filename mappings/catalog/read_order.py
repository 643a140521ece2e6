"""Read `ordered`: the values of a column come in their order, but for a slack ([B] OA)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ontoweir.mappings.catalog.read_breach import read_floor, read_order_breach, read_rows
from ontoweir.mappings.catalog.read_rules import ROWS_KEY, check_columns
from ontoweir.mappings.model.catalog import ClosingRule, Column, DateType, IntType
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.parse_duration import UNITS_US, parse_duration
from ontoweir.mappings.model.read_table import TomlTable


def read_order(table: TomlTable, columns: Sequence[Column]) -> Iterator[ClosingRule]:
    """What a stream's `ordered` says, rule by rule.

    Args:
        table: the stream's.
        columns: its columns.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    for item in table.items("ordered"):
        if not isinstance(item, dict):
            raise table.wrong("ordered", "a list of tables { column, slack }")
        yield _read(TomlTable(item, (*table.path, "ordered"), table.lines), table, columns)


def _read(entry: TomlTable, table: TomlTable, columns: Sequence[Column]) -> ClosingRule:
    known = ("column", "slack", "rows", "adapt", "floor", ROWS_KEY, "on_violation")
    entry.refuse_unknown(known)
    entry.need("column", '"seq"')
    name = entry.text("column") or ""
    check_columns(entry, "column", [name], [c.name for c in columns], table.path[-1])
    kind = next(column.type for column in columns if column.name == name)
    if not isinstance(kind, IntType | DateType):
        raise entry.error(
            "column",
            f"{name!r} is {name_column_type(kind)}",
            why="how many values are open at once is counted, of whole numbers or days",
            fix="name a column of type int or date",
        )
    said = [key for key in ("slack", "rows") if key in entry.values]
    if len(said) != 1:
        raise entry.error(
            None if not said else said[-1],
            f"ordered by {name} has {' and '.join(said) or 'no slack'}",
            why="a value is at most slack less than the greatest before, or comes at most so many "
            "rows after a greater one",
            fix="write slack = 0, or rows = 500",
        )
    place, breach = table.lines.place(*table.path, "ordered"), read_order_breach(entry)
    most = entry.count(ROWS_KEY, least=1)
    if said == ["rows"]:
        rows = entry.count("rows", least=0) or 0
        floor = read_floor(entry, rows, partial(read_rows, entry))
        rule = ClosingRule((name,), late_rows=rows, source=place, breach=breach, floor=floor)
        return replace(rule, most_rows=most)
    read = partial(_read_slack, entry, is_date=isinstance(kind, DateType))
    slack = read("slack")
    floor = read_floor(entry, slack, partial(read, "floor"))
    rule = ClosingRule((name,), slack=slack, source=place, breach=breach, floor=floor)
    return replace(rule, most_rows=most)


def _read_slack(entry: TomlTable, key: str, *, is_date: bool) -> int:
    """A number of whole numbers, or of days."""
    if not is_date:
        slack = entry.count(key, least=0)
        assert slack is not None
        return slack
    day, text = UNITS_US["day"], entry.text(key) or ""
    length = parse_duration(text)
    if length is None or length < 0 or length % day:
        raise entry.error(
            key,
            f"{text!r} is not a whole number of days",
            why="values of the column are days",
            fix=f'write {key} = "1 day"',
        )
    return length // day
