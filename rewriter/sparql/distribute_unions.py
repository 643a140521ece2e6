"""Distribute joins and filters over unions: the branches of a query, each a conjunction."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import assert_never

from ontoweir.errors import QueryError
from ontoweir.rewriter.algebra.compare_filters import exclude_each_other, fix_values
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Atom,
    ClassAtom,
    Filter,
    Iri,
    Literal,
    PropertyAtom,
    Term,
    ValueFilter,
    Variable,
    atom_terms,
    filter_variables,
)
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.model.substitute_terms import substitute_terms
from ontoweir.rewriter.sparql.patterns import (
    AllOf,
    AnyOf,
    Comparison,
    Formula,
    Join,
    Negation,
    Never,
    Pattern,
    Single,
    Union,
    Untrue,
    Values,
    pattern_atoms,
    pattern_values,
)
from ontoweir.rewriter.sparql.split_cases import Case, TooManyCases, split_cases
from ontoweir.rewriter.windows.read_sparql_windows import Now

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

MAX_BRANCHES = 500
"""How many branches a query may have."""

MAX_APART = 12
"""Up to so many cases of a branch's filters are branches of their own: each is decided, and
explained, apart."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A conjunction of atoms and filters, and the variables that have fixed values."""

    atoms: tuple[Atom, ...] = ()
    filters: tuple[Filter, ...] = ()
    values: dict[Variable, Iri | Literal] = field(default_factory=dict)
    formulas: tuple[Formula, ...] = ()
    """Filters still to be split."""
    choices: tuple[AnyFilter, ...] = ()
    """Filters whose cases are not branches."""


def distribute_unions(
    pattern: Pattern,
    *,
    distinct: bool,
    make_variable: Callable[[], Variable],
    refuse: Callable[[str, str, str], QueryError],
) -> tuple[Branch, ...]:
    """The branches of a pattern, at least one: a union of conjunctions with the same matches.

    Keeps multiplicities (SPARQL 1.1 section 18.5): a match of two branches of UNION, or of two
    rows of VALUES, counts twice; a match of two alternatives of || counts once (split_cases).
    VALUES and BIND join by identity of terms, so their values are put in place of the variables.
    Branches whose filters contradict each other are left out, unless all are.

    Raises:
        QueryError: there are more than MAX_BRANCHES branches.
    """
    expander = _Distributor(distinct, refuse)
    raw = expander.branches(pattern)
    try:
        finished = [done for branch in raw for done in expander.finish(branch)]
    except TooManyCases:
        raise expander.too_many() from None
    live = [b for b in finished if not exclude_each_other(b.filters)] or finished[:1]
    if len(live) > MAX_BRANCHES:
        raise expander.too_many()
    return tuple(live) or (_never(pattern, make_variable),)


class _Distributor:
    def __init__(self, distinct: bool, refuse: Callable[[str, str, str], QueryError]) -> None:
        self.distinct, self.refuse = distinct, refuse

    def too_many(self) -> QueryError:
        return self.refuse(
            f"the query has more than {MAX_BRANCHES} branches",
            "UNION, VALUES, || and alternative paths multiply, and every branch is decided",
            "load the values as a relation and join with it, or register several queries",
        )

    def branches(self, pattern: Pattern) -> list[Branch]:
        match pattern:
            case Single(atom=atom):
                return [Branch((atom,))]
            case Values(variables=variables, rows=rows):
                return [Branch(values=dict(zip(variables, row, strict=True))) for row in rows]
            case Union(branches=parts):
                made = [b for part in parts for b in self.branches(part)]
                if len(made) > MAX_BRANCHES:
                    raise self.too_many()
                return made
            case Join(parts=parts, filters=filters, time=time):
                made = [Branch()]
                for part in parts:
                    more = self.branches(part)
                    if len(made) * len(more) > MAX_BRANCHES:
                        raise self.too_many()
                    joined = (_join(a, b) for a, b in product(made, more))
                    made = [b for b in joined if b is not None]
                return [_filter(b, filters, time) for b in made] if filters else made
            case _ as unreachable:
                assert_never(unreachable)

    def finish(self, branch: Branch) -> list[Branch]:
        """The branch with its values in place and its filters split."""
        values: dict[Term, Term] = dict(branch.values.items())
        atoms = tuple(_name_class(substitute_terms(atom, values)) for atom in branch.atoms)
        if any(isinstance(_subject(atom), Literal) for atom in atoms):
            return []  # no triple has a literal as its subject

        def split(formula: Formula) -> tuple[Case, ...]:
            return split_cases(
                formula,
                lambda f: fix_values(f, branch.values),
                disjoint=not self.distinct,
                limit=MAX_BRANCHES,
            )

        parts = [split(part) for formula in branch.formulas for part in _conjuncts(formula)]
        if not all(parts):
            return []
        if prod(map(len, parts)) <= MAX_APART:
            cases = split(AllOf(branch.formulas))
            return [Branch(atoms, case, branch.values) for case in cases]
        plain = tuple(f for (first, *more) in parts if not more for f in first)
        choices = tuple(AnyFilter(part) for part in parts if len(part) > 1)
        return [Branch(atoms, tuple(dict.fromkeys(plain)), branch.values, choices=choices)]


