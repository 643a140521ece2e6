"""Conditions of HAVING, as they are written."""

from dataclasses import dataclass
from typing import TypeAlias

from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

Tokens = tuple[SparqlToken, ...]


@dataclass(frozen=True, slots=True)
class State:
    """`GRAPH i { triples }`: what the state i has; `triples` with the braces."""

    index: SparqlToken
    triples: Tokens


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison of values, or of indices."""

    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Both:
    """AND, in which all parts hold; of OR (`any`) one does."""

    parts: "tuple[Condition, ...]"
    any: bool = False


@dataclass(frozen=True, slots=True)
class Denied:
    """NOT."""

    part: "Condition"
    token: SparqlToken


@dataclass(frozen=True, slots=True)
class Quantified:
    """`EXISTS i IN SEQ ?x ( … )`; FORALL (`all`) has IF (`given`) and THEN (`body`)."""

    token: SparqlToken
    indices: Tokens
    variables: Tokens
    body: "Condition"
    given: "Condition | None" = None
    all: bool = False


Condition: TypeAlias = State | Compared | Both | Denied | Quantified


def is_plain(condition: Condition) -> bool:
    """Whether it is made of comparisons alone."""
    match condition:
        case Compared():
            return True
        case Both(parts=parts):
            return all(map(is_plain, parts))
        case Denied(part=part):
            return is_plain(part)
        case State() | Quantified():
            return False


def named(tokens: Tokens) -> frozenset[str]:
    """The variables among tokens."""
    return frozenset(t.text[1:] for t in tokens if t.kind == "var")


def bound(condition: Condition) -> frozenset[str]:
    """The variables, and indices (`i`), that have values wherever the condition holds, those that
    it quantifies left out."""
    match condition:
        case State(index=index, triples=triples):
            return named(triples) | {index.text}
        case Both(parts=parts, any=True):
            return frozenset.intersection(*map(bound, parts))
        case Both(parts=parts):
            return frozenset().union(*map(bound, parts))
        case Quantified(all=False, body=body):
            return bound(body) - _own(condition)
        case Compared() | Denied() | Quantified():
            return frozenset()


def free(condition: Condition) -> frozenset[str]:
    """The variables, and indices, that it asks of, those that it quantifies left out."""
    match condition:
        case State(index=index, triples=triples):
            return named(triples) | {index.text}
        case Compared(tokens=tokens):
            return named(tokens) | {t.text for t in tokens if t.kind == "word"}
        case Both(parts=parts):
            return frozenset().union(*map(free, parts))
        case Denied(part=part):
            return free(part)
        case Quantified(body=body, given=given):
            inside = free(body) | (frozenset() if given is None else free(given))
            return inside - _own(condition)


def _own(condition: Quantified) -> frozenset[str]:
    return named(condition.variables) | {t.text for t in condition.indices}
