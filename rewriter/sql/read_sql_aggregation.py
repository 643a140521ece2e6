"""Read GROUP BY and aggregates of plain SQL: `check --sql`."""

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, cast

from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation

if TYPE_CHECKING:
    from sqlglot import exp

_WHY = (
    "an aggregate query is SELECT columns, COUNT, SUM, AVG, MIN, MAX, COUNT(DISTINCT …) or MEDIAN "
    "of columns … GROUP BY those columns"
)


def read_sql_aggregation(
    tree: "exp.Query", catalog: Catalog, file: str
) -> "tuple[exp.Query, Aggregation | None]":
    """The characteristic query of an aggregate query ([A] Th. 8.4), and what is aggregated.

    A column that is grouped or aggregated may be NULL in a match. Any other query comes back as
    it is.
    As in Spark, GROUP BY takes columns, names that SELECT gives to columns, and positions there.

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
    scope, _, _ = read_from(tree, catalog)
    grouped = _grouped(tree, scope)
    names: dict[SourceColumn, str] = {}
    arguments: dict[SourceColumn, str] = {}
    taken = {e.alias_or_name.lower() for e in tree.expressions}
    free = (f"of_{n}" for n in count(1) if f"of_{n}" not in taken)
    aggregates: list[Aggregate] = []
    grouped_arguments: list[tuple[int, SourceColumn]] = []
    columns: list[str] = []
    for item in tree.expressions:
        inner, name = item.unalias(), item.alias_or_name or item.sql("spark")
        if name.lower() in map(str.lower, columns):
            raise _beyond(item, f"two columns called {name}", "name them apart with AS")
        columns.append(name)
        if isinstance(inner, exp.Column) and not inner.is_star:
            key = _resolve(inner, scope)
            if key not in grouped:
                raise _beyond(
                    item, f"{inner.sql()} neither grouped nor aggregated", "add it to GROUP BY"
                )
            if key in names:
                raise _beyond(item, f"{inner.sql()} selected twice", "select it once")
            names[key] = name
            continue
        function, column = _read_call(inner)
        argument = None
        of = None if column is None else _resolve(column, scope)
        if of is not None and not _is_counted_time(function, of, scope):
            if of in grouped:
                grouped_arguments.append((len(aggregates), of))
            elif of not in arguments:
                arguments[of] = next(free)
            argument = arguments.get(of)
        aggregates.append(Aggregate(name, function, argument, Source(file, line_of(tree) or 1)))
    for key, text in grouped.items():
        if key not in names:
            raise SqlRefusal(
                f"GROUP BY {text} that is not selected is outside the SQL read here",
                why="results are updates of groups, which the grouped columns tell apart",
                fix=f"select {text} too",
                line=line_of(tree),
            )
    for position, key in grouped_arguments:
        aggregates[position] = replace(aggregates[position], argument=names[key])
    if not aggregates:
        raise _beyond(tree, "GROUP BY without an aggregate", "write SELECT DISTINCT instead")
    made = Aggregation(tuple(names[key] for key in grouped), tuple(aggregates), tuple(columns))
    return _characteristic(tree, {**names, **arguments}, made), made


def _is_counted_time(function: AggregateFunction, column: SourceColumn, scope: Scope) -> bool:
    """Whether it is COUNT of a stream's timestamp, which is never NULL: all matches count."""
    return function is AggregateFunction.COUNT and scope.step_of(column) is not None


def _resolve(column: "exp.Column", scope: Scope) -> SourceColumn:
    return scope.resolve(column.table or None, column.name, line_of(column))


def _grouped(tree: "exp.Select", scope: Scope) -> dict[SourceColumn, str]:
    """The grouped columns, and how they are written."""
    from sqlglot import exp

    group = tree.args.get("group")
    if group is None:
        return {}
    for key in ("grouping_sets", "cube", "rollup", "totals", "all"):
        if group.args.get(key):
            raise _beyond(tree, "GROUP BY of several groupings", "write one query for each")
    grouped: dict[SourceColumn, str] = {}
    for item in group.expressions:
        column = _meant(item, tree, scope)
        if not isinstance(column, exp.Column) or column.is_star:
            raise _beyond(item, "GROUP BY an expression", "group by a column")
        grouped[_resolve(column, scope)] = column.sql("spark")
    return grouped


def _meant(item: "exp.Expr", tree: "exp.Select", scope: Scope) -> "exp.Expr":
    """What a position in SELECT, or a name that SELECT gives and no table has, stands for."""
    from sqlglot import exp

    if isinstance(item, exp.Literal) and not item.is_string and str(item.this).isdigit():
        position = int(str(item.this))
        if not 1 <= position <= len(tree.expressions):
            raise _beyond(tree, f"GROUP BY position {position}", "group by a column's name")
        return cast("exp.Expr", tree.expressions[position - 1].unalias())
    if isinstance(item, exp.Column) and not item.table:
        known = any(find_name(item.name, column_names(t)) for t in scope.tables.values())
        given = [e for e in tree.expressions if e.alias.lower() == item.name.lower()]
        if not known and len(given) == 1:
            return cast("exp.Expr", given[0].unalias())
    return item


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
    names: dict[SourceColumn, str],
    aggregation: Aggregation,
) -> "exp.Select":
    """The query of the matches: the grouped columns, then the aggregated ones."""
    from sqlglot import exp

    order = {name: exp.column(key.column, key.alias, quoted=True) for key, name in names.items()}
    made = tree.copy()
    made.set("group", None)
    selected = [exp.alias_(order[v], v, quoted=True) for v in aggregation.variables]
    made.set("expressions", selected or [exp.alias_(exp.Literal.number(1), "matched")])
    if not aggregation.duplicate_sensitive:
        made = made.distinct()
    return made


def _beyond(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(f"{what} is outside the SQL read here", why=_WHY, fix=fix, line=line_of(tree))
