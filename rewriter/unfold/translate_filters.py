"""Translates filters over variables into conditions over attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import TypeAlias

from ontoweir.errors import QueryError, Source, with_article
from ontoweir.mappings.model.catalog import FloatType, Scalar
from ontoweir.mappings.model.column_types import (
    XSD,
    datatype_family,
    name_column_type,
    natural_datatype,
    parse_constant,
    type_family,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Filter,
    Iri,
    Literal,
    TimeFilter,
    ValueFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    LiteralOutput,
    OneOf,
    Op,
    Output,
)
from ontoweir.rewriter.rounded.wrap_sums import ComparedSumError
from ontoweir.rewriter.tmappings.unify_outputs import literal_family, unify_outputs
from ontoweir.rewriter.unfold.translate_times import read_times, translate_time_filter

Cases: TypeAlias = tuple[tuple[Condition, ...], ...]
"""Cases that exclude each other: () is false, ((),) is true."""


def term_output(term: Iri | Literal) -> ConstantOutput:
    """A constant of the query as an output."""
    if isinstance(term, Iri):
        return ConstantOutput(term.value, is_iri=True)
    return ConstantOutput(term.lexical, False, term.datatype, term.language)


def translate_choice(
    choice: AnyFilter,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> Cases:
    """The cases of a choice, those that only equate one attribute with constants as a list.

    Raises:
        QueryError: as translate_filter.
    """
    cases = tuple(
        tuple(condition for part in chosen for condition in part)
        for case in choice.cases
        for chosen in product(*(translate_filter(f, bindings, times, types) for f in case))
    )
    values: dict[Attribute, dict[Scalar, None]] = {}
    for case in cases:
        match case:
            case (Compare(left=left, op=Op.EQ, right=Constant(value=value)),):
                if types.step_of(left) is not None:
                    return cases
                values.setdefault(left, {})[value] = None
            case _:
                return cases
    if len(values) != 1 or len(cases) < 2:
        return cases
    ((attribute, listed),) = values.items()
    if len(listed) == 1:
        return cases[:1]
    source = next(f.source for case in choice.cases for f in case)
    return ((OneOf(attribute, tuple(listed), source),),)


def translate_filter(
    filter_: Filter,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> Cases:
    """A comparison of values or of times, as cases that exclude each other.

    Raises:
        QueryError: as translate_time_filter and translate_value_filter.
    """
    if isinstance(filter_, ValueFilter):
        filter_ = read_times(filter_, bindings, types)
    if isinstance(filter_, TimeFilter):
        return translate_time_filter(filter_, bindings, times, types)
    return translate_value_filter(filter_, bindings, types)


def translate_value_filter(
    filter_: ValueFilter, bindings: Mapping[Variable, Output], types: Types
) -> Cases:
    """A comparison of values.

    Numbers compare with numbers whatever their datatypes, everything else within its type;
    IRIs and blank nodes only by = and !=.

    Raises:
        QueryError: an unbound variable, or types that do not compare.
    """
    source = filter_.source
    left = _binding(filter_.left, bindings, source)
    if isinstance(filter_.right, Variable):
        right: Output = _binding(filter_.right, bindings, source)
    else:
        right = term_output(filter_.right)
    offset = _number(filter_.offset, source)
    if isinstance(left, LiteralOutput) and literal_family(left) != "language":
        cases = _compare_values(filter_, left, right, offset, types)
        if cases is not None:
            return cases
    elif isinstance(right, LiteralOutput) and isinstance(left, ConstantOutput):
        turned = replace(filter_, op=filter_.op.flipped())
        cases = _compare_values(turned, right, left, -offset, types)
        if cases is not None:
            return cases
    elif _is_literal(left) and _is_literal(right):
        cases = _compare_constants(filter_, left, right, offset)
        if cases is not None:
            return cases
    if filter_.op not in (Op.EQ, Op.NE) or offset:
        raise QueryError(
            f"?{filter_.left.name} {filter_.op.value} … compares IRIs or texts made from data",
            why="IRIs, blank nodes and language-tagged texts compare only by = and !=",
            fix="compare a value, or use = or !=",
            source=source,
        )
    equations = unify_outputs(left, right, types, source)
    if filter_.op is Op.EQ:
        return () if equations is None else (equations,)
    if equations is None:
        return ((),)
    # NOT (a AND b) is NOT a, or a AND NOT b: cases that exclude each other.
    return tuple(
        (*equations[:n], replace(equation, op=Op.NE)) for n, equation in enumerate(equations)
    )


def _binding(
    variable: Variable, bindings: Mapping[Variable, Output], source: Source | None
) -> Output:
    output = bindings.get(variable)
    if output is None:
        raise QueryError(
            f"?{variable.name} is not bound by a pattern",
            why="a filter compares what the patterns of the same group bind",
            fix=f"add a pattern with ?{variable.name}, or correct the name",
            source=source,
        )
    return output


def _number(text: str, source: Source | None) -> int | Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise QueryError(
            f"{text!r} is not a number",
            why="it is added to a value",
            fix="write a number",
            source=source,
        ) from None
    return int(number) if number == number.to_integral_value() else number


def _is_literal(output: Output) -> bool:
    return isinstance(output, ConstantOutput) and not output.is_iri


def _compare_constants(
    filter_: ValueFilter, left: Output, right: Output, offset: int | Decimal
) -> Cases | None:
    assert isinstance(left, ConstantOutput)
    assert isinstance(right, ConstantOutput)
    families = datatype_family(left.datatype), datatype_family(right.datatype)
    if families != ("number", "number"):
        return None
    try:
        holds = compare_scalars(Decimal(left.value), filter_.op, Decimal(right.value) + offset)
    except InvalidOperation:
        return ()
    return ((),) if holds else ()


def _compare_values(
    filter_: ValueFilter,
    left: LiteralOutput,
    right: Output,
    offset: int | Decimal,
    types: Types,
) -> Cases | None:
    """A column's value against a value; None when only = and != of terms make sense."""
    source = filter_.source
    family = _checked_family(left, types, source)
    if filter_.moved:
        _refuse_doubles(filter_, (left, right), types)
    if isinstance(right, LiteralOutput):
        if literal_family(right) == "language":
            return None
        other = _checked_family(right, types, source)
        if family != other:
            raise _wrong(filter_, family, other)
        if offset and family != "number":
            raise _wrong(filter_, family, "number")
        if left.value == right.value:
            return ((),) if compare_scalars(0, filter_.op, offset) else ()
        return ((Compare(left.value, filter_.op, right.value, offset, source),),)
    if not (isinstance(right, ConstantOutput) and not right.is_iri):
        return None
    if right.language is not None:
        return None
    other = datatype_family(right.datatype) or str(right.datatype)
    if family != other:
        raise _wrong(filter_, family, other)
    kind = types.type_of(left.value)
    value = parse_constant(right.value, kind)
    if value is None:
        raise QueryError(
            f"{right.value!r} is not of type {name_column_type(kind)}",
            why=f"?{filter_.left.name} has values of that type",
            fix=f"write a constant of type {name_column_type(kind)}",
            source=source,
        )
    if offset:
        if isinstance(value, (str, bool)):
            raise _wrong(filter_, family, "number")
        total = Decimal(str(value)) + offset
        value = parse_constant(str(total), kind)
        assert value is not None
    return ((Compare(left.value, filter_.op, Constant(value), source=source),),)


