"""A disjunct in orders of its occurrences that do not hang on how it is written."""

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from ontoweir.rewriter.model.spj import (
    Compare,
    Condition,
    Constant,
    IsNull,
    NotNull,
    OneOf,
    SpjQuery,
    output_attributes,
)


def canonical_orders(query: SpjQuery) -> Iterator[SpjQuery]:
    """The same disjunct, its occurrences sorted by what is said of them, and the other way round.

    Layouts are planned member by member, so a witness may be found in one order and not in another.
    Occurrences are told apart by colour refinement: by table and outputs, then by how they are
    compared with those that were told apart before. What stays alike keeps its order.
    """
    colours = {o.alias: repr((o.table, _shown(query, o.alias))) for o in query.occurrences}
    for _ in query.occurrences:
        said: dict[str, list[str]] = {alias: [] for alias in colours}
        for condition in query.conditions:
            for alias, text in _sides(condition, colours):
                said[alias].append(text)
        finer = {a: repr((colours[a], sorted(texts))) for a, texts in said.items()}
        ranks = {text: f"{n:04d}" for n, text in enumerate(sorted(set(finer.values())))}
        colours = {alias: ranks[text] for alias, text in finer.items()}
    ordered = sorted(query.occurrences, key=lambda o: colours[o.alias])
    conditions = sorted(query.conditions, key=lambda c: sorted(t for _, t in _sides(c, colours)))
    for occurrences in (tuple(ordered), tuple(reversed(ordered))):
        yield replace(query, occurrences=occurrences, conditions=tuple(conditions))


def _shown(query: SpjQuery, alias: str) -> list[tuple[str, str]]:
    """Which columns of an occurrence are shown, as which variables."""
    return [
        (name, a.column)
        for name, output in query.outputs
        for a in output_attributes(output)
        if a.alias == alias
    ]


def _sides(condition: Condition, colours: dict[str, str]) -> list[tuple[str, str]]:
    """By occurrence, what a condition says of it; either way round it says the same."""
    match condition:
        case NotNull(attribute=attribute):
            return [(attribute.alias, f"{attribute.column} not null")]
        case IsNull(attribute=attribute):
            return [(attribute.alias, f"{attribute.column} null")]
        case OneOf(attribute=attribute, values=values):
            return [(attribute.alias, f"{attribute.column} in {sorted(map(repr, values))}")]
        case Compare(left=left, op=op, right=right, offset=offset):
            if isinstance(right, Constant):
                return [(left.alias, f"{left.column} {op} {right.value!r}")]
            return [
                (left.alias, f"{left.column} {op} {colours[right.alias]}.{right.column} {offset}"),
                (
                    right.alias,
                    f"{right.column} {op.flipped()} {colours[left.alias]}.{left.column} {-offset}",
                ),
            ]
        case _ as unreachable:
            assert_never(unreachable)
