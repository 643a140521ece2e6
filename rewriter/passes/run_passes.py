"""The passes of semantic optimisation, in order, and what runs them.

The rules before them: hierarchies and contained assertions are compiled into the mappings
(compile_tmappings), existentials into the query (rewrite_existentials), and templates of different
shape never meet (unify_outputs).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, assert_never

from ontoweir.diagnostics import Label, Reason
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.algebra.list_domains import DomainFilter, list_domains
from ontoweir.rewriter.algebra.name_occurrences import name_occurrences
from ontoweir.rewriter.algebra.trace_steps import OnStep, TraceStep, ignore_steps, trace_steps
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.model.query import Atom, ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjQuery
from ontoweir.rewriter.passes.derive_equalities import derive_equalities
from ontoweir.rewriter.passes.explain_contradiction import explain_contradiction
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.passes.prune_disjuncts import Candidate, prune_disjuncts
from ontoweir.rewriter.passes.push_constants import push_constants
from ontoweir.rewriter.passes.remove_redundant_occurrences import remove_redundant_occurrences
from ontoweir.rewriter.passes.remove_reference_joins import remove_reference_joins
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.ucq.find_disjointness import find_disjointness
from ontoweir.rewriter.ucq.show_ucq import show_atom


@dataclass(frozen=True, slots=True)
class QueryPass:
    """Drops a conjunctive query, before it is unfolded, for a reason."""

    name: str
    reason: Callable[[ConjunctiveQuery, Hierarchy], str | None]


@dataclass(frozen=True, slots=True)
class DisjunctPass:
    """Changes a disjunct into one with the same rows; `sets`: with the same set of rows only."""

    name: str
    change: Callable[[SpjQuery, Catalog], SpjQuery]
    sets: bool = False


@dataclass(frozen=True, slots=True)
class DropPass:
    """Drops a disjunct without rows, for a reason."""

    name: str
    reason: Callable[[SpjQuery, Catalog], str | None]


@dataclass(frozen=True, slots=True)
class UnionPass:
    """Drops disjuncts that others make redundant."""

    name: str
    prune: Callable[..., tuple[Candidate, ...]]


Pass: TypeAlias = QueryPass | DisjunctPass | DropPass | UnionPass

PASSES: tuple[Pass, ...] = (
    QueryPass("disjointness axioms", find_disjointness),
    DisjunctPass("equalities propagated", propagate_equalities),
    DisjunctPass("equalities derived", derive_equalities),  # functional dependencies see more
    DisjunctPass("self-joins on keys", remove_self_joins),  # functional dependencies: key → row
    DisjunctPass("joins on references", remove_reference_joins),
    DisjunctPass("redundant occurrences", remove_redundant_occurrences, sets=True),
    DropPass("contradictions", find_contradiction),  # declared domains among them
    UnionPass("contained disjuncts", prune_disjuncts),
    DisjunctPass("constants pushed", push_constants),
    DisjunctPass("names", name_occurrences),
)
"""All passes, in order. Each keeps the rows and their multiplicities; under bag semantics
"redundant occurrences" is left out, and "contained disjuncts" only drops what would count the same
rows twice.

Declared domains become filters last, where SQL is printed (DOMAINS): the checker reads them in the
catalog and says that a verdict rests on them, which filters would hide.
"""

DOMAINS = "declared domains"
"""The name of the step that list_domains takes in the trace."""


def excluded_by(
    query: ConjunctiveQuery, tbox: Hierarchy, *, skip: frozenset[str] = frozenset()
) -> TraceStep | None:
    """The step of the first pass that drops a conjunctive query; None if none does."""
    for rule in PASSES:
        if isinstance(rule, QueryPass) and rule.name not in skip:
            reason = rule.reason(query, tbox)
            if reason is not None:
                excludes = partial(_explain_atoms, query, rule, tbox)
                subject, did = f"branch {query.branch + 1}", f"dropped: {reason}"
                return TraceStep(rule.name, subject, did, excludes)
    return None


def _explain_atoms(query: ConjunctiveQuery, rule: QueryPass, tbox: Hierarchy) -> Reason:
    """Why a query is dropped, and the atoms that it takes for that."""
    needed = query.atoms
    for atom in query.atoms:
        rest = tuple(a for a in needed if a is not atom)
        if rule.reason(replace(query, atoms=rest), tbox) is not None:
            needed = rest
    why = rule.reason(replace(query, atoms=needed), tbox)
    return Reason(why or "", because=tuple(map(_show_atom, needed)))


def _show_atom(atom: Atom) -> Reason:
    text = show_atom(atom)
    return Reason(text, None if atom.source is None else Label("query", atom.source, text))


def run_passes(
    candidates: Iterable[Candidate],
    catalog: Catalog,
    *,
    distinct: bool,
    skip: frozenset[str] = frozenset(),
    on_step: OnStep = ignore_steps,
    on_progress: OnProgress = ignore_progress,
) -> tuple[SpjQuery, ...]:
    """The disjuncts after all passes but those whose names are in `skip`."""
    disjuncts: Iterable[Candidate] = candidates
    for rule in PASSES:
        if rule.name in skip:
            continue
        match rule:
            case QueryPass():
                pass  # it has run before unfolding
            case DisjunctPass(sets=True) if not distinct:
                pass
            case DisjunctPass():
                disjuncts = _change(rule, disjuncts, catalog, on_step)
            case DropPass():
                disjuncts = _drop(rule, disjuncts, catalog, on_step)
            case UnionPass(prune=prune):
                disjuncts = prune(
                    tuple(disjuncts),
                    catalog,
                    distinct=distinct,
                    on_step=on_step,
                    on_progress=on_progress,
                )
            case _ as unreachable:
                assert_never(unreachable)
    final = tuple(disjuncts)
    for place, candidate in enumerate(final, 1):
        if DOMAINS not in skip and (domains := list_domains(candidate.query, catalog)):
            on_step(TraceStep(DOMAINS, f"disjunct {candidate.number}", f"with {_join(domains)}"))
        on_step(TraceStep("result", f"disjunct {candidate.number}", f"is SQL {place}"))
    return tuple(candidate.query for candidate in final)


def _join(domains: Sequence[DomainFilter]) -> str:
    return ", ".join(map(str, domains))


def _change(
    rule: DisjunctPass, candidates: Iterable[Candidate], catalog: Catalog, on_step: OnStep
) -> Iterator[Candidate]:
    for candidate in candidates:
        made = rule.change(candidate.query, catalog)
        for step in trace_steps(rule.name, candidate.number, candidate.query, made):
            on_step(step)
        yield replace(candidate, query=made)


def _drop(
    rule: DropPass, candidates: Iterable[Candidate], catalog: Catalog, on_step: OnStep
) -> Iterator[Candidate]:
    for candidate in candidates:
        reason = rule.reason(candidate.query, catalog)
        if reason is None:
            yield candidate
        else:
            did = f"dropped: {reason}"
            excludes = partial(explain_contradiction, candidate.query, catalog, rule.reason)
            on_step(TraceStep(rule.name, f"disjunct {candidate.number}", did, excludes))


def pass_names() -> Sequence[str]:
    """The names of the passes, in order."""
    return tuple(rule.name for rule in PASSES)
