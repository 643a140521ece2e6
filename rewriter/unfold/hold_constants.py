"""Gives the constants that are aggregated a column: SUM is over values of columns."""

from dataclasses import replace
from decimal import Decimal, InvalidOperation

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import DecimalType
from ontoweir.mappings.model.column_types import XSD, datatype_family
from ontoweir.rewriter.algebra.equality_classes import Types, condition_attributes
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import (
    Attribute,
    Constant,
    ConstantOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    Output,
    Provenance,
    SpjQuery,
    SpjUnion,
    View,
    ViewBranch,
    output_attributes,
)
from ontoweir.rewriter.views.make_sets import SetMaker

_FLOATS = (f"{XSD}double", f"{XSD}float")
_MOST_DIGITS = 38
_MOST = 1 << 61
"""Of how many units the run-time takes numbers where there are decimals, too
(runtime/columnar/encode.py)."""


def hold_constants(union: SpjUnion, sets: SetMaker) -> SpjUnion:
    """The query with a view of one row for each number that VALUES, BIND, a fact or a mapping's
    constant gives a variable that SUM, AVG, MIN, MAX or MEDIAN is of.

    Args:
        union: an aggregate query; others are left as they are.
        sets: makes the views.

    Raises:
        QueryError: a number does not fit 64 bits, in units of the last decimal place that a number
            of its disjunct has.
    """
    if union.aggregation is None:
        return union
    counts = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
    made = (a for a in union.aggregation.aggregates if a.function not in counts)
    arguments: set[str | None] = {argument for a in made for argument in a.arguments}
    held: dict[tuple[bool, Decimal | float], View] = {}
    disjuncts = tuple(_hold(q, arguments, held, sets) for q in union.disjuncts)
    for query in disjuncts:
        _refuse_large(query, held, union.source, sets)
    return replace(union, disjuncts=disjuncts)


def _refuse_large(
    query: SpjQuery,
    held: dict[tuple[bool, Decimal | float], View],
    source: Source | None,
    sets: SetMaker,
) -> None:
    """Raise the error for a constant that the run-time cannot count."""
    types = Types(sets.catalog, query.occurrences)
    read = {a for c in query.conditions for a in condition_attributes(c)}
    read |= {a for _, output in query.outputs for a in output_attributes(output)}
    kinds = map(types.type_of, read)
    unit = 10 ** max((k.scale for k in kinds if isinstance(k, DecimalType)), default=0)
    most = _MOST if unit > 1 else (1 << 63) - 1
    tables = {o.table for o in query.occurrences}
    for (_, number), view in held.items():
        if view.name not in tables or not isinstance(number, Decimal):
            continue
        if max(1, abs(number)) * unit > most:
            raise QueryError(
                f"the constant {number:f} is aggregated",
                why="numbers are counted in 64 bits, in units of the last decimal place that the "
                f"query has: 1/{unit}",
                fix="write fewer digits, before or behind the decimal point",
                source=source,
            )


def _hold(
    query: SpjQuery,
    arguments: set[str | None],
    held: dict[tuple[bool, Decimal | float], View],
    sets: SetMaker,
) -> SpjQuery:
    for name, output in query.outputs:
        number = _read_number(output) if name in arguments else None
        if number is None:
            continue
        key = isinstance(number, float), number
        view = held.get(key) or _make_view(number, sets)
        held[key] = view
        alias = f"{view.name}_{len(query.occurrences) + 1}"
        column = Attribute(alias, view.table.columns[0].name)
        assert isinstance(output, ConstantOutput)
        literal = LiteralOutput(column, output.datatype)
        query = replace(
            query,
            occurrences=(*query.occurrences, Occurrence(alias, view.name)),
            conditions=(*query.conditions, NotNull(column)),
            outputs=tuple((n, literal if n == name else o) for n, o in query.outputs),
        )
    return query


def _read_number(output: Output) -> Decimal | float | None:
    """The number that a constant is (None: it is none, or has too many digits)."""
    if not isinstance(output, ConstantOutput) or output.is_iri or output.language is not None:
        return None
    if output.datatype is None or datatype_family(output.datatype) != "number":
        return None
    try:
        number = Decimal(output.value.strip())
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if output.datatype in _FLOATS:
        return float(number)
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    return number if len(digits) + abs(exponent) <= _MOST_DIGITS else None


def _make_view(number: Decimal | float, sets: SetMaker) -> View:
    whole = isinstance(number, Decimal) and number == number.to_integral_value()
    value = int(number) if whole else number
    origin = Provenance(f"the number {value}")
    branch = ViewBranch((), (), (Constant(value),), None, (("", origin),))
    return sets.add_view("number", (branch,), distinct=True, why="a constant that is aggregated")
