"""Counterexamples against composed queries, of which each key is told by itself: DuckDB tells all
subsets of their optional tuples apart; what holds of a few rows is what DuckDB finds; and nothing
that is bounded is refuted."""

import datetime
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.keyed.compute import UnknownAnswerError
from ontoweir.checker.witness.keyed.confirm_keyed import confirm_keyed, list_ways
from ontoweir.checker.witness.keyed.find_keys import find_keys
from ontoweir.checker.witness.keyed.hold_naively import hold_naively
from ontoweir.checker.witness.refute.refute_keyed import refute_keyed
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.errors import QueryError
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle import test_asked_around, test_running_groups, test_united_parts
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import draw_data, relax, union_streams
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import CATALOG, MARKERS
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_windows_beside import At

LATEST = "(SELECT h, a, g FROM s QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1)"
SO_FAR = "(SELECT h, {} AS n FROM {} GROUP BY h)"

UNBOUNDED = """
SELECT h AS c0, AVG(a) AS c1 FROM s GROUP BY h HAVING AVG(a) > 2
SELECT h AS c0, COUNT(DISTINCT a) AS c1 FROM s GROUP BY h HAVING COUNT(DISTINCT a) > 2
SELECT h AS c0, MAX(a) - MIN(a) AS c1 FROM s GROUP BY h HAVING MAX(a) - MIN(a) > 2
SELECT x.h AS c0, x.n AS c1, y.n AS c2 FROM COUNTED AS x JOIN GREATEST AS y ON y.h = x.h
SELECT x.h AS c0, x.n AS c1 FROM COUNTED AS x LEFT JOIN r ON r.h = x.h
SELECT y.h AS c0, x.a AS c1 FROM LATEST AS x JOIN t AS y ON y.h = x.h WHERE y.ts > AGO
SELECT g AS c0, COUNT(*) AS c1 FROM LATEST AS x GROUP BY g
SELECT h AS c0, a AS c1 FROM s QUALIFY RANK() OVER (PARTITION BY h ORDER BY a DESC) <= 2
SELECT h AS c0 FROM s WHERE g = 'x' INTERSECT SELECT h FROM t WHERE a > 1
SELECT h AS c0, COUNT(*) AS c1 FROM s GROUP BY h ORDER BY c1 DESC, h LIMIT 2
SELECT COUNT(*) AS c0 FROM LATEST AS x WHERE x.g = 'x'
SELECT COUNT(*) AS c0, MAX(x.a) AS c1, AVG(x.b) AS c2 FROM s AS x WHERE NOT EXISTS LATER
SELECT SUM(x.b) AS c0 FROM s AS x WHERE NOT EXISTS LATER
SELECT COUNT(*) AS c0 FROM COUNTED AS x WHERE x.n > 2
SELECT x.g AS c0, AVG(x.a) AS c1 FROM s AS x WHERE NOT EXISTS LATER GROUP BY x.g
SELECT MAX(x.n) AS c0 FROM COUNTED AS x
SELECT x.g AS c0, AVG(x.n) AS c1 FROM MATCHED AS x GROUP BY x.g
"""
"""Over s and t whose h has no domain."""

BOUNDED = """
SELECT h AS c0, AVG(a) AS c1 FROM s WHERE ts > AGO GROUP BY h HAVING AVG(a) > 2
SELECT x.h AS c0, y.a AS c1 FROM s AS x LEFT JOIN RECENT AS y ON y.h = x.h WHERE x.ts > AGO
"""

BESIDE = "SELECT x.h, x.a, y.h AS k FROM LATEST AS x LEFT JOIN COUNTED AS y ON y.h = x.h"
EITHER = "SELECT h, a AS n FROM LATEST AS x UNION ALL SELECT h, h AS n FROM COUNTED AS y"

ENDED = """
SELECT h AS c0, n AS c1, LAG(n) OVER (PARTITION BY h ORDER BY p) AS c2 FROM BUCKETS AS x
SELECT h AS c0, COUNT(*) AS c1 FROM BUCKETS AS x WHERE n > 1 GROUP BY h
SELECT h AS c0, MAX(n) AS c1, AVG(m) AS c2 FROM BUCKETS AS x GROUP BY h HAVING MAX(n) > 1
SELECT h AS c0, SUM(n) OVER (PARTITION BY h ORDER BY p ROWS 2 PRECEDING) AS c1 FROM BUCKETS AS x
"""
"""Of groups of buckets, which are told when these have ended."""

