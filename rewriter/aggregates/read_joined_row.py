"""Read what a SELECT computes of joined rows, which of them it wants, and how it groups them."""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import BooleanType, Catalog, ColumnType
from ontoweir.mappings.model.expression import Expression, Field
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.mappings.sql_expressions.read_row_expression import (
    read_row_expression,
    refuse_expression,
)
from ontoweir.rewriter.aggregates.read_group_row import read_group_row
from ontoweir.rewriter.aggregates.read_sql_aggregation import read_sql_aggregation
from ontoweir.rewriter.aggregates.row_union import ROW, row_table, row_union
from ontoweir.rewriter.groups.expand_covariances import expand_covariances
from ontoweir.rewriter.groups.expand_variances import expand_variances
from ontoweir.rewriter.groups.read_sql_aggregate import name_aggregates
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import JoinedRow
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.phrasings.name_conditions import name_conditions
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates

if TYPE_CHECKING:
    from sqlglot import exp


def read_joined_row(
    tree: "exp.Select", columns: Sequence[tuple[str, ColumnType]], catalog: Catalog, file: str
) -> JoinedRow[SpjUnion]:
    """What is made of joined rows.

    Args:
        tree: SELECT … FROM ROW WHERE … GROUP BY … HAVING …: each item has a name, which no column
            has.
        columns: of the rows.
        catalog: of the query.
        file: where it is written.

    Raises:
        SqlRefusal: an expression is not read, or types do not go together.
        QueryError: a value cannot be aggregated.
    """
    scope = Scope(catalog, {ROW: row_table(columns)})
    where = tree.args.get("where")
    having = source = None
    if where is not None:
        having = read_joined_condition(where.this, columns, catalog)
        source = Source(file, line_of(where.this) or 1)
    read = tuple(name for name, _ in columns)
    if not aggregates(tree):
        computed = [(e.alias, read_row_expression(e.unalias(), scope)) for e in tree.expressions]
        return JoinedRow(_shape(read, computed, having, source), _typed(computed))
    return _read_groups(tree, columns, catalog, (having, source), file)


def read_joined_condition(
    tree: "exp.Expr", columns: Sequence[tuple[str, ColumnType]], catalog: Catalog
) -> Expression:
    """A condition over joined rows.

    Args:
        tree: the condition.
        columns: of the rows.
        catalog: of the query.

    Raises:
        SqlRefusal: it is not read, is none, or types do not go together.
    """
    made = read_row_expression(tree, Scope(catalog, {ROW: row_table(columns)}))
    if not isinstance(made.type, BooleanType):
        raise refuse_expression(tree, why="WHERE and ON have conditions")
    return made


def _shape(
    read: tuple[str, ...],
    computed: Sequence[tuple[str, Expression]],
    having: Expression | None,
    source: Source | None,
) -> Aggregation:
    names = tuple(name for name, _ in computed)
    return Aggregation(read, (), names, tuple(computed), having, source)


def _typed(computed: Sequence[tuple[str, Expression]]) -> tuple[tuple[str, ColumnType], ...]:
    return tuple((name, made.type) for name, made in computed)


def _read_groups(
    tree: "exp.Select",
    columns: Sequence[tuple[str, ColumnType]],
    catalog: Catalog,
    said: tuple[Expression | None, Source | None],
    file: str,
) -> JoinedRow[SpjUnion]:
    from sqlglot import exp

    made = tree.copy()
    name_conditions(made)
    made = name_aggregates(made)
    made.set("where", None)
    plain = row_union(columns, None, catalog)[1]
    spread = expand_covariances(expand_variances(made, plain), plain)
    assert isinstance(spread, exp.Select)
    made = spread
    table = row_table(columns)
    scope = Scope(catalog, {ROW: table})
    taken = [name for name, _ in columns]
    named = {e.alias.lower() for e in made.expressions}
    names = (f"value {n}" for n in count(1) if f"value {n}" not in {*taken, *named})
    values = {
        value: (next(names), read_row_expression(value, scope))
        for value in dict.fromkeys([*_list_grouped(made, scope), *_list_arguments(made)])
        if not isinstance(value, exp.Column)
    }
    for node in [n for n in made.walk() if n in values]:
        if node.parent is not None:
            node.replace(exp.column(values[node][0], quoted=True))
    fields: dict[str, Expression] = {c.name: Field(c.name, c.type) for c in table.columns}
    fields |= dict(values.values())
    wide = [(name, field.type) for name, field in fields.items()]
    known = row_union(wide, None, catalog)[1]
    matches, aggregation, trees = read_sql_aggregation(made, known, file)
    assert aggregation is not None
    computed = [
        (e.alias, fields[e.unalias().name])
        for e in matches.expressions
        if isinstance(e.unalias(), exp.Column)
    ]
    typed = _typed(computed)
    union, known = row_union(typed, aggregation, catalog, Source(file, line_of(tree) or 1))
    check_aggregates(union, known)
    groups = read_group_row(union, known, trees, changing=True).aggregation
    shape = _shape(tuple(name for name, _ in columns), computed, *said)
    return JoinedRow(shape, typed, groups)


def _list_grouped(tree: "exp.Select", scope: Scope) -> "list[exp.Expr]":
    """What is grouped by; positions, and names that SELECT gives, are what they mean: in place."""
    group = tree.args.get("group")
    for item in [] if group is None else list(group.expressions):
        item.replace(mean_group(item, tree, scope).copy())
    return [] if group is None else [item.copy() for item in group.expressions]


def _list_arguments(tree: "exp.Select") -> "list[exp.Expr]":
    """What aggregates are of."""
    from sqlglot import exp

    made: list[exp.Expr] = []
    for call in tree.find_all(exp.AggFunc):
        argument = call.this
        inner = argument.expressions if isinstance(argument, exp.Distinct) else [argument]
        made += [i for i in inner if isinstance(i, exp.Expr) and not isinstance(i, exp.Star)]
    return [m.copy() for m in made if not isinstance(m, exp.Literal)]
