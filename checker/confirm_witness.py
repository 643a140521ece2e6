"""Confirm a witness by the relational answer, computed naively (theory §9)."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ontoweir.checker.confirm_aggregates import confirm_aggregates, confirm_medians
from ontoweir.checker.evaluate_naively import Tuple, evaluate_naively, list_matches
from ontoweir.checker.find_rank import find_rank
from ontoweir.checker.witness import Witness, WitnessRow, content_of, instance_of
from ontoweir.mappings.catalog import Catalog, Column, DecimalType, IntType, Stream
from ontoweir.rewriter.spj import SpjUnion


def confirm_witness(
    union: SpjUnion, catalog: Catalog, witness: Witness, *, ranked: bool = False
) -> bool:
    """Whether the relational answers prove that all subsets of optional tuples differ."""
    prefix = [*witness.fixed, *witness.optional]
    if not is_legal(witness, catalog):
        return False
    if any(
        r.step is not None and q.step is not None and q.step <= r.step
        for s in witness.suffixes
        for q in s
        for r in prefix
    ):
        return False
    if union.aggregation is not None:
        confirm = confirm_medians if ranked else confirm_aggregates
        return confirm(union, catalog, witness)
    if union.distinct:
        return _confirms_set(union, catalog, witness)
    return _confirms_bag(union, catalog, witness)


def _confirms_set(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    for i, suffix in enumerate(witness.suffixes):
        rest = [o for k, o in enumerate(witness.optional) if k != i]
        with_it = evaluate_naively(
            union, instance_of(catalog, [*witness.fixed, witness.optional[i], *suffix])
        )
        without = evaluate_naively(union, instance_of(catalog, [*witness.fixed, *rest, *suffix]))
        if not set(with_it) - set(without):
            return False
    return True


def _confirms_bag(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """The new results of suffix i, as a matrix over the optional tuples, have full rank, and
    they add up: no match uses two optional tuples."""
    size = len(witness.optional)
    rows: list[list[Fraction]] = []
    for suffix in witness.suffixes:
        instance: dict[str, list[Tuple]] = {}
        place: dict[int, int] = {}  # optional tuples first, then the suffix
        for number, given in enumerate([*witness.optional, *suffix, *witness.fixed]):
            content = content_of(catalog, given)
            place[id(content)] = number
            instance.setdefault(given.table, []).append(content)
        new: dict[Any, list[Fraction]] = {}
        for answer, used in list_matches(union, instance):
            numbers = {place[id(r)] for r in used}
            told = [n for n in numbers if n < size]
            if not told or not any(size <= n < size + len(suffix) for n in numbers):
                continue
            if len(told) > 1:
                return False
            new.setdefault(answer, [Fraction(0)] * size)[told[0]] += 1
        rows += new.values()
    return find_rank(rows, size) == size


def is_legal(witness: Witness, catalog: Catalog) -> bool:
    """Whether its rows are of their types, and keep everything declared, with every suffix."""
    prefix = [*witness.fixed, *witness.optional]
    return all(_is_legal(catalog, [*prefix, *suffix]) for suffix in witness.suffixes)


def _is_legal(catalog: Catalog, rows: Sequence[WitnessRow]) -> bool:
    """Whether rows satisfy everything declared: keys, references, domains, R per timestamp."""
    for name in {r.table for r in rows}:
        table, mine = catalog.table(name), [r for r in rows if r.table == name]
        if isinstance(table, Stream):
            limit = table.max_per_timestamp
            counts = Counter(r.step for r in mine)
            if limit is not None and max(counts.values()) > limit:
                return False
        for key in table.keys:
            seen = Counter(
                tuple(
                    r.step
                    if isinstance(table, Stream) and c == table.timestamp
                    else dict(r.values)[c]
                    for c in key
                )
                for r in mine
            )
            if max(seen.values()) > 1:
                return False
        for reference in table.references:
            targets = {
                tuple(dict(r.values)[c] for c in reference.to)
                for r in rows
                if r.table == reference.relation
            }
            if any(
                tuple(dict(r.values)[c] for c in reference.columns) not in targets for r in mine
            ):
                return False
        for column in table.columns:
            for r in mine:
                if not _in_domain(dict(r.values)[column.name], column):
                    return False
    return True


def _in_domain(content: Any, column: Column) -> bool:
    if isinstance(content, Fraction):
        return False
    if isinstance(column.type, IntType) and not -(2**63) <= content < 2**63:
        return False
    if isinstance(column.type, DecimalType) and abs(content) >= 10 ** (
        column.type.precision - column.type.scale
    ):
        return False
    if column.enum is not None and content not in column.enum:
        return False
    if column.minimum is not None and content < column.minimum:
        return False
    return column.maximum is None or not content > column.maximum
