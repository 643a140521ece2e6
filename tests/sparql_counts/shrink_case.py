"""Make a case that fails smaller, as long as it fails."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from tests.sparql_counts.case import Branch, Case, Query

T = TypeVar("T")


def shrink_case(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case from which nothing can be taken: it fails, and without any one part it does not.

    Args:
        case: one that fails.
        fails: whether a case fails.
    """
    smaller = next((c for c in _list_smaller(case) if fails(c)), None)
    return case if smaller is None else shrink_case(smaller, fails)


def _list_smaller(case: Case) -> Iterator[Case]:
    """The case without one of its parts, the large ones first."""
    for i in range(len(case.maps)):
        yield replace(case, maps=_without(case.maps, i))
    for i, table in enumerate(case.tables):
        used = any(f" {table.name} " in f" {m.source.replace('.', ' ')} " for m in case.maps)
        if not used and not any(table.name == r for t in case.tables for _, r, _ in t.references):
            yield replace(case, tables=_without(case.tables, i))
    for name, rows in case.rows.items():
        for i in range(len(rows)):
            yield replace(case, rows={**case.rows, name: _without(rows, i)})
    for query in _list_queries(case.query):
        yield replace(case, query=query)
    for i in range(len(case.axioms)):
        yield replace(case, axioms=_without(case.axioms, i))
    for i in range(len(case.facts)):
        yield replace(case, facts=_without(case.facts, i))
    for i, made in enumerate(case.maps):
        parts = [
            *(replace(made, classes=_without(made.classes, j)) for j in range(len(made.classes))),
            *(replace(made, objects=_without(made.objects, j)) for j in range(len(made.objects))),
        ]
        for part in parts:
            yield replace(case, maps=(*case.maps[:i], part, *case.maps[i + 1 :]))
    for i, table in enumerate(case.tables):
        for fewer in (
            replace(table, references=()),
            replace(table, ranges=()),
            replace(table, keys=()),
        ):
            if fewer != table:
                yield replace(case, tables=(*case.tables[:i], fewer, *case.tables[i + 1 :]))


def _list_queries(query: Query) -> Iterator[Query]:
    if len(query.branches) > 1:
        for i in range(len(query.branches)):
            yield replace(query, branches=_without(query.branches, i))
    for i, branch in enumerate(query.branches):
        for smaller in _list_branches(branch):
            branches = (*query.branches[:i], smaller, *query.branches[i + 1 :])
            yield replace(query, branches=branches)
    for i, name in enumerate(query.head):
        if len(query.head) > 1:
            group = tuple(g for g in query.group if g != name)
            yield replace(query, head=_without(query.head, i), group=group)


def _list_branches(branch: Branch) -> Iterator[Branch]:
    if len(branch.atoms) > 1:
        for i in range(len(branch.atoms)):
            yield replace(branch, atoms=_without(branch.atoms, i))
    for i in range(len(branch.lines)):
        yield replace(branch, lines=_without(branch.lines, i))
    for i, atom in enumerate(branch.atoms):
        if len(atom.predicates) > 1:
            for j in range(len(atom.predicates)):
                fewer = replace(atom, predicates=_without(atom.predicates, j))
                yield replace(branch, atoms=(*branch.atoms[:i], fewer, *branch.atoms[i + 1 :]))


def _without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]
