"""How long a decision takes, against the number of streams, attributes and constants.

    .venv/bin/python benchmarks/decide/decision_time.py [--seeds 5] [--budget 5] [--plot FILE.svg]

Random queries over streams s0, s1, …: a chain in time, joins by = and <, filters, a projection.
`decide` is the verdict with plan and bound but without a counterexample, `check` the whole verdict.
`enumerate` lists the LTO queries that [S] derives, which is less than deciding each; it stops after
--budget seconds. The medians over --seeds queries are printed, and the slowest decision.
"""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path
from random import Random
from statistics import median

from ontoweir.checker.criteria.derive_lto import derive_lto
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)


@dataclass(frozen=True, slots=True)
class Size:
    """Of a query: its streams, attributes in all, and constants."""

    streams: int
    attributes: int
    constants: int


SWEEPS: dict[str, tuple[Size, ...]] = {
    "streams": tuple(Size(n, 2 * n, 2) for n in (1, 2, 3, 4, 5, 6, 8)),
    "attributes": tuple(Size(3, n, 2) for n in (3, 6, 9, 12, 18, 24)),
    "constants": tuple(Size(3, 12, n) for n in (0, 1, 2, 4, 8, 16)),
}
WANTED = Size(3, 12, 8)
"""12 attributes and 8 constants: to be decided in well under a second."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds: medians, and the slowest decision; `listed` LTO queries, `whole`: these are all."""

    decide: float
    slowest: float
    check: float
    enumerate: float
    listed: int
    whole: bool


def make_query(size: Size, seed: int) -> tuple[SpjUnion, Catalog]:
    """A random query of a size, each attribute of it compared or projected."""
    draw = Random(f"{size} {seed}")
    per = [size.attributes // size.streams] * size.streams
    for i in range(size.attributes % size.streams):
        per[i] += 1
    names = [f"s{i}" for i in range(size.streams)]
    attributes = [[Attribute(n, f"a{k}") for k in range(per[i])] for i, n in enumerate(names)]
    streams = {}
    for i, name in enumerate(names):
        columns = tuple(Column(f"a{k}", IntType()) for k in range(per[i]))
        streams[name] = Stream(name, DataSource("parquet", None), "ts", 1, 3, columns)
    conditions: list[Condition] = []
    for i in range(1, size.streams):
        order = draw.choice([Op.LT, Op.LT, Op.LE])
        conditions.append(Compare(Attribute(names[i - 1], "ts"), order, Attribute(names[i], "ts")))
        for mine, theirs in zip(attributes[i - 1], attributes[i], strict=False):
            op = draw.choice([Op.EQ, Op.LT, Op.GT, Op.LE])
            conditions.append(Compare(mine, op, theirs))
    flat = [a for row in attributes for a in row]
    for n in range(size.constants):
        op = draw.choice([Op.GT, Op.GE, Op.LT])
        value = n if op is not Op.LT else 10**6 + n
        conditions.append(Compare(draw.choice(flat), op, Constant(value)))
    chosen = draw.sample(flat, k=draw.randint(1, min(3, len(flat))))
    outputs = tuple((f"v{i}", LiteralOutput(a)) for i, a in enumerate(chosen))
    query = SpjQuery(tuple(Occurrence(n, n) for n in names), tuple(conditions), outputs)
    variables = tuple(name for name, _ in outputs)
    return SpjUnion("q", variables, (query,), draw.random() < 0.5), Catalog(streams)


def measure(size: Size, seeds: int, budget: float) -> Times:
    """The times of random queries of a size."""
    decide, check, listing, counts, whole = [], [], [], [], True
    for seed in range(seeds):
        union, catalog = make_query(size, seed)
        decide.append(_timed(lambda u=union, c=catalog: check_query(u, c, disprove=False)))
        check.append(_timed(lambda u=union, c=catalog: check_query(u, c)))
        (query,) = union.disjuncts
        form = normalise_query(query, distinct=union.distinct, catalog=catalog)
        began = time.perf_counter()
        count, complete = _count_lto(form, began + budget)
        listing.append(time.perf_counter() - began)
        counts.append(count)
        whole &= complete
    return Times(
        median(decide), max(decide), median(check), median(listing), int(median(counts)), whole
    )


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class _Late(Exception):
    pass


def _count_lto(form: NormalForm, until: float) -> tuple[int, bool]:
    """How many LTO queries there are; or how many until the time is over, and False."""
    count = 0

    def stop(*_: object) -> None:
        raise _Late

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(until - time.perf_counter(), 0.001))
    try:
        for _ in derive_lto(form):
            count += 1
    except (_Late, OntoweirError):
        return count, False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return count, True


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=5.0, help="seconds to list LTO queries")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    given = parser.parse_args(arguments)
    check_query(*make_query(WANTED, 0))  # imports and caches
    print(
        "streams attributes constants  decide ms  slowest ms  check ms  enumerate ms  LTO queries"
    )
    found: dict[str, list[tuple[Size, Times]]] = {}
    for name, sizes in SWEEPS.items():
        print(f"-- by {name}")
        for size in sizes:
            times = measure(size, given.seeds, given.budget)
            found.setdefault(name, []).append((size, times))
            more = "" if times.whole else "+"
            print(
                f"{size.streams:7} {size.attributes:10} {size.constants:9}"
                f"  {1000 * times.decide:9.1f}  {1000 * times.slowest:10.1f}"
                f"  {1000 * times.check:8.1f}  {1000 * times.enumerate:12.1f}"
                f"  {f'{times.listed:,}{more}':>11}",
                flush=True,
            )
    if given.plot is not None:
        given.plot.write_text(draw(found), encoding="utf-8")
    return 0