COMPUTED = """
SELECT UPPER(g) AS c0, COUNT(*) AS c1 FROM s GROUP BY UPPER(g) HAVING COUNT(*) > 2
SELECT LEFT(g, 3) AS c0, SUM(a) AS c1 FROM s WHERE a > 2 GROUP BY LEFT(g, 3) HAVING COUNT(*) > 1
"""
"""Of keys that are computed."""

WORDS = {
    "BUCKETS": (
        "(SELECT h, TIME_BUCKET(INTERVAL '5' MICROSECOND, ts) AS p, COUNT(*) AS n, MAX(a) AS m "
        "FROM s GROUP BY h, p)"
    ),
    "LATEST": "(SELECT h, a, g FROM s QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1)",
    "COUNTED": "(SELECT h, COUNT(*) AS n FROM s GROUP BY h)",
    "GREATEST": "(SELECT h, MAX(a) AS n FROM t GROUP BY h)",
    "MATCHED": (
        "(SELECT z.h, z.g, MAX(y.a) AS n FROM s AS z JOIN t AS y "
        "ON y.h = z.h AND y.ts >= z.ts GROUP BY z.h, z.g)"
    ),
    "LATER": "(SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > x.ts)",
    "RECENT": "(SELECT h, a FROM t WHERE ts > AGO)",
    "AGO": "NOW() - INTERVAL '3' MICROSECOND",
}


def spell(texts: str) -> list[str]:
    """Queries, a line for each, with what their words stand for."""
    for word, text in WORDS.items():
        texts = texts.replace(word, text)
    return texts.strip().splitlines()


OPEN = relax(CATALOG, ("h",))
WIDE = relax(CATALOG, ("g", "h"))


def ask_ended(text: str) -> str:
    """A query of groups of buckets, of those alone that have ended, as DuckDB is asked."""
    ended = "ts < TIME_BUCKET(INTERVAL '5' MICROSECOND, NOW())"
    return text.replace("FROM s GROUP BY h, p", f"FROM s WHERE {ended} GROUP BY h, p")


