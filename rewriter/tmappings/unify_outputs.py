"""Unifies two term maps: when do two rows make the same RDF term?"""

import re
from itertools import pairwise
from urllib.parse import unquote

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.functions.percent_encode import percent_encode
from ontoweir.mappings.materialize.write_value import write_value
from ontoweir.mappings.model.catalog import ColumnType, IntType, Scalar, TimestampType
from ontoweir.mappings.model.column_types import (
    XSD,
    datatype_family,
    epoch_us,
    is_value,
    name_column_type,
    parse_constant,
    parse_instant,
    type_family,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Constant,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Op,
    Output,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.tmappings.may_meet import differ_at_ends, fixed_ends, list_atoms, may_meet

_Parts = tuple[str | Attribute, ...]


def unify_outputs(
    left: Output, right: Output, types: Types, source: Source | None
) -> tuple[Compare, ...] | None:
    """The equations under which both make the same term; None when they never do.

    Templates of one shape give equations of their columns. IRI templates of different fixed
    text never meet: percent-encoded values hold no reserved character (R2RML section 7.3).

    Raises:
        QueryError: the terms may be equal, but no equations of columns say when.
    """
    if isinstance(left, NullOutput) or isinstance(right, NullOutput):
        return () if type(left) is type(right) else None
    if isinstance(right, ConstantOutput) and not isinstance(left, ConstantOutput):
        return _unify_constant(left, right, types, source)
    if isinstance(left, ConstantOutput):
        if isinstance(right, ConstantOutput):
            return () if _same_constant(left, right) else None
        return _unify_constant(right, left, types, source)
    if isinstance(left, LiteralOutput) and isinstance(right, LiteralOutput):
        if (left.datatype, left.language) != (right.datatype, right.language):
            return None
        return (_equate(left.value, right.value, types, source),)
    if isinstance(left, LiteralOutput) or isinstance(right, LiteralOutput):
        _refuse_mixed(left, right, source)
        return None
    if type(left) is not type(right):
        return None
    if (
        isinstance(left, TemplateLiteralOutput)
        and isinstance(right, TemplateLiteralOutput)
        and (left.datatype, left.language) != (right.datatype, right.language)
    ):
        return None
    encoded = isinstance(left, IriOutput) and len(left.parts) > 1 and len(right.parts) > 1
    return _unify_templates(left.parts, right.parts, types, source, encoded)


def _same_constant(left: ConstantOutput, right: ConstantOutput) -> bool:
    if left.is_iri or right.is_iri:
        return left.is_iri == right.is_iri and left.value == right.value
    plain = [None if c.datatype == XSD + "string" else c.datatype for c in (left, right)]
    return (left.value, plain[0], left.language) == (right.value, plain[1], right.language)


def _refuse_mixed(left: Output, right: Output, source: Source | None) -> None:
    """A column's value against a template."""
    for one, other in ((left, right), (right, left)):
        if (
            isinstance(one, LiteralOutput)
            and isinstance(other, TemplateLiteralOutput)
            and (one.datatype, one.language) == (other.datatype, other.language)
        ):
            raise _cannot("a literal column", "a literal template", source)


def _unify_templates(
    left: _Parts, right: _Parts, types: Types, source: Source | None, encoded: bool
) -> tuple[Compare, ...] | None:
    shape = [p if isinstance(p, str) else None for p in left]
    if shape == [p if isinstance(p, str) else None for p in right]:
        values = [
            (a, b)
            for a, b in zip(left, right, strict=True)
            if isinstance(a, Attribute) and isinstance(b, Attribute)
        ]
        wide = sum(1 for a, _ in values if not isinstance(types.type_of(a), IntType))
        adjacent = any(a is None and b is None for a, b in pairwise(shape))
        if len(values) > 1 and (adjacent or (not encoded and wide > 0)):
            raise _cannot(_show(left), _show(right), source)
        return tuple(_equate(a, b, types, source) for a, b in values)
    if differ_at_ends(fixed_ends(left), fixed_ends(right)):
        return None
    if not may_meet(list_atoms(left, types, encoded), list_atoms(right, types, encoded)):
        return None
    raise _cannot(_show(left), _show(right), source)


def _equate(left: Attribute, right: Attribute, types: Types, source: Source | None) -> Compare:
    steps = types.step_of(left), types.step_of(right)
    kinds = types.type_of(left), types.type_of(right)
    if None not in steps and steps[0] != steps[1]:
        raise UnitsDiffer.of(steps[0] or 0, steps[1] or 0, source)
    if steps[0] != steps[1] or type_family(kinds[0]) != type_family(kinds[1]):
        raise QueryError(
            f"terms made from {left} ({name_column_type(kinds[0])}) and from {right} "
            f"({name_column_type(kinds[1])}) are joined",
            why="columns of different types do not compare by text",
            fix="declare both columns with the same type in ontoweir.toml",
            source=source,
        )
    return Compare(left, Op.EQ, right, source=source)


def _cannot(left: str, right: str, source: Source | None) -> QueryError:
    return QueryError(
        f"terms made by {left} and by {right} are joined",
        why="they may be equal, but not by comparing columns, which is all that SPJ can do",
        fix="use templates of the same shape in both mappings, if they make the same things; else "
        "of different beginnings, such as http://x/a/{id} and http://x/b/{id}",
        source=source,
    )


def _show(parts: _Parts) -> str:
    return "".join(p if isinstance(p, str) else f"{{{p.column}}}" for p in parts)


def _unify_constant(
    output: Output, constant: ConstantOutput, types: Types, source: Source | None
) -> tuple[Compare, ...] | None:
    match output:
        case ConstantOutput():
            return () if _same_constant(output, constant) else None
        case BlankOutput() | NullOutput():
            return None
        case IriOutput(parts=parts):
            if not constant.is_iri:
                return None
            return _match_text(parts, constant.value, types, source, len(parts) > 1)
        case TemplateLiteralOutput(parts=parts):
            if constant.is_iri or not _same_tags(output, constant):
                return None
            return _match_text(parts, constant.value, types, source, False)
        case LiteralOutput(value=value):
            if constant.is_iri or not _same_tags(output, constant):
                return None
            return _equate_constant(value, constant.value, types, source, exact=False)


def _same_tags(output: LiteralOutput | TemplateLiteralOutput, constant: ConstantOutput) -> bool:
    datatype = None if constant.datatype == XSD + "string" else constant.datatype
    return (output.datatype, output.language) == (datatype, constant.language)


def _equate_constant(
    attribute: Attribute, text: str, types: Types, source: Source | None, *, exact: bool
) -> tuple[Compare, ...] | None:
    """attribute = text; with `exact` only if the value is written exactly so (in an IRI)."""
    kind, step = types.type_of(attribute), types.step_of(attribute)
    if step is not None:
        try:
            moment = parse_instant(text)
        except ValueError:
            return None
        steps, rest = divmod(epoch_us(moment), step)
        if rest or (exact and write_value(moment) != text):
            return None
        return (Compare(attribute, Op.EQ, Constant(steps), source=source),)
    value = parse_constant(text, kind)
    if value is None or not is_value(value, kind) or (exact and _write(value, kind) != text):
        return None
    return (Compare(attribute, Op.EQ, Constant(value), source=source),)


def _write(value: Scalar, kind: ColumnType) -> str:
    """The text of a column's constant in a template."""
    if isinstance(kind, TimestampType):
        return write_value(parse_instant(str(value)))
    return write_value(value)


def _match_text(
    parts: _Parts, text: str, types: Types, source: Source | None, encoded: bool
) -> tuple[Compare, ...] | None:
    pattern = ""
    for part in parts:
        if isinstance(part, str):
            pattern += re.escape(part)
        elif isinstance(types.type_of(part), IntType):
            pattern += r"(-?[0-9]+)"
        elif encoded:
            pattern += r"((?:[A-Za-z0-9._~%-]|[^\x00-\x7f])*)"
        else:
            pattern += "(.*)"
    columns = [p for p in parts if isinstance(p, Attribute)]
    match = re.fullmatch(pattern, text, re.DOTALL)
    if match is None:
        return None
    lazy = re.fullmatch(pattern.replace(")*)", ")*?)").replace("(.*)", "(.*?)"), text, re.DOTALL)
    if lazy is not None and lazy.groups() != match.groups():
        raise QueryError(
            f"the template {_show(parts)} makes {text} in several ways",
            why="its columns are not told apart by fixed text",
            fix="put a separator such as / between the template's columns",
            source=source,
        )
    conditions: list[Compare] = []
    for column, value in zip(columns, match.groups(), strict=True):
        plain = unquote(value) if encoded else value
        if encoded and percent_encode(plain) != value:
            return None  # another IRI, such as one with %2f, or with %41 for A
        equation = _equate_constant(column, plain, types, source, exact=True)
        if equation is None:
            return None
        conditions.extend(equation)
    return tuple(conditions)


def literal_family(output: LiteralOutput) -> str:
    """The family of a literal's datatype, `language` for tagged ones, else the datatype."""
    if output.language is not None:
        return "language"
    return datatype_family(output.datatype) or str(output.datatype)