WIDTH, HEIGHT, LEFT, BOTTOM = 300, 260, 52, 40
LOWEST, HIGHEST = -4, 1.0
"""The axis of time: 0.1 ms to 10 s, as powers of ten of a second."""


def draw(found: dict[str, list[tuple[Size, Times]]]) -> str:
    """The table as a picture: one panel for each sweep, time as a logarithm."""
    parts = []
    for number, (name, rows) in enumerate(found.items()):
        xs = [getattr(size, name) for size, _ in rows]
        left = number * (WIDTH + LEFT + 20) + LEFT
        parts.append(_panel(left, name, xs))
        for label, color, pick in (
            ("decide", "#2e7d4f", lambda t: t.decide),
            ("check", "#5b7083", lambda t: t.check),
            ("list LTO queries", "#b3261e", lambda t: t.enumerate),
        ):
            points = [(_x(left, x, xs), _y(pick(t))) for x, (_, t) in zip(xs, rows, strict=True)]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{color}"/>')
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in points
            ]
            x, y = points[-1]
            above = y + 16 if label == "decide" else y - 6
            parts.append(f'<text x="{x:.1f}" y="{above:.1f}" text-anchor="end">{label}</text>')
    width = len(found) * (WIDTH + LEFT + 20) + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT + BOTTOM + 20}" '
        'font-family="sans-serif" font-size="11" stroke-width="1.5">'
        '<rect width="100%" height="100%" fill="#ffffff"/>' + "".join(parts) + "</svg>\n"
    )


def _panel(left: float, name: str, xs: Sequence[int]) -> str:
    base = HEIGHT + 10
    parts = []
    for power in range(LOWEST, int(HIGHEST) + 1):
        y = _y(10.0**power)
        text = f"{10 ** (power + 3):g} ms" if power < 0 else f"{10**power:g} s"
        parts.append(
            f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#dddddd" stroke-width="1"/>'
            f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
        )
    for x in xs:
        place = _x(left, x, xs)
        parts.append(f'<text x="{place:.1f}" y="{base + 14}" text-anchor="middle">{x}</text>')
    middle = left + WIDTH / 2
    parts.append(f'<text x="{middle}" y="{base + 30}" text-anchor="middle">{name}</text>')
    return "".join(parts)


def _x(left: float, x: int, xs: Sequence[int]) -> float:
    return left + WIDTH * (x - min(xs)) / max(max(xs) - min(xs), 1)


def _y(seconds: float) -> float:
    power = min(max(log10(max(seconds, 1e-9)), LOWEST), HIGHEST)
    return 10 + HEIGHT * (HIGHEST - power) / (HIGHEST - LOWEST)


if __name__ == "__main__":
    sys.exit(main())
