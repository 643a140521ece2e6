"""What a condition says is not 0."""

from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.model.query import Literal, Operation, TermExpression

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_CASTS = (XSD + "double", XSD + "decimal")
_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "!=": "="}


def find_nonzero(condition: TermExpression, *, holds: bool) -> frozenset[TermExpression]:
    """The expressions that are not 0 where a condition holds, or where it does not.

    Args:
        condition: of SPARQL.
        holds: whether it does.
    """
    if not isinstance(condition, Operation):
        return frozenset()
    name, arguments = condition.name, condition.arguments
    if name == "!":
        return find_nonzero(arguments[0], holds=not holds)
    if name == ("&&" if holds else "||"):
        return frozenset().union(*(find_nonzero(a, holds=holds) for a in arguments))
    if name not in _NEGATED:
        return frozenset()
    sign, (one, other) = name if holds else _NEGATED[name], arguments
    if isinstance(one, Literal):
        sign, one, other = _FLIPPED[sign], other, one
    limit = _read_number(other)
    if limit is None or isinstance(one, Literal):
        return frozenset()
    apart = {
        "!=": limit == 0,
        "=": limit != 0,
        ">": limit >= 0,
        ">=": limit > 0,
        "<": limit <= 0,
        "<=": limit < 0,
    }
    return frozenset({one}) if apart[sign] else frozenset()


def drop_casts(expression: TermExpression) -> TermExpression:
    """An expression that is 0 where another one is, which is cast to xsd:double or xsd:decimal."""
    match expression:
        case Operation(name=name, arguments=(inner,)) if name in _CASTS:
            return drop_casts(inner)
        case _:
            return expression


def _read_number(term: TermExpression) -> float | None:
    """The number that a literal is (None: it is none)."""
    if not isinstance(term, Literal) or term.language is not None:
        return None
    kinds = ("integer", "decimal", "double", "float")
    if term.datatype is None or not term.datatype.endswith(kinds):
        return None
    try:
        return float(term.lexical)
    except ValueError:
        return None