def _conjuncts(formula: Formula) -> Iterator[Formula]:
    """The parts of which all must hold."""
    match formula:
        case AllOf(parts=parts):
            for part in parts:
                yield from _conjuncts(part)
        case _:
            yield formula


def _join(left: Branch, right: Branch) -> Branch | None:
    """Both branches; None if they fix a variable to different terms."""
    if any(right.values.get(v, value) != value for v, value in left.values.items()):
        return None
    return Branch(
        (*left.atoms, *right.atoms),
        values={**left.values, **right.values},
        formulas=(*left.formulas, *right.formulas),
    )


def _filter(branch: Branch, filters: tuple[Formula, ...], time: Variable | None) -> Branch:
    """The branch with filters that see what it binds here: other variables are unbound."""
    bound = set(branch.values)
    for atom in branch.atoms:
        bound.update(t for t in (*atom_terms(atom), atom.time) if isinstance(t, Variable))
    if time is not None:
        bound.add(time)
    closed = tuple(_close(f, bound) for f in filters)
    return replace(branch, formulas=(*branch.formulas, *closed))


def _close(formula: Formula, bound: set[Variable]) -> Formula:
    match formula:
        case Comparison(filter=f):
            known = all(v in bound or isinstance(v, Now) for v in filter_variables(f))
            return formula if known else Never()
        case Never():
            return formula
        case Negation(part=part):
            return Negation(_close(part, bound))
        case Untrue(part=part):
            return Untrue(_close(part, bound))
        case AllOf(parts=parts):
            return AllOf(tuple(_close(p, bound) for p in parts))
        case AnyOf(parts=parts):
            return AnyOf(tuple(_close(p, bound) for p in parts))
        case _ as unreachable:
            assert_never(unreachable)


def _name_class(atom: Atom) -> Atom:
    """The atom; of a class, if a value has made it one.

    Raises:
        QueryError: the class is a variable, or a literal.
    """
    if isinstance(atom, ClassAtom) or atom.prop != _TYPE:
        return atom
    if isinstance(atom.object, Iri):
        return ClassAtom(atom.object.value, atom.subject, atom.time, atom.source)
    raise QueryError(
        "rdf:type without a class",
        why="the class of a pattern is an IRI here: which ones there are, only mappings say",
        fix="name the class; if there are several, write UNION of one pattern for each",
        source=atom.source,
    )


def _subject(atom: Atom) -> Term:
    return atom.term if isinstance(atom, ClassAtom) else atom.subject


def _never(pattern: Pattern, make_variable: Callable[[], Variable]) -> Branch:
    """A branch without matches, of a pattern that has none: a variable differs from itself."""
    atoms: list[Atom] = []
    seen: list[Variable] = []
    some: dict[Term, Term] = {}
    for part in pattern_values(pattern):
        some.update(zip(part.variables, part.rows[0], strict=True))
    for atom in pattern_atoms(pattern):
        if isinstance(atom, PropertyAtom) and atom.prop == _TYPE:
            atom = _name_class(replace(atom, object=some.get(atom.object, atom.object)))
        if isinstance(_subject(atom), Literal):
            atom = _replace_subject(atom, make_variable())
        atoms.append(atom)
        seen.extend(t for t in atom_terms(atom) if isinstance(t, Variable))
    if not seen:
        seen.append(make_variable())
        atoms[0] = _replace_subject(atoms[0], seen[0])
    values = {
        v: value
        for part in pattern_values(pattern)
        for v, value in zip(part.variables, part.rows[0], strict=True)
        if v not in seen
    }
    windows = dict.fromkeys(_list_windows(pattern))
    return Branch(tuple(atoms), (ValueFilter(seen[0], Op.NE, seen[0]), *windows), values)


def _list_windows(pattern: Pattern) -> Iterator[Filter]:
    """The comparisons with NOW() that hold of all its matches; of UNION, those of its first side,
    as all have the same."""
    match pattern:
        case Join(parts=parts, filters=filters):
            for formula in _conjuncts(AllOf(filters)):
                if isinstance(formula, Comparison) and any(
                    isinstance(v, Now) for v in filter_variables(formula.filter)
                ):
                    yield formula.filter
            for part in parts:
                yield from _list_windows(part)
        case Union(branches=(first, *_)):
            yield from _list_windows(first)
        case _:
            return


def _replace_subject(atom: Atom, variable: Variable) -> Atom:
    match atom:
        case ClassAtom():
            return replace(atom, term=variable)
        case PropertyAtom():
            return replace(atom, subject=variable)
