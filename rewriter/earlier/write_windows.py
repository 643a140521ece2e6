"""Rows with what the rows before them say, as SQL."""

from textwrap import indent

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.preceding import Counted, OrderBy, Preceding
from ontoweir.rewriter.buckets.print_bucket import print_bucket
from ontoweir.rewriter.model.spj import Block

_CALLS = {
    "first": "FIRST_VALUE({})",
    "known": "LAST_VALUE({} IGNORE NULLS)",
    "count": "COUNT({})",
    "sum": "SUM({})",
    "avg": "AVG({})",
    "min": "MIN({})",
    "max": "MAX({})",
    "var_pop": "VAR_POP({})",
    "var_samp": "VAR_SAMP({})",
    "rank": "RANK()",
    "dense": "DENSE_RANK()",
    "number": "ROW_NUMBER()",
    "percent": "PERCENT_RANK()",
    "share": "CUME_DIST()",
    "part": "NTILE({})",
}


def print_preceding(block: Block, preceding: Preceding, *, dialect: str) -> str:
    """A block of such rows, as a query that WITH names.

    Args:
        block: of these rows.
        preceding: what they are.
        dialect: a dialect of sqlglot.
    """
    from sqlglot import exp, parse_one

    shown = [f"{_write(c, preceding)} AS {_named(c.name)}" for c in preceding.columns]
    if preceding.after:
        over = _window(preceding, "")
        later = f"LEAD({_named(preceding.time)}, {preceding.after}) OVER ({over})"
        shown.append(f"{later} AS {_named(block.stream.timestamp)}")
    text = f"SELECT *, {', '.join(shown)} FROM {_named(preceding.base)}"
    if preceding.only is not None:
        text += f" WHERE {write_expression(preceding.only)}"
    if preceding.after:
        text = f"SELECT * FROM ({text}) AS later WHERE {_named(block.stream.timestamp)} IS NOT NULL"
    body = parse_one(text, dialect="duckdb").sql(dialect=dialect, pretty=True)
    name = exp.to_identifier(block.stream.name, quoted=True).sql(dialect=dialect)
    return f"{name} AS (\n{indent(body, '  ')}\n)"


def _write(counted: Counted, preceding: Preceding) -> str:
    if counted.order:
        order = ", ".join(map(_write_order, counted.order))
        by = ", ".join(map(_named, (*preceding.key, preceding.time)))
        argument = str(counted.parts)
        if counted.argument is not None:
            argument = write_expression(counted.argument)
        call = _CALLS[counted.function].format(argument)
        return f"{call} OVER (PARTITION BY {by} ORDER BY {order})"
    argument = "*" if counted.argument is None else write_expression(counted.argument)
    first = "UNBOUNDED PRECEDING" if counted.first is None else _bound(counted.first)
    if counted.span_us is not None:
        first = f"INTERVAL '{counted.span_us}' MICROSECOND PRECEDING"
    kind = "RANGE" if counted.peers else "ROWS"
    last = _bound(counted.last)
    if counted.until_us and counted.span_us is not None:
        last = f"INTERVAL '{counted.until_us}' MICROSECOND PRECEDING"
    elif counted.until_us:
        last += " EXCLUDE GROUP"
    frame = f" {kind} BETWEEN {first} AND {last}"
    call = _CALLS[counted.function].format(argument)
    return f"{call} OVER ({_window(preceding, frame)})"


def _window(preceding: Preceding, frame: str) -> str:
    from sqlglot import exp

    parts = [_named(k) for k in preceding.key]
    time = exp.column(preceding.time, quoted=True)
    parts += [print_bucket(b, time, "duckdb").sql(dialect="duckdb") for b in preceding.within]
    parts += map(write_expression, preceding.run)
    by = f"PARTITION BY {', '.join(parts)} " if parts else ""
    ties = "".join(f", {_write_order(key)}" for key in preceding.ties)
    return f"{by}ORDER BY {_named(preceding.time)}{ties}{frame}"


def _write_order(key: OrderBy) -> str:
    side, nulls = "DESC" if key.down else "ASC", "FIRST" if key.nulls_first else "LAST"
    return f"{write_expression(key.by)} {side} NULLS {nulls}"


def _named(name: str) -> str:
    from sqlglot import exp

    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


def _bound(rows: int) -> str:
    if not rows:
        return "CURRENT ROW"
    return f"{abs(rows)} {'PRECEDING' if rows > 0 else 'FOLLOWING'}"
