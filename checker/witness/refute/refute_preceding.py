"""Witnesses against queries of rows with what the rows before them say, of a key without a domain.

Of each key something has to be remembered: copies of a row with a later one of its key are laid out
as matches of the join of both, and the columns of the later one confirm them.
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TypeGuard

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.witness.confirm.confirm_preceding import find_preceding
from ontoweir.checker.witness.list_tied import list_tied
from ontoweir.checker.witness.refute.refute_joins import refute_joins
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.expressions.derive_column import add_derived
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    Stream,
)
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, fields_of
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    IsNull,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
    output_attributes,
)

_HIGH = 1_000
"""A great number, where a column has no greatest one."""


def refute_preceding(
    union: SpjUnion, catalog: Catalog, known: Statistics, *, size: int = 4
) -> Witness | None:
    """A confirmed witness against a query of rows with what those before them say; None: none was
    found, or it is no such query (`find_preceding`)."""
    meeting = find_preceding(union)
    if meeting is None:
        return None
    catalog = extend_catalog(catalog, union)
    if _limits_keys(union, meeting, catalog):
        return None
    # so that a witness's rows have values that count
    made = [c.argument for c in meeting.columns if c.argument is not None]
    made += [] if meeting.only is None else [meeting.only]
    computed = dict.fromkeys(e for e in made if not isinstance(e, Field))
    catalog = add_derived(catalog, tuple((meeting.base, e) for e in computed))
    return refute_joins(_list_pairs(union, meeting, catalog), union, catalog, known, size)


def _limits_keys(union: SpjUnion, meeting: Preceding, catalog: Catalog) -> bool:
    """Whether something that is computed, or compared with what the rows before say, reads columns
    by which it may let few rows count, or few keys: those of the key, and `list_tied`."""
    wide = catalog.streams[union.blocks[0].stream.name]
    tied = {meeting.time, *meeting.key, *list_tied(wide, catalog)}
    tied |= list_tied(catalog.streams[meeting.base], catalog)
    parts = [] if meeting.only is None else list(_list_conjuncts(meeting.only))
    expressions = [e for e in parts if not _is_there(e)]
    expressions += [c.argument for c in meeting.columns if c.argument is not None]
    expressions += [e for _, e in union.derived]
    if any(tied & fields_of(e).keys() for e in expressions):
        return True
    counted = {c.name for c in meeting.columns}
    counted |= {c.name for c in wide.columns if c.expression is not None}
    for query in union.disjuncts:
        for condition in query.conditions:
            read = condition_attributes(condition)
            if any(a.column in counted for a in read) and any(a.column in tied for a in read):
                return True
    return False


def _list_conjuncts(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Call(function=Function.AND, arguments=arguments):
            for one in arguments:
                yield from _list_conjuncts(one)
        case _:
            yield expression


def _is_there(expression: Expression) -> bool:
    """Whether it says no more than that a column has a value."""
    match expression:
        case Call(
            function=Function.NOT,
            arguments=(Call(function=Function.IS_NULL, arguments=(Field(),)),),
        ):
            return True
        case _:
            return False


def _list_pairs(union: SpjUnion, meeting: Preceding, catalog: Catalog) -> Iterator[SpjQuery]:
    """The joins of a row with one before it, of its key: of each disjunct, with its conditions on
    columns of the stream's own."""
    base = catalog.streams[meeting.base]
    own = {base.timestamp, *(c.name for c in base.columns)}
    for query in union.disjuncts:
        later = next(o.alias for o in query.occurrences if o.table == union.blocks[0].stream.name)
        earlier = "earlier"
        while earlier in {o.alias for o in query.occurrences}:
            earlier += "_"

        def is_own(attribute: Attribute, later: str = later) -> bool:
            return attribute.alias != later or attribute.column in own

        conditions = [c for c in query.conditions if all(map(is_own, condition_attributes(c)))]
        conditions += [
            Compare(Attribute(earlier, name), Op.EQ, Attribute(later, name)) for name in meeting.key
        ]
        time = Attribute(later, base.timestamp)
        conditions.append(Compare(time, Op.GT, Attribute(earlier, base.timestamp)))
        shown = [
            (n, replace(o, optional=False) if isinstance(o, LiteralOutput) else o)
            for n, o in query.outputs
            if all(map(is_own, output_attributes(o)))
        ]
        pair = replace(
            query,
            occurrences=(
                Occurrence(earlier, base.name),
                *(
                    replace(o, table=base.name) if o.alias == later else o
                    for o in query.occurrences
                ),
            ),
            conditions=tuple(conditions),
            outputs=tuple(shown),
        )
        yield pair
        # conditions may ask for another value than that of the row before, either way
        told = [c.argument.column for c in meeting.columns if isinstance(c.argument, Field)]
        few = [
            (n, v) for n in dict.fromkeys(told) if (v := _list_two(base, n, meeting)) is not None
        ]
        for mine, theirs in ((0, 1), (1, 0)) if few else ():
            apart = [
                Compare(Attribute(alias, name), Op.EQ, values[place])
                for name, values in few
                for alias, place in ((earlier, mine), (later, theirs))
            ]
            yield replace(pair, conditions=(*pair.conditions, *apart))
        # or for its value where there is none
        absent = [
            n for n in dict.fromkeys(told) if (c := base.column(n)) is not None and c.nullable
        ]
        if absent:
            none = [IsNull(Attribute(later, name)) for name in absent]
            some = [NotNull(Attribute(earlier, name)) for name in absent]
            yield replace(pair, conditions=(*pair.conditions, *none, *some))


def _list_two(base: Stream, name: str, meeting: Preceding) -> tuple[Constant, Constant] | None:
    """Two values of a column, a small and a great one of numbers (None: it is of the key, or of
    texts that may be any, or has one value)."""
    column = base.column(name)
    if column is None or name in meeting.key:
        return None
    if isinstance(column.type, BooleanType):
        return Constant(False), Constant(True)
    if column.enum is not None:
        return (
            None if len(column.enum) < 2 else (Constant(column.enum[0]), Constant(column.enum[1]))
        )
    if isinstance(column.type, IntType | FloatType | DecimalType):
        low = 0 if column.minimum is None else column.minimum
        high = _HIGH if column.maximum is None else column.maximum
        if _is_number(low) and _is_number(high) and low < high:
            return Constant(low), Constant(high)
    return None


def _is_number(value: Scalar) -> TypeGuard[int | float | Decimal]:
    return isinstance(value, int | float | Decimal)
