"""Rules that only say what is kept in memory: every answer of a plain join is there, also where
rows break them, and the state in memory keeps its bound."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from math import nan
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    Breach,
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Lag,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.run.spare_rules import spare_rules
from ontoweir.run.spill_plans import Spared, plan_spilling
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.spill_files import place_spill, restore_spill
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.relational import answers, load
from tests.runtime.in_process import answers_upto, replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_table

_NOTHING = DataSource("parquet", "none")
_SPILL = Breach(reject=False, spill=True)


_KEYS: tuple[tuple[ColumnType, str, Callable[[int], Any]], ...] = (
    (StringType(), "VARCHAR", lambda n: f"k{n}"),
    (StringType(), "VARCHAR", lambda n: f"k{n}"),
    (DateType(), "DATE", lambda n: date(1969, 12, 30) + timedelta(n)),
    (DecimalType(6, 2), "DECIMAL(6,2)", lambda n: Decimal(n - 2) / 4),
    (FloatType(), "DOUBLE", lambda n: (-0.0, 0.0, 1e300, -5e-324, 0.1, 3.0, 0.5, nan)[n]),
)
_MARKERS = 12


def _make_case(random: Random) -> Case:
    """Two or three streams joined by equal values, each of which lags behind those it joins; their
    rows keep that, or do not."""
    names = ["s", "t", "u"][: random.choice([2, 2, 3])]
    rules: dict[str, list[Lag]] = {name: [] for name in names}
    where = []
    for place, later in enumerate(names[1:], 1):
        earlier = random.choice(names[:place])
        column = random.choice(["k", "k", "j"])
        where.append(f"{later}.{column} = {earlier}.{column}")
        span = random.choice([0, 1, 2])
        rules[later].append(Lag(earlier, (column,), (column,), span, breach=_SPILL))
        if random.random() < 0.7:
            where.append(f"{earlier}.ts {random.choice(['<', '<='])} {later}.ts")
        else:
            rules[earlier].append(Lag(later, (column,), (column,), span, breach=_SPILL))
        if random.random() < 0.25:
            where.append(f"{earlier}.v {random.choice(['<', '<=', '<>'])} {later}.v")
    shown = random.sample([f"{n}.{c}" for n in names for c in "kjv"], k=random.randint(1, 3))
    selected = ", ".join(f"{c} AS o{n}" for n, c in enumerate(shown))
    distinct = "DISTINCT " if random.random() < 0.4 else ""
    sql = f"SELECT {distinct}{selected} FROM {', '.join(names)} WHERE {' AND '.join(where)}"
    kind, sql_type, show = random.choice(_KEYS)
    types = {"k": kind, "j": IntType(), "v": IntType()}
    columns = tuple(Column(n, t) for n, t in types.items())
    most = random.choice([3, 3, None])
    streams = {
        name: Stream(name, _NOTHING, "ts", 1, most, columns, lags=tuple(rules[name]))
        for name in names
    }
    catalog = Catalog(streams)
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    data = {name: ([*types, "ts"], _make_rows(random, show)) for name in names}
    return Case(catalog, union, data, _MARKERS, {f"{n}.k": sql_type for n in names})


def _make_rows(random: Random, show: Callable[[int], Any]) -> list[tuple[Any, ...]]:
    """At most three rows a timestamp; values come late, or again, or are NULL."""
    wide, none = random.choice([2, 4, 8]), random.choice([0.0, 0.0, 0.2])

    def some(value: Any) -> Any:
        return None if random.random() < none else value

    return [
        (
            some(show(random.randrange(wide))),
            some(random.randrange(wide)),
            some(random.randint(-3, 3)),
            ts,
        )
        for ts in range(_MARKERS)
        for _ in range(random.choice([0, 1, 1, 3]))
    ]


def _plan(case: Case, catalog: Catalog) -> QueryJob | None:
    """What runs the case's query, which the rules bound, and nothing else does (None: it is
    another one, or what it keeps is not found by values)."""
    spared = spare_rules(catalog, catalog.streams.keys())
    assert spared is not None
    verdict = check_query(case.query, spared, disprove=False)
    ruled = check_query(case.query, catalog, disprove=False)
    if verdict.plans is not None or not ruled.plans:
        event("not bounded by the rules alone")
        return None
    try:
        made = plan_spilling(
            Spared(case.query, spared, verdict), ruled, Statistics(), changing=False
        )
    except QueryError:
        event("refused")
        return None
    event("bounded by the rules alone")
    assert ruled.bound is not None
    assert (made.bound is None) or (ruled.bound.rows is not None)
    return QueryJob(
        "q",
        case.query,
        made.found.plans,
        catalog,
        made.bound,
        parts=made.found.parts,
        unbounded=True,
        spill=made.spill,
    )


def check(seed: int) -> None:
    random = Random(seed)
    case = _make_case(random)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = _plan(case, catalog)
        if job is None:
            return
        options: dict[str, Any] = {"statics": statics, "engine": "driver"}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        rows, summary = replay_here(patch, job, Path(folder, "out.parquet"), **options)
        _compare(case, rows, case.markers)
        assert job.bound is None or summary.state_rows_max <= job.bound
        assert not summary.broken
        _compare(case, *_run_live(case, job, random, Path(folder)))


@given(SEEDS)
@budget(0.2)
def test_nothing_is_lost(seed: int) -> None:
    check(seed)


def _compare(case: Case, rows: list[dict[str, Any]], markers: int) -> None:
    query, distinct = case.query.disjuncts[0], case.query.distinct
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    base = load(
        {name: (n, _leave_out_nan(held)) for name, (n, held) in case.data.items()}, case.types
    )
    for marker, right in enumerate(
        answers(base, query, stamps, distinct=distinct, markers=markers)
    ):
        assert answers_upto(rows, case.query.variables, marker) == right


def _leave_out_nan(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows that are let in: NaN is a value of no type, whatever a query reads."""
    return [row for row in rows if all(value == value for value in row)]


def _run_live(
    case: Case, query: QueryJob, random: Random, folder: Path
) -> tuple[list[dict[str, Any]], int]:
    """The answers, and how many markers are finished; advance_live holds it to its bound."""
    statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
    job = place_spill(make_live_job([query], case.catalog, statics, {}), folder)
    state, rows = begin_live(job), []
    for batch in cut_arrivals(case, random, {h.stream.name for h in job.histories}):
        outcome = advance_live(job, state, batch, 0.0)
        place = commit_batch(folder / "commits", "f", CommitRecord("run"), outcome)
        state = load_state(place, "f", job)[0]
        restore_spill(job, state)
        rows += outcome.answers[0].to_pylist()
    return rows, 0 if state.finished_us is None else state.finished_us + 1
