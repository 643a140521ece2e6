"""Rows with what the rows before them say, as SQL."""

from textwrap import indent

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import Counted, Preceding
from ontoweir.rewriter.model.spj import Block

_CALLS = {
    "first": "FIRST_VALUE({})",
    "known": "LAST_VALUE({} IGNORE NULLS)",
    "count": "COUNT({})",
    "sum": "SUM({})",
    "avg": "AVG({})",
    "min": "MIN({})",
    "max": "MAX({})",
}


def print_preceding(block: Block, preceding: Preceding, *, dialect: str) -> str:
    """A block of such rows, as a query that WITH names.

    Args:
        block: of these rows.
        preceding: what they are.
        dialect: a dialect of sqlglot.
    """
    from sqlglot import exp, parse_one

    def named(name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")

    shown = [f"{_write(c, preceding)} AS {named(c.name)}" for c in preceding.columns]
    if preceding.after:
        over = _window(preceding, "")
        later = f"LEAD({named(preceding.time)}, {preceding.after}) OVER ({over})"
        shown.append(f"{later} AS {named(block.stream.timestamp)}")
    text = f"SELECT *, {', '.join(shown)} FROM {named(preceding.base)}"
    if preceding.only is not None:
        text += f" WHERE {write_expression(preceding.only)}"
    if preceding.after:
        text = f"SELECT * FROM ({text}) AS later WHERE {named(block.stream.timestamp)} IS NOT NULL"
    body = parse_one(text, dialect="duckdb").sql(dialect=dialect, pretty=True)
    name = exp.to_identifier(block.stream.name, quoted=True).sql(dialect=dialect)
    return f"{name} AS (\n{indent(body, '  ')}\n)"


def _write(counted: Counted, preceding: Preceding) -> str:
    argument = "*" if counted.argument is None else write_expression(counted.argument)
    first = "UNBOUNDED PRECEDING" if counted.first is None else _bound(counted.first)
    if counted.span_us is not None:
        first = f"INTERVAL '{counted.span_us}' MICROSECOND PRECEDING"
    kind = "RANGE" if counted.peers else "ROWS"
    frame = f" {kind} BETWEEN {first} AND {_bound(counted.last)}"
    call = _CALLS[counted.function].format(argument)
    return f"{call} OVER ({_window(preceding, frame)})"


def _window(preceding: Preceding, frame: str) -> str:
    from sqlglot import exp

    def named(name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")

    by = f"PARTITION BY {', '.join(map(named, preceding.key))} " if preceding.key else ""
    return f"{by}ORDER BY {named(preceding.time)}{frame}"


def _bound(rows: int) -> str:
    if not rows:
        return "CURRENT ROW"
    return f"{abs(rows)} {'PRECEDING' if rows > 0 else 'FOLLOWING'}"
