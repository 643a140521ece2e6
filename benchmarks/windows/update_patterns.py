"""Sliding windows by negative tuples, directly, and aware of update patterns: the comparison of
Golab and Özsu (SIGMOD 2005, section 6), for its five queries, over the size of windows.

    python benchmarks/windows/update_patterns.py [--windows 1000,5000,20000] [--rows 20000] [--draw]

`ours` is a replay with `--emit changes` in this process; the three ways are window_ways.py, in
Python. CPU time per 1,000 tuples, and the most rows kept. The answers of all are compared. Three
links have a tuple each second, of 1,000 sources and 10 destinations, from a seed; 10 % are ftp,
30 % telnet.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from pathlib import Path
from time import process_time
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from draw_windows import Point, draw_windows
from negation_ways import JOINED
from negation_ways import WAYS as NEGATIONS
from window_ways import (
    Answer,
    DistinctByNegatives,
    DistinctByPatterns,
    DistinctDirectly,
    Row,
    Way,
    join_by_negatives,
    join_by_patterns,
    join_directly,
    join_distinct,
    keep_distinct,
)

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest

T = TypeVar("T")
SOURCES, TARGETS = 1_000, 10
FTP, TELNET = 0.1, 0.3
LINKS = ("one", "two", "three")
STREAM = """
[streams.{name}]
source = {{ format = "parquet", path = "{name}.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 1
columns = {{ src = "int", dst = "int", protocol = "string" }}
"""


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the paper: its SQL (`{w}`: a window in seconds), the protocol that it selects, and
    how each way answers it; `pairs`: its key is source and destination; `negated`: answers are
    changes of how often a key is one; `any_of`: the links of which it selects any protocol."""

    name: str
    sql: str
    ways: dict[str, Way]
    protocol: str | None = None
    links: int = 2
    pairs: bool = False
    negated: bool = False
    any_of: tuple[int, ...] = ()


def _window(alias: str) -> str:
    return f"{alias}.ts > NOW() - INTERVAL '{{w}}' SECOND"


_JOIN = (
    "SELECT a.src AS k FROM one a, two b WHERE a.src = b.src AND a.protocol = '{p}' "
    f"AND b.protocol = '{{p}}' AND {_window('a')} AND {_window('b')}"
)
_JOINS = {"negative": join_by_negatives, "direct": join_directly, "patterns": join_by_patterns}
_DISTINCT = {
    "negative": keep_distinct(DistinctByNegatives),
    "direct": keep_distinct(DistinctDirectly),
    "patterns": keep_distinct(DistinctByPatterns),
}
QUERIES = (
    Query("1: join, ftp", _JOIN.replace("{p}", "ftp"), _JOINS, "ftp"),
    Query("1: join, telnet", _JOIN.replace("{p}", "telnet"), _JOINS, "telnet"),
    Query(
        "2: distinct sources",
        f"SELECT DISTINCT a.src AS k FROM one a WHERE {_window('a')}",
        _DISTINCT,
        links=1,
    ),
    Query(
        "2: distinct pairs",
        f"SELECT DISTINCT a.src * {TARGETS} + a.dst AS k FROM one a WHERE {_window('a')}",
        _DISTINCT,
        links=1,
        pairs=True,
    ),
    Query(
        "3: negation",
        f"SELECT a.src AS k FROM one a WHERE {_window('a')} EXCEPT ALL "
        f"SELECT b.src FROM two b WHERE {_window('b')}",
        NEGATIONS,
        negated=True,
    ),
    Query(
        "4: join of distinct",
        "SELECT DISTINCT a.src AS k FROM one a, two b WHERE a.src = b.src "
        f"AND {_window('a')} AND {_window('b')}",
        {
            "negative": join_distinct(DistinctByNegatives, shared=False),
            "direct": join_distinct(DistinctDirectly, shared=False),
            "patterns": join_distinct(DistinctByPatterns, shared=True),
        },
    ),
    Query(
        "5: join of negation",
        f"SELECT d.k FROM (SELECT a.src AS k FROM one a WHERE {_window('a')} EXCEPT ALL "
        f"SELECT b.src FROM two b WHERE {_window('b')}) AS d JOIN three c ON c.src = d.k "
        f"WHERE c.protocol = 'ftp' AND {_window('c')}",
        JOINED,
        "ftp",
        links=3,
        negated=True,
        any_of=(0, 1),
    ),
)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--windows", default="1000,2000,5000,10000,20000")
    parser.add_argument("--rows", type=int, default=20_000, help="of each link, after a window")
    parser.add_argument("--draw", action="store_true", help="write docs/update-patterns.svg")
    options = parser.parse_args()
    sizes = [int(w) for w in options.windows.split(",")]
    points: list[Point] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for size in sizes:
            links = generate(folder, size + options.rows)
            for query in QUERIES:
                points += _measure(folder, query, size, links)
    if options.draw:
        file = Path(__file__).resolve().parents[2] / "docs" / "update-patterns.svg"
        draw_windows(points, file)
    return 0


def generate(folder: Path, rows: int) -> list[pa.Table]:
    """The project: a catalog, and the tuples of all links."""
    catalog = "".join(STREAM.format(name=name) for name in LINKS)
    (folder / "ontoweir.toml").write_text(catalog, encoding="utf-8")
    draw = np.random.default_rng(1)
    made = []
    for name in LINKS:
        kinds = np.digitize(draw.random(rows), [FTP, FTP + TELNET])
        table = pa.table(
            {
                "ts": pa.array(np.arange(rows) * 1_000_000, pa.timestamp("us", "UTC")),
                "src": draw.integers(0, SOURCES, rows),
                "dst": draw.integers(0, TARGETS, rows),
                "protocol": pa.array(["ftp", "telnet", "other"]).take(pa.array(kinds)),
            }
        )
        pq.write_table(table, folder / f"{name}.parquet")
        made.append(table)
    return made


def _measure(folder: Path, query: Query, size: int, links: Sequence[pa.Table]) -> list[Point]:
    """All ways of a query, whose answers are compared."""
    rows = _list_rows(query, links)
    last = links[0].num_rows - 1
    settle = partial(_settle, last=last, distinct=query.protocol is None)
    if query.negated:
        settle = partial(_count_changes, last=last)
    points: list[Point] = []
    wanted: Counter[Answer] | None = None
    for name, way in query.ways.items():
        taken, outcome = _time(partial(way, rows, size))
        answers = settle(outcome.answers)
        wanted = answers if wanted is None else wanted
        points.append(_tell(query, name, size, taken / len(rows), outcome.most, answers == wanted))
    assert wanted is not None
    job = _make_job(folder, query, size, Emit.CHANGES)
    output = folder / "answers.parquet"
    request = ReplayRequest(output, "parquet", engine="driver")
    taken, summary = _time(partial(replay_history, job, request))
    if not query.negated:
        replay_history(_make_job(folder, query, size, Emit.INTERVALS), request)
    same = settle(_read(output)) == wanted
    most = summary.state_rows_max
    points.append(_tell(query, "ours", size, taken / len(rows), most, same))
    return points


def _tell(query: Query, way: str, size: int, seconds: float, most: int, same: bool) -> Point:
    point = Point(query.name, way, size, 1_000 * seconds, most)
    print(
        f"{query.name:20} window {size:6,}  {way:9} {1_000_000 * seconds:9.2f} ms of CPU per 1,000 "
        f"tuples  {most:8,} rows{'' if same else '  OTHER ANSWERS'}",
        flush=True,
    )
    return point


def _time(run: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of this process, all threads together, and what was made."""
    begun = process_time()
    made = run()
    return process_time() - begun, made


def _list_rows(query: Query, links: Sequence[pa.Table]) -> list[Row]:
    """The tuples in order of time, those of the first link first."""
    columns = []
    for link, table in enumerate(links[: query.links]):
        keys = table["src"].to_numpy()
        if query.pairs:
            keys = keys * TARGETS + table["dst"].to_numpy()
        wanted = None if link in query.any_of else query.protocol
        taken = [wanted is None or p == wanted for p in table["protocol"].to_pylist()]
        pairs = zip(keys.tolist(), taken, strict=True)
        columns.append([(t, link, k, s) for t, (k, s) in enumerate(pairs)])
    return [row for rows in zip(*columns, strict=True) for row in rows]


def _settle(answers: Sequence[Answer], last: int, *, distinct: bool) -> Counter[Answer]:
    """The answers that have ended; where they are distinct, those of a row that touch are one."""
    if not distinct:
        return Counter(a for a in answers if a[2] <= last)
    made: list[Answer] = []
    for key, begin, end in sorted(answers):
        if made and made[-1][0] == key and begin <= made[-1][2]:
            made[-1] = key, made[-1][1], max(end, made[-1][2])
        else:
            made.append((key, begin, end))
    return Counter(a for a in made if a[2] <= last)


def _count_changes(answers: Sequence[Answer], last: int) -> Counter[Answer]:
    """How many more, or fewer, of each key there are from each time on."""
    sums: Counter[tuple[int, int]] = Counter()
    for key, at, more in answers:
        sums[key, at] += more
    return Counter((k, at, more) for (k, at), more in sums.items() if more and at <= last)


def _make_job(folder: Path, query: Query, size: int, emit: Emit) -> QueryJob:
    catalog = load_project(folder, environ={}).catalog
    union = parse_sql(query.sql.format(w=size), catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    if verdict.plans is None or verdict.bound is None:
        sys.exit(f"{query.name} is not bounded: nothing to measure")
    bound = bound_changes(verdict, catalog) if emit is Emit.CHANGES else verdict.bound
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    rows = bound.rows
    return QueryJob(
        "q", union, verdict.plans, catalog, rows, verdict.declarations, parts, emit=emit
    )


def _read(file: Path) -> list[Answer]:
    """The answers of a replay with --emit intervals; or its changes."""
    made: list[Answer] = []
    for row in pq.read_table(file).to_pylist():
        if "op" in row:
            at = int(row["at"].replace(tzinfo=UTC).timestamp())
            sign = 1 if row["op"] == "+" else -1
            made.append((row["k"], at, sign * row.get("multiplicity", 1)))
            continue
        begin, end = (int(row[name].replace(tzinfo=UTC).timestamp()) for name in ("at", "until"))
        made += [(row["k"], begin, end)] * row.get("multiplicity", 1)
    return made


if __name__ == "__main__":
    sys.exit(main())
