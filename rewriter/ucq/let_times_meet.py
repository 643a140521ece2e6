"""Reads several times of a conjunctive query as one."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from ontoweir.rewriter.model.query import (
    AnyFilter,
    ConjunctiveQuery,
    Filter,
    Term,
    TimeFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.model.substitute_terms import substitute_filter, substitute_terms


def let_times_meet(
    query: ConjunctiveQuery, meetings: Sequence[frozenset[Variable]]
) -> ConjunctiveQuery | None:
    """The solutions of a query in which some of its times are equal; None if filters exclude that.

    Args:
        query: not one that reads answers of others (`inner`), whose times have names of their own.
        meetings: times of GRAPHs, those of each set are equal.
    """
    mapping: dict[Term, Term] = {}
    for meeting in meetings:
        together = {mapping.get(time, time) for time in meeting}
        first = min((t for t in together if isinstance(t, Variable)), key=lambda t: t.name)
        mapping = {old: first if new in together else new for old, new in mapping.items()}
        mapping |= dict.fromkeys((*meeting, *together), first)
    filters = [_reduce(substitute_filter(f, mapping)) for f in query.filters]
    choices: list[AnyFilter] = []
    for choice in query.choices:
        cases = _reduce_choice(choice, mapping)
        if not cases:
            return None
        if len(cases) == 1:
            filters += cases[0]
        elif () not in cases:
            choices.append(AnyFilter(tuple(cases)))
    if False in filters:
        return None
    return replace(
        query,
        head=tuple(_rename(v, mapping) for v in query.head),
        atoms=tuple(
            replace(
                substitute_terms(atom, mapping),
                time=None if atom.time is None else _rename(atom.time, mapping),
            )
            for atom in query.atoms
        ),
        filters=tuple(dict.fromkeys(f for f in filters if not isinstance(f, bool))),
        choices=tuple(choices),
        buckets=tuple(replace(b, time=_rename(b.time, mapping)) for b in query.buckets),
    )


def _rename(variable: Variable, mapping: dict[Term, Term]) -> Variable:
    renamed = mapping.get(variable, variable)
    assert isinstance(renamed, Variable)
    return renamed


def _reduce(f: Filter) -> Filter | bool:
    """Whether a comparison of a time with itself holds; any other as it is."""
    if not isinstance(f, TimeFilter) or f.left != f.right:
        return f
    return {
        Op.EQ: not f.offset,
        Op.NE: bool(f.offset),
        Op.LT: f.offset > timedelta(0),
        Op.LE: f.offset >= timedelta(0),
        Op.GT: f.offset < timedelta(0),
        Op.GE: f.offset <= timedelta(0),
    }[f.op]


def _reduce_choice(choice: AnyFilter, mapping: dict[Term, Term]) -> list[tuple[Filter, ...]]:
    """The cases that are left of a choice, without what always holds."""
    cases = [[_reduce(substitute_filter(f, mapping)) for f in case] for case in choice.cases]
    return [tuple(f for f in c if not isinstance(f, bool)) for c in cases if False not in c]
