"""The SPJ queries that a SELECT of columns is."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from typing import assert_never

from ontoweir.errors import Source
from ontoweir.mappings.expressions.may_be_null import is_nullable, may_be_null
from ontoweir.mappings.expressions.wants_values import list_strict, wants_values
from ontoweir.mappings.materialize.write_value import write_value
from ontoweir.mappings.model.assertion import (
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceNotNull,
    SourceOneOf,
)
from ontoweir.mappings.model.catalog import DecimalType, FloatType, Scalar
from ontoweir.mappings.model.column_types import XSD, type_constant
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import SelectShape
from ontoweir.rewriter.algebra.equality_classes import valued_attributes
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    OneOf,
    Op,
    Output,
    SpjQuery,
)
from ontoweir.rewriter.nulls.list_nullable import is_always_null
from ontoweir.rewriter.nulls.null_places import NullPlaces
from ontoweir.rewriter.nulls.split_nulls import split_nulls


def make_disjuncts(
    select: SelectShape,
    file: str,
    needed: int,
    nullable: NullPlaces,
    buckets: Set[tuple[str, str]],
    *,
    plain: bool = False,
) -> list[SpjQuery]:
    """The disjuncts of one SELECT, one for each choice of columns that are NULL.

    Args:
        select: as it was read.
        file: where it is.
        needed: so many of its first columns are all but arguments of aggregates.
        nullable: the places of those that may be NULL.
        buckets: tables and columns that are never NULL.
        plain: NULL is shown where a column is declared so, in one disjunct with the values.

    Raises:
        SqlRefusal: a timestamp is added up.
    """
    source = Source(file, select.line or 1)
    outputs: list[tuple[str, Output]] = []
    for name, value in select.projections:
        if isinstance(value, SourceColumn):
            if select.scope.step_of(value) is not None:
                raise SqlRefusal(
                    f"the timestamp {value.alias}.{value.column} is added up",
                    why="a time is no number: of times there are MIN, MAX and COUNT(DISTINCT …)",
                    fix="aggregate another column, or use MIN or MAX",
                    line=select.line,
                )
            outputs.append((name, LiteralOutput(_attribute(value))))
        else:
            outputs.append((name, _constant_output(value)))
    of = {t.alias: t.table for t in select.tables}
    shown = [(n, o.value) for n, (_, o) in enumerate(outputs) if isinstance(o, LiteralOutput)]
    valued = {a for _, a in shown if _has_value(a, select, of, buckets)}
    maybe = [a for n, a in shown if n in nullable.apart and a not in valued]
    sure = [NotNull(a, source) for n, a in shown if n < needed and a not in maybe]
    if plain:
        shown_of = select.scope.tables
        null = {a for a in (c.attribute for c in sure) if is_nullable(shown_of[a.alias], a.column)}
        null |= {a for n, a in shown if n in nullable.shown and a not in {*maybe, *valued}}
        sure = [c for c in sure if c.attribute not in null]
        outputs = [(n, _make_optional(o, null)) for n, o in outputs]
    never = {a for a in maybe if is_always_null(select.scope.tables[a.alias], a.column)}
    tables = tuple(Occurrence(t.alias, t.table) for t in select.tables)
    disjuncts = []
    for alternative in select.alternatives:
        said = [_condition(c, source) for c in alternative]
        wanted = _list_wanted(said, select.scope)
        known = [NotNull(a, source) for a in maybe if _is_wanted(a, wanted, select.scope)]
        query = SpjQuery(tables, (*said, *dict.fromkeys((*sure, *known))), tuple(outputs))
        group = [NotNull(a, source) for a in maybe]
        disjuncts += split_nulls(query, group, never, select.line)
    return disjuncts


def _make_optional(output: Output, null: Set[Attribute]) -> Output:
    """An output that shows NULL too, if its attribute may be NULL."""
    if not isinstance(output, LiteralOutput) or output.value not in null:
        return output
    return replace(output, optional=True)


def _has_value(
    attribute: Attribute, select: SelectShape, of: dict[str, str], buckets: Set[tuple[str, str]]
) -> bool:
    """Whether a computed column has a value in every row."""
    if (of[attribute.alias], attribute.column) in buckets:
        return True
    table = select.scope.tables[attribute.alias]
    column = table.column(attribute.column)
    expression = None if column is None else column.expression
    return expression is not None and not may_be_null(expression, never_null(table))


def _list_wanted(said: Sequence[Condition], scope: Scope) -> dict[str, set[str]]:
    """Of each table the columns of which conditions want values."""
    wanted: dict[str, set[str]] = {}
    for one in said:
        true = isinstance(one, Compare) and one.op is Op.EQ and one.right == Constant(value=True)
        for attribute in valued_attributes(one):
            mine = wanted.setdefault(attribute.alias, {attribute.column})
            mine.add(attribute.column)
            column = scope.tables[attribute.alias].column(attribute.column)
            if column is not None and column.expression is not None:
                mine |= (wants_values if true else list_strict)(column.expression)
    return wanted


def _is_wanted(attribute: Attribute, wanted: Mapping[str, Set[str]], scope: Scope) -> bool:
    """Whether a column has a value where these do."""
    table, known = scope.tables[attribute.alias], wanted.get(attribute.alias, set())
    column = table.column(attribute.column)
    if attribute.column in known or column is None or column.expression is None:
        return attribute.column in known
    return not may_be_null(column.expression, {*known, *never_null(table)})


def _attribute(column: SourceColumn) -> Attribute:
    return Attribute(column.alias, column.column)


def _condition(condition: SourceCondition, source: Source) -> Condition:
    match condition:
        case SourceNotNull():
            return NotNull(_attribute(condition.column), source)
        case SourceOneOf(column=column, values=values):
            return OneOf(_attribute(column), values, source)
        case SourceCompare(right=right):
            return Compare(
                _attribute(condition.left),
                Op(condition.op),
                _attribute(right) if isinstance(right, SourceColumn) else Constant(right.value),
                condition.offset,
                source,
                condition.line,
            )
        case _ as unreachable:
            assert_never(unreachable)


def _constant_output(value: Scalar) -> ConstantOutput:
    if isinstance(value, str):
        return ConstantOutput(value, False)
    text = write_value(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise SqlRefusal(
            f"the constant {text} in SELECT",
            why="a whole number has 64 bits",
            fix=f"write the text, '{text}'",
        )
    if isinstance(value, float):
        return ConstantOutput(text, False, kind=FloatType())
    if isinstance(value, Decimal) and "." not in text:
        return ConstantOutput(text, False, kind=DecimalType(max(19, len(text) + 1), 1))
    kind = XSD + ("boolean" if isinstance(value, bool) else "decimal" if "." in text else "integer")
    return ConstantOutput(text, False, kind=type_constant(text, kind))
