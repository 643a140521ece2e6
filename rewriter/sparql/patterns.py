"""The patterns of a query as a tree: joins and unions of atoms, VALUES, and FILTER formulas."""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ontoweir.errors import Source
from ontoweir.rewriter.model.query import (
    Atom,
    Filter,
    Iri,
    Literal,
    Variable,
    atom_terms,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of variables that are bound."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Never:
    """An error, as of a comparison with what is unbound: neither it nor its negation holds."""


@dataclass(frozen=True, slots=True)
class AllOf:
    """All parts hold (&&)."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A part holds (||)."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """The part is false (!)."""

    part: "Formula"


@dataclass(frozen=True, slots=True)
class Untrue:
    """The part is false, or an error: COALESCE(part, false) is false."""

    part: "Formula"


Formula: TypeAlias = Comparison | Never | AllOf | AnyOf | Negation | Untrue
"""What a FILTER says."""


@dataclass(frozen=True, slots=True)
class Single:
    """An atom."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES, or BIND of a constant: each row gives values to all variables."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Iri | Literal, ...], ...]
    source: Source


@dataclass(frozen=True, slots=True)
class Join:
    """A group: all parts, then its filters. `time`: of the GRAPH around it, which filters see."""

    parts: tuple["Pattern", ...]
    filters: tuple[Formula, ...] = ()
    time: Variable | None = None


@dataclass(frozen=True, slots=True)
class Union:
    """Any branch; a match of two branches counts twice."""

    branches: tuple["Pattern", ...]


Pattern: TypeAlias = Single | Values | Join | Union
"""A part of a WHERE clause."""


def pattern_atoms(pattern: Pattern) -> tuple[Atom, ...]:
    """All atoms of a pattern, in order."""
    match pattern:
        case Single(atom=atom):
            return (atom,)
        case Values():
            return ()
        case Join(parts=parts) | Union(branches=parts):
            return tuple(atom for part in parts for atom in pattern_atoms(part))
        case _ as unreachable:
            assert_never(unreachable)


def pattern_values(pattern: Pattern) -> tuple[Values, ...]:
    """All VALUES of a pattern, in order."""
    match pattern:
        case Single():
            return ()
        case Values():
            return (pattern,)
        case Join(parts=parts) | Union(branches=parts):
            return tuple(values for part in parts for values in pattern_values(part))
        case _ as unreachable:
            assert_never(unreachable)


def bound_variables(pattern: Pattern) -> frozenset[Variable]:
    """The variables, values and times, that some branch of a pattern binds."""
    bound = {v for values in pattern_values(pattern) for v in values.variables}
    for atom in pattern_atoms(pattern):
        bound.update(t for t in atom_terms(atom) if isinstance(t, Variable))
        if atom.time is not None:
            bound.add(atom.time)
    return frozenset(bound)


def holds_at(pattern: Pattern, time: Variable) -> bool:
    """Whether every branch has an atom at a time."""
    match pattern:
        case Single(atom=atom):
            return atom.time == time
        case Values():
            return False
        case Join(parts=parts):
            return any(holds_at(part, time) for part in parts)
        case Union(branches=parts):
            return all(holds_at(part, time) for part in parts)
        case _ as unreachable:
            assert_never(unreachable)


def formula_filters(formula: Formula) -> tuple[Filter, ...]:
    """All comparisons of a formula, in order."""
    match formula:
        case Comparison(filter=filter_):
            return (filter_,)
        case Never():
            return ()
        case Negation(part=part) | Untrue(part=part):
            return formula_filters(part)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return tuple(f for part in parts for f in formula_filters(part))
        case _ as unreachable:
            assert_never(unreachable)
