"""The time of a row in SQL, or one so long before or after it: `ts`, `ts - INTERVAL '1' HOUR`."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope

if TYPE_CHECKING:
    from sqlglot import exp


def read_sql_time(tree: "exp.Expr", scope: Scope) -> tuple[str, Stream, int] | None:
    """The alias and the stream whose timestamp it is, and how long it is before that, in µs (below
    0: after it). None: it is something else.

    Raises:
        SqlRefusal: a column is unknown or ambiguous.
    """
    from sqlglot import exp

    behind, inner = 0, tree.unnest()
    while isinstance(inner, (exp.Add, exp.Sub)) and isinstance(inner.expression, exp.Interval):
        duration = _read_duration(inner.expression)
        if duration is None:
            return None
        behind += duration if isinstance(inner, exp.Sub) else -duration
        inner = inner.this.unnest()
    if not isinstance(inner, exp.Column) or inner.is_star:
        return None
    column = scope.resolve(inner.table or None, inner.name, line_of(inner))
    table = scope.tables[column.alias]
    if isinstance(table, Stream) and table.timestamp == column.column:
        return column.alias, table, behind
    return None


def _read_duration(tree: "exp.Interval") -> int | None:
    unit = tree.args.get("unit")
    amount = tree.this.name if tree.this is not None else ""
    sign = -1 if amount.startswith("-") else 1
    duration = parse_duration(f"{amount.lstrip('+-').strip()} {unit.name if unit else ''}")
    return None if duration is None else sign * duration
