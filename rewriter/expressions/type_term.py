"""SPARQL's functions of terms, typed: what an IRI is as a text, and of which kind a term is."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import BooleanType, IntType, StringType
from ontoweir.mappings.model.column_types import XSD, datatype_family, natural_datatype
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.expressions.not_exact import NotExactError
from ontoweir.rewriter.expressions.type_text import type_text
from ontoweir.rewriter.model.query import Iri, Literal, Operation, TermExpression, Variable
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Output,
    TemplateLiteralOutput,
)

Typed: TypeAlias = Callable[[TermExpression], Expression]
"""Types the arguments that are values."""

KINDS = frozenset({"ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC"})
_OF_TERMS = KINDS | {"LANG", "DATATYPE", "SAMETERM", "IRI", "URI"}
_OF_LANGUAGE = frozenset({"STRLEN", "CONTAINS", "STRSTARTS", "STRENDS", "REGEX"})
"""Functions that take a text with a language, and plain strings beside it (17.4.3.1.2)."""
_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"


def type_term_call(
    operation: Operation, outputs: Mapping[str, Output], types: Types, typed: Typed
) -> Expression | None:
    """A function of terms, or a comparison of IRIs; None: it is one of values.

    Args:
        operation: a function or an operator.
        outputs: what each variable of the patterns is made of.
        types: of the columns.
        typed: what an argument is that is a value.

    Raises:
        NotExactError: it is of terms of which that is not known.
    """
    name, arguments = operation.name, operation.arguments
    known = [_find_output(a, outputs) for a in arguments]
    match name, known:
        case _, [output] if name in KINDS and output is not None:
            return _is_of_kind(name, output)
        case _, [_] if name in KINDS:  # of what is computed: a literal
            kind = typed(arguments[0])
            if isinstance(kind, Value) and kind.value is None:
                return None
            numeric = datatype_family(natural_datatype(kind.type)) == "number"
            return _truth(name == "ISLITERAL" or (name == "ISNUMERIC" and numeric))
        case "LANG", [output] if output is not None:
            return _read_language(output)
        case "BOUND", [IriOutput() | BlankOutput() as output]:
            return _are_there([p for p in output.parts if not isinstance(p, str)], types)
        case "BOUND", [LiteralOutput(value=value, language=str())]:
            return _are_there([value], types)
        case "STR", [LiteralOutput(value=value, language=str())]:
            return field_text(value, types)
        case _, [LiteralOutput(value=value, language=str()), *_] if name in _OF_LANGUAGE:
            others = [typed(a) for a in arguments[1:]]
            if not all(isinstance(o.type, StringType) for o in others):
                return build.null(StringType())  # an error
            return type_text(name, [field_text(value, types), *others])
        case "LANGMATCHES", _:
            return _match_language(*map(typed, arguments))
        case "STR", [IriOutput() | ConstantOutput(is_iri=True) as output]:
            return _write_iri(output, types)
        case (("=" | "!=" | "SAMETERM" | "IN"), _):
            return _compare(name, arguments, outputs, types)
        case _ if name in _OF_TERMS:
            raise NotExactError(
                f"{name} of what is computed, or as a value",
                'compare it in a FILTER, as in DATATYPE(?x) = xsd:integer or ?x = IRI("…")',
            )
        case _:
            return None


def _find_output(argument: TermExpression, outputs: Mapping[str, Output]) -> Output | None:
    match argument:
        case Variable(name=name):
            return outputs.get(name)
        case Iri(value=value):
            return ConstantOutput(value, is_iri=True)
        case Literal(lexical=text, datatype=datatype, language=language):
            return ConstantOutput(text, is_iri=False, datatype=datatype, language=language)
        case Operation():
            return None


def _are_there(parts: Sequence[Attribute], types: Types) -> Expression:
    """Whether all columns that a term is made of have a value."""
    made: Expression = _truth(value=True)
    for part in dict.fromkeys(parts):
        field = Field(name_field(part), types.type_of(part))
        absent = Call(Function.IS_NULL, (field,), BooleanType())
        there = Call(Function.NOT, (absent,), BooleanType())
        whole = isinstance(made, Value)
        made = there if whole else Call(Function.AND, (made, there), BooleanType())
    return made


def _truth(value: bool) -> Expression:
    return Value(value=value, type=BooleanType())


def _is_of_kind(name: str, output: Output) -> Expression:
    if isinstance(output, NullOutput):
        return build.null(BooleanType())
    iri = isinstance(output, IriOutput) or (isinstance(output, ConstantOutput) and output.is_iri)
    blank = isinstance(output, BlankOutput)
    match name:
        case "ISIRI" | "ISURI":
            return _truth(iri)
        case "ISBLANK":
            return _truth(blank)
        case "ISLITERAL":
            return _truth(not iri and not blank)
        case _:
            family = None if iri or blank else datatype_family(getattr(output, "datatype", None))
            return _truth(family == "number")


def _read_language(output: Output) -> Expression:
    """Of a literal its language, or nothing; of what is none it is an error."""
    match output:
        case LiteralOutput(language=language) | TemplateLiteralOutput(language=language):
            return Value(language or "", StringType())
        case ConstantOutput(is_iri=False, language=language):
            return Value(language or "", StringType())
        case _:
            return build.null(StringType())


def _match_language(tag: Expression, wanted: Expression) -> Expression:
    """LANGMATCHES, by basic filtering (RFC 4647)."""
    if not isinstance(tag, Value) or not isinstance(wanted, Value):
        raise NotExactError("LANGMATCHES of no constant", 'write LANGMATCHES(LANG(?x), "en")')
    if not isinstance(tag.value, str) or not isinstance(wanted.value, str):
        return build.null(BooleanType())
    own, of = tag.value.lower(), wanted.value.lower()
    if of == "*":
        return _truth(bool(own))
    return _truth(own == of or own.startswith(f"{of}-"))


def _compare(
    name: str,
    arguments: tuple[TermExpression, ...],
    outputs: Mapping[str, Output],
    types: Types,
) -> Expression | None:
    """A comparison of IRIs, as texts; None: it is one of literals."""
    texts = [_read_iri(a, outputs, types) for a in arguments]
    if not any(t is not None for t in texts):
        if name == "SAMETERM":
            raise NotExactError("sameTerm of literals", "compare them by =")
        return None
    first, *others = texts
    equal: list[Expression] = [
        build.compare(Function.EQUAL, first, other)
        if first is not None and other is not None
        else _truth(value=False)  # an IRI and a literal
        for other in others
    ]
    made = equal[0]
    for one in equal[1:]:
        made = Call(Function.OR, (made, one), BooleanType())
    return Call(Function.NOT, (made,), BooleanType()) if name == "!=" else made


def _read_iri(
    argument: TermExpression, outputs: Mapping[str, Output], types: Types
) -> Expression | None:
    """An IRI as a text; None: it is none."""
    match argument:
        case Operation(name="DATATYPE", arguments=(inner,)):
            return _read_datatype(_find_output(inner, outputs))
        case Operation(name="IRI" | "URI", arguments=(Literal(lexical=text),)):
            return Value(text, StringType())
        case Operation():
            return None
        case _:
            output = _find_output(argument, outputs)
    if isinstance(output, IriOutput) or (isinstance(output, ConstantOutput) and output.is_iri):
        return _write_iri(output, types)
    return None


def _read_datatype(output: Output | None) -> Expression:
    match output:
        case LiteralOutput() | TemplateLiteralOutput():
            datatype, language = output.datatype, output.language
        case ConstantOutput(is_iri=False):
            datatype, language = output.datatype, output.language
        case None:
            raise NotExactError("DATATYPE of what is computed", "leave it out")
        case _:
            return build.null(StringType())
    plain = _LANG_STRING if language is not None else XSD + "string"
    return Value(datatype or plain, StringType())


def _write_iri(output: Output, types: Types) -> Expression:
    """The text of an IRI that a template makes.

    Raises:
        NotExactError: it is made of a column alone, which may be relative, or of one whose values
            have several texts.
    """
    if isinstance(output, ConstantOutput):
        return Value(output.value, StringType())
    assert isinstance(output, IriOutput)
    if len(output.parts) == 1 or not isinstance(output.parts[0], str):
        raise NotExactError("the text of an IRI that is a column", "compute with the value")
    made: list[Expression] = []
    for part in output.parts:
        if isinstance(part, str):
            made.append(Value(part, StringType()))
            continue
        text = field_text(part, types)
        made.append(
            text
            if isinstance(types.type_of(part), IntType)
            else Call(Function.IRI_ENCODE, (text,), StringType())
        )
    return Call(Function.CONCAT, tuple(made), StringType())


def field_text(attribute: Attribute, types: Types) -> Expression:
    """A column's value as a text in a template.

    Raises:
        NotExactError: it is not of whole numbers or texts.
    """
    kind = types.type_of(attribute)
    if not isinstance(kind, IntType | StringType):
        raise NotExactError(f"a text made from {attribute}", "compute with the value")
    field = Field(name_field(attribute), kind)
    if isinstance(kind, StringType):
        return field
    return Call(Function.TRY_CAST, (field,), StringType())


_SEPARATOR = "\0"
"""Between alias and column in the names of fields, until it is known that they are of one row."""


def name_field(attribute: Attribute) -> str:
    """The name of the field that an attribute is."""
    return f"{attribute.alias}{_SEPARATOR}{attribute.column}"


def attribute_of(name: str) -> Attribute:
    """The attribute that a field of a term's value is."""
    alias, _, column = name.partition(_SEPARATOR)
    return Attribute(alias, column)