@pytest.mark.parametrize("text", [*spell(UNBOUNDED), *spell(ENDED), *spell(COMPUTED)])
def test_duckdb_tells_all_subsets_apart(text: str) -> None:
    catalog = WIDE if text in spell(COMPUTED) else OPEN
    union = parse_sql(text, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.tier is Tier.UNBOUNDED
    witness = verdict.witness
    assert witness is not None
    seen = set()
    for chosen in product((False, True), repeat=witness.size):
        there = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        before = [*witness.fixed, *there]
        told = tuple(_change(text, union, before, suffix) for suffix in witness.suffixes)
        assert told not in seen
        seen.add(told)


def _change(
    text: str, union: SpjUnion, before: list[WitnessRow], suffix: tuple[WitnessRow, ...]
) -> Any:
    """What a suffix changes, by DuckDB."""
    data: dict[str, Any] = {}
    for name in (*OPEN.streams, *OPEN.relations):
        names = [c.name for c in OPEN.table(name).columns]
        rows = [r for r in (*before, *suffix) if r.table == name]
        cells = [[dict(r.values)[n] for n in names] for r in rows]
        timed = name in OPEN.streams
        data[name] = (
            [*names, "ts"] if timed else names,
            [(*c, r.step) if timed else tuple(c) for c, r in zip(cells, rows, strict=True)],
        )
    oracle, asked = At(Case(OPEN, union, data, MARKERS)), ask_ended(text)
    steps = [row.step for row in suffix if row.step is not None]
    counts = [oracle.holding(Stacked(asked, asked, ()), at) for at in (min(steps) - 1, max(steps))]
    after = Counter(counts[1])
    after.subtract(counts[0])
    return frozenset((row, n) for row, n in after.items() if n)


@pytest.mark.parametrize("text", [*spell(UNBOUNDED), *spell(ENDED)])
def test_with_a_domain_they_are_bounded(text: str) -> None:
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert check_query(union, CATALOG).plans is not None
    assert refute_keyed(union, CATALOG, Statistics()) is None


@pytest.mark.parametrize("text", spell(BOUNDED))
def test_windows_are_not_refuted(text: str) -> None:
    union = parse_sql(text, OPEN, name="q", file="q.sql")
    assert list(find_keys(union, OPEN))
    assert check_query(union, OPEN).plans is not None
    assert refute_keyed(union, OPEN, Statistics()) is None


def test_the_first_of_all_by_their_greatest_value_are_not_refuted() -> None:
    """What brings a group among them says its greatest value itself."""
    text = (
        "SELECT h AS c0, MAX(a) AS c1 FROM s GROUP BY h QUALIFY RANK() OVER (ORDER BY c1 DESC) < 3"
    )
    union = parse_sql(text, OPEN, name="q", file="q.sql")
    assert list(list_ways(union, OPEN))
    assert refute_keyed(union, OPEN, Statistics()) is None


@pytest.mark.parametrize("text", ["MAX(x.n)", "AVG(x.m)", "MAX(x.n), AVG(x.m)"])
def test_what_all_keys_say_together_is_not_refuted(text: str) -> None:
    """The greatest of the greatest values is one number; a mean of ones is 1."""
    inner = "(SELECT h, MAX(a) AS n, 1 AS m FROM s GROUP BY h)"
    union = parse_sql(f"SELECT {text} FROM {inner} AS x", OPEN, name="q", file="q.sql")
    assert list(list_ways(union, OPEN))
    assert refute_keyed(union, OPEN, Statistics()) is None


def test_means_of_values_that_differ_are_not_refuted() -> None:
    """A value may be the mean of the others, so that it may go unseen."""
    text = spell("SELECT AVG(x.a) AS c0 FROM s AS x WHERE NOT EXISTS LATER")[0]
    assert refute_keyed(parse_sql(text, OPEN, name="q", file="q.sql"), OPEN, Statistics())
    catalog = relax(OPEN, ("a",))
    keyed = replace(catalog.streams["s"], keys=(("a",),))
    catalog = replace(catalog, streams={**catalog.streams, "s": keyed})
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert refute_keyed(union, catalog, Statistics()) is None


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("SELECT h, COUNT(*) AS n FROM s GROUP BY h", True),
        ("SELECT h, COUNT(*) AS n FROM s WHERE h < 5 GROUP BY h", False),
        ("SELECT h, COUNT(*) AS n FROM s WHERE h IN (7, 8) GROUP BY h", False),
        ("SELECT h % 2 AS p, COUNT(*) AS n FROM s GROUP BY h % 2", False),
        ("SELECT h, COUNT(*) AS n FROM s GROUP BY h HAVING COUNT(*) > 3", True),
        ("SELECT h, SUM(h) AS n FROM s GROUP BY h", False),
        ("SELECT h, SUM(a) AS n FROM s GROUP BY h HAVING SUM(a) > h", False),
        ("SELECT s.a, t.a AS b FROM s JOIN t ON s.h = t.h AND s.ts < t.ts", True),
        ("SELECT s.a, t.a AS b FROM s JOIN t ON s.h <= t.h AND s.ts < t.ts", False),
        ("SELECT s.a, t.a AS b FROM s JOIN t ON s.a = t.a AND s.ts < t.ts", False),
        ("SELECT DISTINCT a FROM s WHERE h IS NOT NULL", False),
        ("SELECT DISTINCT a, h FROM s", True),
        (spell("SELECT x.h, x.a FROM LATEST AS x")[0], True),
        (spell(BESIDE)[0], True),
        (spell(f"{BESIDE} WHERE y.h < 200000 OR y.h IS NULL")[0], False),
        (spell("SELECT h, a FROM LATEST AS x UNION ALL SELECT h, n FROM COUNTED AS y")[0], True),
        (spell(f"SELECT h, n FROM ({EITHER}) AS u")[0], True),
        (spell(f"SELECT h, n FROM ({EITHER}) AS u WHERE n < 200000")[0], False),
        ("SELECT h, a FROM s QUALIFY RANK() OVER (PARTITION BY g ORDER BY ts DESC) = 1", False),
    ],
)
def test_each_key_is_told_by_itself(text: str, apart: bool) -> None:
    """Where something else than equality is asked of keys, or several are told together, it is not
    so."""
    union = parse_sql(text, OPEN, name="q", file="q.sql")
    assert bool(list(find_keys(union, OPEN))) is apart