def _refuse_doubles(filter_: ValueFilter, sides: Sequence[Output], types: Types) -> None:
    """Raises where numbers are added to doubles, or doubles subtracted: such sums are rounded, and
    comparing what is moved to the other side may be something else.

    Raises:
        QueryError: as said.
    """
    for side in sides:
        if isinstance(side, LiteralOutput) and isinstance(types.type_of(side.value), FloatType):
            raise ComparedSumError(
                f"a filter adds to or subtracts from {side.value}, a double, and compares",
                why="a sum of doubles is rounded: moved to the other side, it could be another one",
                fix="compute the sum of each row, as in BIND(?v + 5 AS ?more) FILTER(?w > ?more); "
                "of several, as in BIND(?v - ?w AS ?d) FILTER(?d > 5); or declare decimal(p,s)",
                source=filter_.source,
            )


def _checked_family(output: LiteralOutput, types: Types, source: Source | None) -> str:
    """The family of a literal's values, when the column's values compare like the literals."""
    if types.step_of(output.value) is not None:
        raise QueryError(
            f"a filter compares {output.value}, the stream's own timestamp, as a value",
            why="it is a time, an xsd:dateTime: it is compared with times",
            fix="compare it with the time of another row, or with an xsd:dateTime; map it as an "
            "xsd:dateTime",
            source=source,
        )
    kind, family = types.type_of(output.value), literal_family(output)
    if family != type_family(kind):
        raise QueryError(
            f"a filter compares {output.value}, which is {name_column_type(kind)} but mapped to "
            f"{output.datatype or 'xsd:string'}",
            why="the column's values are compared, and they compare differently",
            fix="declare the column's type in ontoweir.toml to fit rr:datatype"
            if datatype_family(output.datatype) is not None
            else "no type of a column compares as this rr:datatype: leave it out of the mapping "
            f"(then it is {natural_datatype(kind) or XSD + 'string'}), or compare with none",
            source=source,
        )
    return family


def _wrong(filter_: ValueFilter, left: str, right: str) -> QueryError:
    return QueryError(
        f"?{filter_.left.name} {filter_.op.value} … compares {with_article(left)} with "
        f"{with_article(right)}",
        why="values compare within one type",
        fix=f"compare with {with_article(left)}",
        source=filter_.source,
    )
