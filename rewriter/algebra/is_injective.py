"""Whether different values make different terms."""

from itertools import pairwise

from ontoweir.mappings.model.catalog import IntType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.algebra.equality_classes import Types
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

_RESERVED = frozenset("!#$&'()*+,/:;=?@[]<>{}|\\^` \"")
"""Characters that a percent-encoded value never has (RFC 3987, iunreserved has none of them)."""


def is_injective(output: Output, types: Types) -> bool:
    """Whether the text of a term tells the values that it is made from: its columns are told apart
    by fixed text that no value contains."""
    match output:
        case LiteralOutput() | ConstantOutput() | NullOutput():
            return True
        case IriOutput(parts=parts):
            encoded = len(parts) > 1
        case TemplateLiteralOutput(parts=parts) | BlankOutput(parts=parts):
            encoded = False
    columns = [n for n, part in enumerate(parts) if isinstance(part, Attribute)]
    for first, second in pairwise(columns):
        text = "".join(p for p in parts[first + 1 : second] if isinstance(p, str))
        left = parts[first]
        assert isinstance(left, Attribute)
        if isinstance(types.type_of(left), IntType):
            apart = bool(text) and not text[0].isdigit()
        else:
            apart = encoded and not _RESERVED.isdisjoint(text)
        if not apart:
            return False
    return True


NO_VALUE = "no value"
"""What NULL is."""


def term_kind(output: Output) -> str:
    """What a term is besides its text: an IRI, a blank node, a literal of a datatype or a language.
    Terms that differ in it are different, whatever their texts."""
    match output:
        case IriOutput() | ConstantOutput(is_iri=True):
            return "IRI"
        case BlankOutput():
            return "blank node"
        case NullOutput():
            return NO_VALUE
        case (
            LiteralOutput(datatype=datatype, language=language)
            | TemplateLiteralOutput(datatype=datatype, language=language)
            | ConstantOutput(datatype=datatype, language=language)
        ):
            plain = datatype is None or datatype == f"{XSD}string"
            return f"@{language}" if language else "string" if plain else datatype or ""
