"""What a query computes of its groups' rows: expressions over aggregates in SELECT, and HAVING."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import BooleanType, Catalog, Column, DataSource, Relation
from ontoweir.mappings.model.expression import Expression, Field
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.mappings.sql_expressions.read_row_expression import (
    read_row_expression,
    refuse_expression,
)
from ontoweir.rewriter.groups.check_having import check_having
from ontoweir.rewriter.groups.type_group_row import type_group_row
from ontoweir.rewriter.model.spj import SpjUnion

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(slots=True)
class GroupTrees:
    """What is written of the rows of groups, over columns called like the group's variables and
    the aggregates; `computed`: by the names of result columns."""

    computed: "dict[str, exp.Expr]" = field(default_factory=dict)
    having: "exp.Expr | None" = None


def read_group_row(
    union: SpjUnion, catalog: Catalog, trees: GroupTrees, *, changing: bool = False
) -> SpjUnion:
    """The query with its HAVING, and with what is computed of its groups.

    Args:
        union: an aggregate query over tables; others stay as they are.
        catalog: with its buckets and derived columns.
        trees: what was written.
        changing: the groups are told as changes, whatever they are of.

    Raises:
        SqlRefusal: an expression is not read, or types do not go together.
        QueryError: a group may leave what HAVING lets through.
    """
    if union.aggregation is None or not (trees.computed or trees.having):
        return union
    file = union.source.file if union.source else ""
    made = _read(union, catalog, trees, file)
    if not changing:
        check_having(made, catalog)
    return made


def _read(union: SpjUnion, catalog: Catalog, trees: GroupTrees, file: str) -> SpjUnion:
    assert union.aggregation is not None
    fields = type_group_row(union, catalog, terms=False).values()
    columns = tuple(Column(f.column, f.type) for f in fields if isinstance(f, Field))
    row = Relation("groups", DataSource("none", None), columns)
    scope = Scope(catalog, {row.name: row})
    having: Expression | None = None
    source = None
    if trees.having is not None:
        having = read_row_expression(trees.having, scope)
        source = Source(file, line_of(trees.having) or 1)
        if not isinstance(having.type, BooleanType):
            raise refuse_expression(trees.having, why="HAVING is a condition")
    computed = tuple((n, read_row_expression(tree, scope)) for n, tree in trees.computed.items())
    made = replace(union.aggregation, computed=computed, having=having, having_source=source)
    return replace(union, aggregation=made)
