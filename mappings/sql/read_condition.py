"""Reads SQL predicates into conjunctions of comparisons; OR becomes alternatives, and constants of
one column a list."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, cast

from ontoweir.mappings.model.assertion import (
    CompareOp,
    SourceColumn,
    SourceCompare,
    SourceConstant,
    SourceNotNull,
    SourceOneOf,
    condition_columns,
)
from ontoweir.mappings.model.catalog import BooleanType, Scalar
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.sql.read_comparison import (
    Alternatives,
    Conjunction,
    read_comparison,
    resolve_column,
)
from ontoweir.mappings.sql.read_literal import line_of, refuse_condition
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

_NEGATE: dict[CompareOp, CompareOp] = {
    "<": ">=",
    "<=": ">",
    "=": "<>",
    ">=": "<",
    ">": "<=",
    "<>": "=",
}
MAX_ALTERNATIVES = 4096
"""The most parts that OR, IN and NOT may split one SELECT into, each listed constant one."""


def conjoin(left: Alternatives, right: Alternatives) -> Alternatives:
    """Both: every pair of alternatives.

    Raises:
        SqlRefusal: there are more than MAX_ALTERNATIVES.
    """
    if _count(left) * _count(right) > MAX_ALTERNATIVES:
        raise SqlRefusal(
            f"WHERE has more than {MAX_ALTERNATIVES:,} alternatives",
            why="every combination of the sides of OR and the members of IN is a query of its own",
            fix="write fewer OR and IN, or several queries",
        )
    return tuple((*a, *b) for a in left for b in right)


def _count(alternatives: Alternatives) -> int:
    """How many rows of constants the alternatives list."""
    return sum(
        prod(len(c.values) for c in conjunction if isinstance(c, SourceOneOf))
        for conjunction in alternatives
    )


def read_condition(
    tree: "exp.Expr", scope: Scope, *, bag: bool, negated: bool = False
) -> Alternatives:
    """The predicate (or its negation) in disjunctive normal form.

    With `bag` the alternatives exclude each other, so that no row counts twice: A OR B becomes
    A, and B AND NOT A, which is right in SQL's three-valued logic only where B cannot hold while
    A is unknown, i.e. where all columns of A also occur in B or are known not to be NULL.

    Raises:
        SqlRefusal: beyond comparisons of columns, constants and column + constant.
    """
    from sqlglot import exp

    if isinstance(tree, exp.Paren):
        return read_condition(tree.this, scope, bag=bag, negated=negated)
    if isinstance(tree, exp.Not):
        return read_condition(tree.this, scope, bag=bag, negated=not negated)
    if isinstance(tree, (exp.And, exp.Or)):
        both = isinstance(tree, exp.And) != negated
        sides = (tree.this, tree.expression)
        if both:
            left, right = (read_condition(s, scope, bag=bag, negated=negated) for s in sides)
            return conjoin(left, right)
        return _either([(s, negated) for s in sides], scope, bag=bag)
    if isinstance(tree, exp.Boolean):
        return ((),) if bool(tree.this) != negated else ()
    if isinstance(tree, exp.Column):
        return _truth(tree, scope, true=not negated)
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Boolean):
        if negated:
            raise refuse_condition(
                tree, f"NOT {show_sql(tree)}", "it also holds of NULL; write = TRUE"
            )
        return _truth(tree.this, scope, true=bool(tree.expression.this))
    if isinstance(tree, exp.Between):
        if tree.args.get("symmetric") is not None:
            raise refuse_condition(
                tree, "BETWEEN SYMMETRIC", "write BETWEEN with the smaller value first"
            )
        low = exp.GTE(this=tree.this, expression=tree.args["low"])
        high = exp.LTE(this=tree.this, expression=tree.args["high"])
        if "line" in tree.meta:
            low.meta["line"] = high.meta["line"] = tree.meta["line"]
        both_sides = exp.And(this=low, expression=high)
        return read_condition(both_sides, scope, bag=bag, negated=negated)
    if isinstance(tree, exp.In):
        if tree.args.get("query") is not None or not tree.expressions:
            raise refuse_condition(tree, "IN (subquery)")
        equal = [exp.EQ(this=tree.this, expression=e) for e in dict.fromkeys(tree.expressions)]
        return _read_in(equal, scope, bag=bag, negated=negated)
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
        if not negated:
            raise refuse_condition(tree, "IS NULL")
        return ((SourceNotNull(resolve_column(tree.this, scope)),),)
    ops: dict[type[exp.Expr], CompareOp] = {
        exp.LT: "<",
        exp.LTE: "<=",
        exp.EQ: "=",
        exp.GTE: ">=",
        exp.GT: ">",
        exp.NEQ: "<>",
    }
    op = ops.get(type(tree))
    if op is None:
        raise refuse_condition(tree, show_sql(tree))
    return read_comparison(cast("exp.Binary", tree), _NEGATE[op] if negated else op, scope)


def _truth(tree: "exp.Expr", scope: Scope, *, true: bool) -> Alternatives:
    """A column of truth values as a condition."""
    column = resolve_column(tree, scope)
    kind = scope.type_of(column)
    if scope.step_of(column) is not None or not isinstance(kind, BooleanType):
        raise refuse_condition(
            tree,
            f"{show_sql(tree)}, which is {name_column_type(kind)},",
            "compare it with something, or declare the column as boolean",
        )
    return ((SourceCompare(column, "=", SourceConstant(true)),),)


def _read_in(equal: "list[exp.EQ]", scope: Scope, *, bag: bool, negated: bool) -> Alternatives:
    """The disjunction of the equalities (negated: none holds)."""
    from sqlglot import exp

    alternatives: Alternatives = ((),)
    if negated:
        for e in equal:
            alternatives = conjoin(alternatives, read_condition(e, scope, bag=bag, negated=True))
        return alternatives
    alternatives = tuple(dict.fromkeys(c for e in equal for c in read_condition(e, scope, bag=bag)))
    listed = _list_constants(alternatives, scope)
    if listed is not None or not bag:
        return alternatives if listed is None else listed
    columns = {_compared_column(c) for c in alternatives}
    if len(columns) <= 1 and None not in columns:
        return alternatives  # a timestamp equals one constant at most
    either: exp.Expr = equal[0]
    for e in equal[1:]:
        either = exp.Or(this=either, expression=e)
    return read_condition(either, scope, bag=True)


def _compared_column(conjunction: Conjunction) -> SourceColumn | None:
    """The column, where the conjunction says only that it equals a constant."""
    match conjunction:
        case (SourceCompare(left=column, op="=", right=SourceConstant()),):
            return column
        case _:
            return None


def _list_constants(alternatives: Alternatives, scope: Scope) -> Alternatives | None:
    """The alternatives as one, where all equate one column, not a timestamp, with constants."""
    columns: set[SourceColumn] = set()
    values: dict[Scalar, None] = {}
    for conjunction in alternatives:
        match conjunction:
            case (SourceCompare(left=column, op="=", right=SourceConstant(value=value)),):
                columns.add(column)
                values[value] = None
            case (SourceOneOf(column=column, values=several),):
                columns.add(column)
                values |= dict.fromkeys(several)
            case _:
                return None
    if len(columns) != 1 or scope.step_of(column := columns.pop()) is not None:
        return None
    if len(values) > 1:
        return ((SourceOneOf(column, tuple(values)),),)
    return ((SourceCompare(column, "=", SourceConstant(next(iter(values)))),),)


def _list_known(scope: Scope) -> frozenset[SourceColumn]:
    """The columns that are not NULL in any row. Few conditions ask for them."""
    conjuncts, scope.conjuncts = scope.conjuncts, ()
    scope.known |= _find_known(conjuncts, scope)
    return scope.known


def _find_known(predicates: "Sequence[exp.Expr]", scope: Scope) -> frozenset[SourceColumn]:
    """The columns that conjuncts compare or say not to be NULL: so they are not, in any row."""
    from sqlglot import exp

    known: set[SourceColumn] = set()
    for predicate in predicates:
        for conjunct in predicate.flatten() if isinstance(predicate, exp.And) else [predicate]:
            inner = conjunct.unnest()
            if isinstance(inner, exp.And):
                known |= _find_known([inner], scope)
            else:
                alternatives = read_condition(inner, scope, bag=False)
                columns = [{c for k in a for c in condition_columns(k)} for a in alternatives]
                known.update(set.intersection(*columns) if columns else ())
    return frozenset(known)


def _either(sides: list[tuple["exp.Expr", bool]], scope: Scope, *, bag: bool) -> Alternatives:
    read = [read_condition(s, scope, bag=bag, negated=n) for s, n in sides]
    listed = _list_constants((*read[0], *read[1]), scope)
    if listed is not None:
        return listed
    if not bag:
        return (*read[0], *read[1])
    columns = [{c for alt in a for k in alt for c in condition_columns(k)} for a in read]
    # Which side is negated: its columns must all occur in every alternative of the other.
    for first, second in ((0, 1), (1, 0)):
        doubtful = columns[first] - _list_known(scope)
        if all(doubtful <= {c for k in alt for c in condition_columns(k)} for alt in read[second]):
            tree, negated = sides[first]
            rest = read_condition(_as_equality(tree), scope, bag=True, negated=not negated)
            return (*read[first], *conjoin(read[second], rest))
    raise SqlRefusal(
        "OR over different columns in a query with duplicates",
        why="its parts overlap, and a row must not count twice",
        fix="write a UNION ALL of parts that exclude each other, AND … IS NOT NULL for the "
        "columns of one side, or COALESCE(…, FALSE) around it; a query may be SELECT DISTINCT",
        line=line_of(sides[0][0]),
    )


def _as_equality(tree: "exp.Expr") -> "exp.Expr":
    """IS TRUE and IS FALSE as comparisons, which they are where nothing is NULL."""
    from sqlglot import exp

    return tree.transform(
        lambda n: (
            exp.EQ(this=n.this, expression=n.expression)
            if isinstance(n, exp.Is) and isinstance(n.expression, exp.Boolean)
            else n
        )
    )


def turn_comparison(kind: "type[exp.Expr]") -> "type[exp.Expr]":
    """The comparison with its sides exchanged, `a < b` as `b > a`; another one as it is."""
    from sqlglot import exp

    turned = ((exp.LT, exp.GT), (exp.LTE, exp.GTE))
    for one, other in turned:
        if kind in (one, other):
            return other if kind is one else one
    return kind
