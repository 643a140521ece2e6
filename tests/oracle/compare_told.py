"""What a query tells as changes and snapshots, replayed in ranges and live, beside what DuckDB
answers to the same text at every time, with NOW() as that time."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from ontoweir.runtime.statics.evaluate_view import evaluate_view
from tests.oracle.random_queries import Case
from tests.oracle.test_free_shapes import NULLABLE
from tests.oracle.test_latest import fold
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, _plain, make_job
from tests.oracle.test_windows_beside import At, run_live
from tests.runtime.in_process import replay_here, store

_FILL = {"a": 0, "b": 1, "g": "y", "h": 1}


def draw_data(random: Random) -> tuple[Catalog, Any]:
    """Tables with NULL, as declared, or without."""
    data = make_data(random)
    if random.random() < 0.5:
        return NULLABLE, data
    return CATALOG, fill_nulls(data)


def fill_nulls(data: Any) -> Any:
    """Tables with values in the place of NULL."""
    return {
        name: (
            columns,
            [
                tuple(_FILL.get(c) if v is None else v for c, v in zip(columns, row, strict=True))
                for row in rows
            ],
        )
        for name, (columns, rows) in data.items()
    }


def relax(catalog: Catalog, names: tuple[str, ...]) -> Catalog:
    """The tables whose streams have columns with any value."""
    streams = {}
    for name, stream in catalog.streams.items():
        columns = tuple(
            replace(c, enum=None, minimum=None, maximum=None) if c.name in names else c
            for c in stream.columns
        )
        streams[name] = replace(stream, columns=columns)
    return replace(catalog, streams=streams)


def compare_spelled(text: str, words: dict[str, str], seed: int) -> None:
    """Assert that a query, whose `words` stand for something and whose columns are c0, c1 and c2,
    has answers, which are DuckDB's."""
    for word, meant in words.items():
        text = text.replace(word, meant)
    names = tuple(n for n in ("c0", "c1", "c2") if f" AS {n}" in text)
    assert "answers" in compare_text(text, names, Random(seed), keyed=True)


def compare_text(text: str, names: tuple[str, ...], random: Random, *, keyed: bool = False) -> str:
    """A query of rows that come and go, of which `names` are the columns, over random rows: what
    came of it; `keyed`: it begins with the first row whose key, h, has a value."""
    catalog, data = draw_data(random)
    catalog = replace(catalog, relations=CATALOG.relations)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    if choose_emit(union) is not Emit.CHANGES:
        return "rows of windows alone"
    streams = union_streams(union)
    begin = [
        row[-1]
        for n in "st"
        if n in streams
        for row in data[n][1]
        if not keyed or row[data[n][0].index("h")] is not None
    ]
    since = min(begin, default=MARKERS)
    return compare_told(random, text, names, union, (catalog, data), since)


def compare_told(
    random: Random,
    text: str,
    names: tuple[str, ...],
    union: SpjUnion,
    over: tuple[Catalog, Any],
    since: int = 0,
) -> str:
    """Assert that a query tells what DuckDB answers: what came of it.

    Args:
        random: cuts the history.
        text: the query, of which `names` are the columns.
        union: the same, read.
        over: the tables.
        since: before this time nothing is compared, as the query has not begun.
    """
    catalog, data = over
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, catalog)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    bound = bound_changes(verdict, catalog).rows
    case = Case(catalog, union, data, MARKERS)
    oracle, query = At(case), Stacked(text, text, names)
    expected = [
        Counter(tuple(map(_plain, row)) for row in oracle.holding(query, m).elements())
        for m in range(MARKERS)
    ]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        for made in union.statics:  # those that the query makes
            rows = evaluate_view(made, made.data.view or "", catalog, statics.__getitem__)
            assert rows is not None
            statics[made.name] = rows
        job = replace(make_job(verdict, union, stored), emit=Emit.CHANGES, bound=bound)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options |= {"ranges": random.choice([1, 1, 3]), "rows_per_chunk": random.choice([1, 3, 99])}
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options)
        assert bound is None or summary.state_rows_max <= bound
        read = [row[-1] for n in "st" if n in union_streams(union) for row in data[n][1]]
        last = max(read, default=-1)
        _compare(whole, range(since, last + 1), expected, names, text)
        live, done = run_live(replace(job, catalog=catalog), case, random, Path(folder), statics)
        _compare(live, range(since, done + 1), expected, names, f"live: {text}")
        snapshots = replace(job, emit=Emit.SNAPSHOTS)
        told, _ = replay_here(patch, snapshots, Path(folder, "2.parquet"), **options)
        for moment in {row["at"] for row in told}:
            rows = [row for row in told if row["at"] == moment]
            marker = next(m for m in range(MARKERS) if upto(rows, m))
            assert fold(rows, names) == expected[marker], (text, marker)
    return f"{verdict.tier}, answers: {bool(whole)}"


def union_streams(union: Any) -> set[str]:
    """The streams that a query reads, those that its blocks are made of too."""
    found = {o.table for q in union.disjuncts for o in q.occurrences}
    inner = (made for block in union.blocks for made in (block.union, *block.queries))
    return found.union(*map(union_streams, inner))


def _compare(
    rows: Any, times: Iterable[int], expected: Any, names: tuple[str, ...], text: str
) -> None:
    for marker in times:
        found = fold(upto(rows, marker), names)
        assert found == expected[marker], (text, marker, found, expected[marker])
