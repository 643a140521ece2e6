"""Read GROUP BY and aggregates of plain SQL: `check --sql`."""

from typing import TYPE_CHECKING

from ontoweir.errors import Source
from ontoweir.mappings.read_condition import line_of
from ontoweir.mappings.read_scope import SqlRefusal
from ontoweir.rewriter.aggregation import Aggregate, AggregateFunction, Aggregation

if TYPE_CHECKING:
    from sqlglot import exp

_WHY = (
    "an aggregate query is SELECT columns, COUNT, SUM, AVG, MIN, MAX, COUNT(DISTINCT …) or MEDIAN "
    "of columns … GROUP BY those columns"
)


def read_sql_aggregation(tree: "exp.Query", file: str) -> "tuple[exp.Query, Aggregation | None]":
    """The characteristic query of an aggregate query ([A] Th. 8.4), and what is aggregated.

    Rows where an aggregated column is NULL are no matches. Any other query comes back as it is.

    Raises:
        SqlRefusal: it groups or computes something that is not a column.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not (
        tree.args.get("group") or any(e.find(exp.AggFunc) for e in tree.expressions)
    ):
        return tree, None
    if tree.args.get("having"):
        raise _beyond(tree, "HAVING", "select the aggregate, and compare it in the results")
    if tree.args.get("distinct"):
        raise _beyond(tree, "DISTINCT with aggregates", "leave DISTINCT out: groups are distinct")
    grouped = _grouped(tree)
    names: dict[str, str] = {}
    arguments: dict[str, str] = {}
    aggregates: list[Aggregate] = []
    columns: list[str] = []
    counted: list[exp.Column] = []
    for item in tree.expressions:
        inner, name = item.unalias(), item.alias_or_name or item.sql("spark")
        if name in columns:
            raise _beyond(item, f"two columns called {name}", "name them apart with AS")
        columns.append(name)
        if isinstance(inner, exp.Column):
            if inner.sql() not in grouped:
                raise _beyond(
                    item, f"{inner.sql()} neither grouped nor aggregated", "add it to GROUP BY"
                )
            names[inner.sql()] = name
            continue
        function, column = _read_call(inner)
        argument = None
        if function is AggregateFunction.COUNT:
            counted += [column] if column is not None else []
        elif column is not None:
            text = column.sql()
            argument = names.get(text) or arguments.setdefault(text, f"of_{len(arguments) + 1}")
        aggregates.append(Aggregate(name, function, argument, Source(file, line_of(tree) or 1)))
    for text in grouped:
        if text not in names:
            raise _beyond(tree, f"GROUP BY {text} that is not selected", f"select {text} too")
    if not aggregates:
        raise _beyond(tree, "GROUP BY without an aggregate", "write SELECT DISTINCT instead")
    made = Aggregation(tuple(names[t] for t in grouped), tuple(aggregates), tuple(columns))
    return _characteristic(tree, {**names, **arguments}, counted, made), made


def _grouped(tree: "exp.Select") -> list[str]:
    """The grouped columns, as they are written."""
    from sqlglot import exp

    group = tree.args.get("group")
    if group is None:
        return []
    for key in ("grouping_sets", "cube", "rollup", "totals", "all"):
        if group.args.get(key):
            raise _beyond(tree, "GROUP BY of several groupings", "write one query for each")
    for item in group.expressions:
        if not isinstance(item, exp.Column):
            raise _beyond(item, "GROUP BY an expression", "group by a column")
    return [item.sql() for item in group.expressions]


def _read_call(inner: "exp.Expr") -> "tuple[AggregateFunction, exp.Column | None]":
    from sqlglot import exp

    kinds: dict[type, AggregateFunction] = {
        exp.Sum: AggregateFunction.SUM,
        exp.Avg: AggregateFunction.AVG,
        exp.Min: AggregateFunction.MIN,
        exp.Max: AggregateFunction.MAX,
        exp.Median: AggregateFunction.MEDIAN,
        exp.Count: AggregateFunction.COUNT,
    }
    function = kinds.get(type(inner))
    if function is None:
        raise _beyond(inner, f"{inner.sql('spark')} in SELECT", "aggregate columns themselves")
    argument = inner.this
    if isinstance(argument, exp.Distinct):
        argument = argument.expressions[0] if len(argument.expressions) == 1 else argument
        if function is AggregateFunction.COUNT:
            function = AggregateFunction.COUNT_DISTINCT
        elif function not in (AggregateFunction.MIN, AggregateFunction.MAX):
            raise _beyond(inner, inner.sql("spark"), "leave DISTINCT out, or COUNT(DISTINCT …)")
    if function is AggregateFunction.COUNT and isinstance(argument, (exp.Star, exp.Literal)):
        return function, None
    if not isinstance(argument, exp.Column) or inner.args.get("expressions"):
        raise _beyond(inner, inner.sql("spark"), "aggregate one column itself")
    return function, argument


def _characteristic(
    tree: "exp.Select",
    names: dict[str, str],
    counted: "list[exp.Column]",
    aggregation: Aggregation,
) -> "exp.Select":
    """The query of the matches: the grouped columns, then the aggregated ones."""
    from sqlglot import exp

    found = {c.sql(): c for e in tree.expressions for c in e.find_all(exp.Column)}
    order = {name: text for text, name in names.items()}
    made = tree.copy()
    made.set("group", None)
    selected = [exp.alias_(found[order[v]].copy(), v, quoted=True) for v in aggregation.variables]
    made.set("expressions", selected or [exp.alias_(exp.Literal.number(1), "matched")])
    for column in counted:
        made = made.where(exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())))
    if not aggregation.duplicate_sensitive:
        made = made.distinct()
    return made


def _beyond(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(f"{what} is outside the SQL read here", why=_WHY, fix=fix, line=line_of(tree))
