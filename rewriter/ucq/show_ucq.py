"""The whole rewriting of a query as a minimal union of conjunctive queries, and its text."""

import re
from collections.abc import Callable

from ontoweir.ontology.tbox import TBox
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    Iri,
    Term,
    TimeFilter,
    Variable,
    filter_variables,
)
from ontoweir.rewriter.model.work_budget import WorkBudget
from ontoweir.rewriter.ucq.expand_hierarchy import expand_hierarchy
from ontoweir.rewriter.ucq.fix_constants import fix_constants
from ontoweir.rewriter.ucq.minimise_ucq import minimise_ucq
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials

MAX_REWRITINGS = 500_000
"""How many disjuncts may be made of a query, before they are minimised."""


def show_ucq(
    query: ConjunctiveQuery, tbox: TBox, *, on_progress: OnProgress = ignore_progress
) -> tuple[ConjunctiveQuery, ...]:
    """The minimal union of conjunctive queries that finds the certain answers in plain data.

    Raises:
        QueryError: the hierarchy makes more than MAX_REWRITINGS disjuncts.
    """
    rewritten = rewrite_existentials(fix_constants(query), tbox, on_progress=on_progress)
    budget = WorkBudget(
        "disjuncts in its UCQ",
        MAX_REWRITINGS,
        "the choices of subclasses and subproperties multiply with its patterns",
        "show the SQL instead (--show sql), which has the hierarchy in its mappings; or ask for "
        "narrower classes",
        query.source,
        on_progress,
    )
    expanded = (d for q in rewritten for d in expand_hierarchy(q, tbox))
    return minimise_ucq(budget.over(expanded), on_progress=on_progress)


def format_cq(cq: ConjunctiveQuery) -> str:
    """`q(?x) :- :A(?x)@?t, :p(?x, _), ?t > ?u`; `_` is a variable that occurs once."""
    terms = [t for a in cq.atoms for t in _terms(a)]
    shown = {v.name for v in cq.head}
    for f in cq.filters:
        shown |= {v.name for v in filter_variables(f)}
    shown |= {v.name for choice in cq.choices for v in choice.variables}
    lonely = {
        t.name
        for t in terms
        if isinstance(t, Variable) and terms.count(t) == 1 and t.name not in shown
    }

    def show(term: Term) -> str:
        if isinstance(term, Variable):
            return "_" if term.name in lonely else f"?{term.name}"
        return _show_constant(term)

    body = [show_atom(atom, show) for atom in cq.atoms]
    body.extend(_show_filter(f) for f in cq.filters)
    body.extend(_show_choice(choice) for choice in cq.choices)
    fixed = dict(cq.constants)
    head = ", ".join(
        f"?{v.name}" + (f" = {_show_constant(fixed[v])}" if v in fixed else "") for v in cq.head
    )
    return f"{cq.name}({head}) :- {', '.join(body)}"


def show_atom(atom: Atom, show: Callable[[Term], str] | None = None) -> str:
    """`:A(?x)@?t`. `show`: how its terms are shown."""
    show = show or (lambda t: f"?{t.name}" if isinstance(t, Variable) else _show_constant(t))
    name = atom.cls if isinstance(atom, ClassAtom) else atom.prop
    text = f"{_local(name)}({', '.join(show(t) for t in _terms(atom))})"
    at = "" if atom.time is None else f"@?{atom.time.name}"
    return text + at + "@always" * atom.always


def _terms(atom: Atom) -> tuple[Term, ...]:
    return (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)


def _local(iri: str) -> str:
    """`:Fragment`, or the IRI in angle brackets if it has none."""
    local = re.search(r"[#/:]([^#/:]+)$", iri)
    return f":{local[1]}" if local else f"<{iri}>"


def _show_constant(term: Term) -> str:
    if isinstance(term, Iri):
        return f"<{term.value}>"
    assert not isinstance(term, Variable)
    text = f'"{term.lexical}"'
    if term.language:
        return f"{text}@{term.language}"
    return f"{text}^^{_local(term.datatype)}" if term.datatype else text


def _show_choice(choice: AnyFilter) -> str:
    return f"({' || '.join(' && '.join(map(_show_filter, case)) for case in choice.cases)})"


def _show_filter(f: Filter) -> str:
    right = f"?{f.right.name}" if isinstance(f.right, Variable) else _show_constant(f.right)
    offset = ""
    if isinstance(f, TimeFilter):
        seconds = f.offset.total_seconds()
        if seconds:
            offset = f" {'+' if seconds > 0 else '-'} {abs(f.offset)}"
    elif f.offset.strip("-+0."):
        offset = f" - {f.offset[1:]}" if f.offset.startswith("-") else f" + {f.offset}"
    return f"?{f.left.name} {f.op.value} {right}{offset}"
