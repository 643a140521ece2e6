"""What is a witness against an aggregate, and what only looks like one."""

from itertools import combinations
from random import Random

import pytest

from ontoweir.checker.witness.confirm.confirm_aggregates import _counts_one
from ontoweir.checker.witness.confirm.confirm_witness import confirm_witness
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql

_CATALOG = Catalog(
    {
        name: Stream(
            name,
            DataSource("parquet", None),
            "ts",
            1,
            9,
            (Column("a", IntType()), Column("b", IntType())),
        )
        for name in ("s", "t")
    }
)


def _confirm(sql: str, values: list[tuple[int, int]], later: list[list[tuple[int, int]]]) -> bool:
    """Optional tuples of s with values (a, b), and suffixes of tuples of t."""

    def row(table: str, step: int, ab: tuple[int, int]) -> WitnessRow:
        return WitnessRow(table, step, (("a", ab[0]), ("b", ab[1])))

    optional = tuple(row("s", i, ab) for i, ab in enumerate(values))
    suffixes = tuple(tuple(row("t", 20, ab) for ab in suffix) for suffix in later)
    union = parse_sql(sql, _CATALOG, name="q", file="q.sql")
    return confirm_witness(union, _CATALOG, Witness(len(values), (), optional, suffixes))


_POWERS = [(1, 1), (2, 2), (4, 3), (8, 4)]
_SAME = [[(0, 9)]] * 4
_STAIRS = [[(0, i + 2)] for i in range(4)]


@pytest.mark.parametrize("function", ["SUM", "AVG", "MEDIAN", "COUNT", "MIN", "MAX"])
def test_one_number_that_differs_for_all_subsets_is_one_unit(function: str) -> None:
    """The sum of powers of two tells all subsets apart, and is kept in one place."""
    sql = f"SELECT {function}(s.a) AS n FROM s, t WHERE s.ts < t.ts AND s.b < t.b"
    assert not _confirm(sql, _POWERS, _SAME)


@pytest.mark.parametrize("function", ["SUM", "AVG", "COUNT", "MAX"])
def test_suffixes_that_show_one_more_tuple_each(function: str) -> None:
    sql = f"SELECT {function}(s.a) AS n FROM s, t WHERE s.ts < t.ts AND s.b < t.b"
    assert _confirm(sql, _POWERS, _STAIRS)


def test_extremes_need_the_right_order() -> None:
    """The least of what each suffix shows is the first tuple's, whichever suffix comes."""
    sql = "SELECT MIN(s.a) AS n FROM s, t WHERE s.ts < t.ts AND s.b < t.b"
    assert not _confirm(sql, _POWERS, _STAIRS)
    assert _confirm(sql, [(-a, b) for a, b in _POWERS], _STAIRS)


def test_an_average_of_equal_values_tells_nothing() -> None:
    sql = "SELECT AVG(s.a) AS n FROM s, t WHERE s.ts < t.ts AND s.b < t.b"
    same = [(5, b) for _, b in _POWERS]
    assert not _confirm(sql, same, _STAIRS)
    assert _confirm(sql.replace("AVG", "SUM"), same, _STAIRS)


def test_zero_adds_nothing_to_a_sum() -> None:
    sql = "SELECT SUM(s.a) AS n FROM s, t WHERE s.ts < t.ts AND s.b < t.b"
    assert not _confirm(sql, [(0, b) for _, b in _POWERS], _STAIRS)


def test_a_match_of_two_optional_tuples_is_no_sum() -> None:
    sql = "SELECT SUM(x.a) AS n FROM s AS x, s AS y, t WHERE x.b < t.b AND y.b < t.b"
    assert not _confirm(sql, _POWERS, _STAIRS)


def _sets(random: Random, most: int) -> set[frozenset[int]]:
    """Some sets of four optional tuples, most of them of one."""
    return {
        frozenset(random.sample(range(4), random.choice([0, 1, 1, 1, 2, 2, 3])))
        for _ in range(random.randint(0, most))
    }


def _add(
    there: frozenset[int], known: list[tuple[set[frozenset[int]], set[frozenset[int]]]]
) -> int:
    """How many values are new after a suffix, where some optional tuples are there."""
    return sum(
        any(used <= there for used in after) and not any(used <= there for used in before)
        for before, after in known
    )


def test_a_number_that_changes_exactly_where_a_tuple_is_there() -> None:
    """Or where it is not. What is new whatever is there adds to the number: then a tuple adds the
    same whatever else is there. Compared with all subsets of four tuples."""
    subsets = [frozenset(c) for n in range(5) for c in combinations(range(4), n)]
    found = {(told, always): 0 for told in (True, False) for always in (True, False)}
    for seed in range(12_000):
        random = Random(seed)
        known = []
        for _ in range(random.randint(1, 3)):
            before = _sets(random, 2)
            known.append((before, before | _sets(random, 2)))
        told, least = _counts_one(known, 0), min(_add(s, known) for s in subsets)
        found[told, bool(least)] += 1
        if not told:
            continue
        added = {s: _add(s, known) - least for s in subsets}
        there = {bool(n) == (0 in s) for s, n in added.items()}
        assert len(there) == 1, seed
        assert not least or len({*added.values()}) == 2, seed
    assert min(found.values()) > 20, found
