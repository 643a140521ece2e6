"""Rows with the first numbers, against all rows numbered anew after each time."""

from collections import Counter
from itertools import groupby
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.runtime.numbered.keep_first import keep_first
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY

SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("v", pa.float64()),
        ("n", pa.int64()),
        (AT, INSTANT),
        (MULTIPLICITY, pa.int64()),
    ]
)


def number(rows: list[tuple[Any, Any, int]], first: FirstRows) -> Counter[Any]:
    """What holds of rows (key, value, time): by the definitions of SQL."""
    _, down, nulls = first.order[0]
    held: Counter[Any] = Counter()
    for key in {k for k, _, _ in rows}:
        mine = [(v, t) for k, v, t in rows if k == key]

        def place(value: Any) -> tuple[int, float]:
            if value is None:
                return (0 if nulls else 2), 0.0
            return 1, -value if down else value

        mine.sort(key=lambda row: (place(row[0]), row[1]))
        places = [place(v) for v, _ in mine]
        for n, (value, _) in enumerate(mine):
            match first.numbering:
                case Numbering.ROWS:
                    got = n + 1
                case Numbering.RANKS:
                    got = places.index(places[n]) + 1
                case Numbering.DENSE:
                    got = len(set(places[: n + 1]))
            if got <= first.limit:
                held[key, value, got if first.number else 1] += 1
    return held


def tabulate(rows: list[tuple[Any, Any, int]]) -> pa.Table:
    counted = Counter(rows)
    columns = [
        *([row[c] for row in counted] for c in (0, 1)),
        [1] * len(counted),
        [row[2] for row in counted],
        list(counted.values()),
    ]
    return pa.table(columns, schema=SCHEMA)


@pytest.mark.parametrize("numbering", Numbering)
@pytest.mark.parametrize("shown", [None, "n"])
def test_as_numbered_anew(numbering: Numbering, shown: str | None) -> None:
    for seed in range(30):
        random = Random(seed)
        order = (("v", random.random() < 0.5, random.random() < 0.5),)
        first = FirstRows(numbering, random.randint(1, 3), order, None, shown)
        standing = Standing(("k",) if random.random() < 0.8 else (), first=first)
        times = sorted(random.randrange(40) for _ in range(random.randint(1, 120)))
        values = [None, 0.0, -0.0, 1.5, -2.0, *(random.random() * 10 for _ in range(8))]
        drawn = [random.choice(values) for _ in times]  # equal rows are equal in all columns
        keys = [random.choice("xyz") if standing.key else "x" for _ in times]
        rows = list(zip(keys, drawn, times, strict=True))
        held, holds, done = None, Counter[Any](), list[tuple[Any, Any, int]]()
        while len(done) < len(rows):
            cut = random.choice(times)
            some = [r for r in rows[len(done) :] if r[2] <= cut] or rows[len(done) :]
            found = keep_first(standing, held, tabulate(some))
            changes = [
                (at, tuple(row), delta)
                for at, row, delta in zip(
                    found.at.tolist(),
                    zip(*(found.changed.column(c).to_pylist() for c in "kvn"), strict=True),
                    found.deltas.tolist(),
                    strict=True,
                )
            ]
            for time, mine in groupby(some, key=lambda row: row[2]):
                done += mine
                for at, row, delta in changes:
                    if at == time:
                        holds[row] += delta
                assert +holds == number(done, first), (seed, time)
                assert min(holds.values(), default=0) >= 0
            held = found.held
            assert held is not None
            told = held.to_pylist()
            again = Counter[Any]()
            for row in told:
                again[row["k"], row["v"], row["n"] if shown else 1] += row[MULTIPLICITY]
            assert again == +holds
            if numbering is Numbering.ROWS:
                assert held.num_rows <= first.limit * len(set(keys))


def test_a_long_history_is_compared_in_columns() -> None:
    random = Random(7)
    first = FirstRows(Numbering.ROWS, 2, (("v", True, False),), ("k", "v"))
    rows = [
        (random.choice("xyz"), float(v), n) for n, v in enumerate(random.sample(range(9999), 5000))
    ]
    found = keep_first(Standing(("k",), first=first), None, tabulate(rows))
    assert found.held is not None
    best = {k: sorted(v for of, v, _ in rows if of == k)[-2:] for k in "xyz"}
    held = zip(found.held.column("k").to_pylist(), found.held.column("v").to_pylist(), strict=True)
    assert Counter(held) == Counter((k, v) for k, of in best.items() for v in of)