def test_a_witness_needs_room_between_tuples_and_suffixes() -> None:
    """A window that is longer than all of a witness does not make it one."""
    text = spell(BOUNDED)[0].replace("'3' MICROSECOND", "'40' SECOND")
    union = parse_sql(text, OPEN, name="q", file="q.sql")
    contents = {"a": 3, "b": None, "g": "x", "d": None, "f": None}

    def row(number: int, step: int) -> WitnessRow:
        return WitnessRow("s", step, tuple({**contents, "h": 100 + number}.items()))

    size = 4
    near = Witness(
        size,
        (),
        tuple(row(n, n) for n in range(size)),
        tuple((row(n, 100),) for n in range(size)),
    )
    nullable = replace(
        OPEN,
        streams={
            n: replace(s, columns=tuple(replace(c, nullable=True) for c in s.columns))
            for n, s in OPEN.streams.items()
        },
    )
    assert not confirm_keyed(union, nullable, near)
    plain = spell(UNBOUNDED)[0]
    assert confirm_keyed(parse_sql(plain, nullable, name="q", file="q.sql"), nullable, near)


def make_text(random: Random) -> tuple[str, tuple[str, ...]]:
    """A composed query, and the names of its columns."""
    match random.randint(0, 2):
        case 0:
            return test_asked_around.make_text(random)
        case 1:
            return test_united_parts.make_union(random)
        case _:
            return test_running_groups.make_text(random), ("c0", "c1")


def check(seed: int) -> str:
    """What holds of random rows is what DuckDB finds; nothing that is bounded is refuted."""
    random = Random(seed)
    text, names = make_text(random)
    wide = relax(CATALOG, random.choice([("h",), ("g", "h"), ("a", "h", "g")]))
    try:
        union = parse_sql(text, wide, name="q", file="q.sql")
    except QueryError:
        return "refused"
    verdict = check_query(union, wide, disprove=False)
    witness = refute_keyed(union, wide, Statistics())
    assert witness is None or verdict.tier is Tier.UNDECIDED, (text, witness)
    done = "refuted" if witness is not None else str(verdict.tier)
    return f"{done}, {_compare(text, names, random)}"


def _compare(text: str, names: tuple[str, ...], random: Random) -> str:
    catalog, data = draw_data(random)
    catalog = replace(catalog, relations=CATALOG.relations)
    if any(None in row for row in data["r"][1]):
        return "NULL in a register"
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError:
        return "refused"
    asked = ask_ended(text)
    oracle, query = At(Case(catalog, union, data, MARKERS)), Stacked(asked, asked, names)
    rows = {
        name: [
            (
                row[-1] if name in catalog.streams else 0,
                dict(zip(of, map(_write, row), strict=False)),
            )
            for row in held
        ]
        for name, (of, held) in data.items()
    }
    begun = min(
        (row[-1] for n in "st" if n in union_streams(union) for row in data[n][1]), default=0
    )
    for at in range(begun, MARKERS):
        try:
            shown, held = hold_naively(union, catalog, rows, at)
        except UnknownAnswerError:
            return "not computed"
        place = [shown.index(n) for n in names]
        found = Counter[Any]()
        for row, count in held.items():
            found[tuple(_plain(row[p]) for p in place)] += count
        wanted = Counter(tuple(map(_plain, r)) for r in oracle.holding(query, at).elements())
        assert found == wanted, (text, at)
    return "as DuckDB"


def _write(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _plain(value: Any) -> Any:
    if isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool):
        return round(float(value), 6)
    return value


@budget(0.5)
@given(SEEDS)
def test_what_holds_is_duckdbs_and_what_is_bounded_is_not_refuted(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize("text", spell(ENDED))
def test_what_holds_of_buckets_is_duckdbs(text: str) -> None:
    names = ("c0", "c1", "c2")[: text.count(" AS c")]
    done = Counter(_compare(text, names, Random(seed)) for seed in range(10))
    assert done["as DuckDB"] > 3, done


def test_most_are_computed() -> None:
    done = Counter(check(seed).rpartition(", ")[2] for seed in range(16))
    assert done["as DuckDB"] > 5, done
