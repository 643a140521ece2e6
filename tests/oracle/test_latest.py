"""The latest row of each key, in all its phrasings: its changes and snapshots, replayed and live,
as DuckDB answers the same text over every prefix; and the first one, and the latest of a bucket of
time, which are final."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, example, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.make_live_job import make_live_job
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, Tables
from tests.oracle.run_kernel import few_touched
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Prefixes, Stacked, _plain, make_job
from tests.runtime.in_process import replay_here, store
from tests.runtime.live_cases import cut_arrivals

HELD = "abgh"


def make_world(random: Random) -> tuple[Catalog, tuple[str, ...]]:
    """A catalog in which some columns are a key of `s` with the time."""
    key = tuple(random.sample("hga", k=random.choice([1, 1, 2])))
    stream = replace(CATALOG.streams["s"], keys=((*key, "ts"),))
    return replace(CATALOG, streams={**CATALOG.streams, "s": stream}), key


def make_rows(random: Random, key: tuple[str, ...]) -> Tables:
    """Data with few keys, of which there are many rows."""
    data: Tables = make_data(random)
    few: dict[str, list[Any]] = {"h": [0, 1, None], "g": ["x", "y", None], "a": [-1, 0, None]}
    columns, rows = data["s"]
    rows = [row for row in rows * 3 if random.random() < 0.7][:18]
    seen: set[Any] = set()
    kept = []
    for row in rows:
        cells = dict(zip(columns, row, strict=True))
        for column in key:
            cells[column] = random.choices(few[column], [6, 6, 1])[0]
        cells["ts"] = random.randrange(MARKERS)
        at = tuple(cells[c] for c in (*key, "ts"))
        if at not in seen or None in at:
            seen.add(at)
            kept.append(tuple(cells[c] for c in columns))
    data["s"] = columns, sorted(kept, key=lambda row: row[-1])
    return data


KINDS = (
    *("qualify", "subquery", "rank", "later", "greatest", "first", "bucket"),
    *("extreme", "all", "partner", "join", "values"),
)


def make_phrasing(
    random: Random, key: tuple[str, ...], kind: str, local: str | None
) -> tuple[Stacked, bool]:
    """The latest, or the first, row in words of which DuckDB is asked as they are, too."""
    late = random.random() < 0.5
    held = [c for c in random.sample(HELD, k=random.randint(0, 3)) if c not in key]
    listed = ", ".join([f"x.{c}" for c in (*key, *held)] + ["x.ts"])
    names = (*key, *held, "ts")
    most, later = ("MAX", ">") if late else ("MIN", "<")
    mine, theirs = (f" AND {a}.{local}" if local else "" for a in "xy")
    equal = " AND ".join(f"y.{c} = x.{c}" for c in key)
    parts = ", ".join(key)
    match kind:
        case "extreme":
            inner = f"SELECT {most}(y.ts) FROM s AS y WHERE {equal}{theirs}"
            ours = f"SELECT {listed} FROM s AS x WHERE x.ts = ({inner}){mine}"
            if not mine and random.random() < 0.5:  # the names of columns say of which table
                ours = f"SELECT {listed.replace('x.', '')} FROM s WHERE ts = ({inner})"
                ours = ours.replace("x.", "s.")
        case "all":
            inner = f"SELECT y.ts FROM s AS y WHERE {equal}{theirs}"
            ours = f"SELECT {listed} FROM s AS x WHERE x.ts {later}= ALL ({inner}){mine}"
        case "partner":
            ours = f"SELECT {listed} FROM s AS x LEFT JOIN s AS y ON {equal} AND y.ts {later} x.ts"
            ours += f"{theirs} WHERE y.{random.choice(key)} IS NULL{mine}"
        case "join":
            where = f" WHERE {local}" if local else ""
            inner = f"SELECT {parts}, {most}(ts) AS m FROM s{where} GROUP BY {parts}"
            ours = f"SELECT {listed} FROM s AS x JOIN ({inner}) AS y ON {equal} AND y.m = x.ts"
            ours += f" WHERE{mine.removeprefix(' AND')}" if mine else ""
        case _:
            known = " AND ".join(f"x.{c} IS NOT NULL" for c in key)
            shown, where = held or ["ts"], f" WHERE {known}{mine}"
            order = random.choice(["DESC" if late else "", "LAST"])
            if order == "LAST":
                frame = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
                window = f"(PARTITION BY {parts} ORDER BY x.ts{'' if late else ' DESC'} {frame})"
                calls = [f"LAST_VALUE(x.{c}) OVER {window} AS {c}" for c in shown]
            else:
                window = f"(PARTITION BY {parts} ORDER BY x.ts {order})"
                calls = [f"FIRST_VALUE(x.{c}) OVER {window} AS {c}" for c in shown]
            names = (*key, *shown)
            ours = f"SELECT DISTINCT {', '.join([*key, *calls])} FROM s AS x{where}"
            return Stacked(ours, ours, names), late
    apart = " AND ".join(f"{c} IS NOT NULL" for c in key)
    return Stacked(ours, f"SELECT * FROM ({ours}) AS told WHERE {apart}", names), late


def make_query(random: Random, key: tuple[str, ...]) -> tuple[Stacked, bool]:
    """A query, and whether its answers are replaced."""
    shown = [f"x.{c}" for c in random.sample(HELD, k=random.randint(0, 3)) if c not in key]
    shown += [f"x.{c}" for c in key] + (["x.ts"] if random.random() < 0.5 else [])
    random.shuffle(shown)
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    local = random.choice([None, None, "a > -2", "h IN (0, 1)", "g IS NOT NULL"])
    where = f" WHERE x.{local}" if local else ""
    known = " AND ".join(f"x.{c} IS NOT NULL" for c in key)
    kind = random.choice(KINDS)
    if kind in ("extreme", "all", "partner", "join", "values"):
        return make_phrasing(random, key, kind, local)
    parts = ", ".join(f"x.{c}" for c in key)
    number = "ROW_NUMBER()" if kind != "rank" else random.choice(["RANK()", "DENSE_RANK()"])
    window = f"{number} OVER (PARTITION BY {parts} ORDER BY x.ts DESC)"
    both = f" WHERE {known}" + (f" AND x.{local}" if local else "")
    match kind:
        case "qualify" | "rank":
            ours = f"SELECT {listed} FROM s AS x{where} QUALIFY {window} = 1"
        case "subquery":
            inner = f"SELECT {listed}, {window} AS n FROM s AS x{where}"
            ours = f"SELECT {', '.join(names)} FROM ({inner}) AS w WHERE n = 1"
        case "later":
            equal = " AND ".join(f"y.{c} = x.{c}" for c in key)
            more = f" AND y.{local}" if local else ""
            absent = f"NOT EXISTS (SELECT 1 FROM s AS y WHERE {equal} AND y.ts > x.ts{more})"
            ours = f"SELECT {listed} FROM s AS x{where}{' AND' if where else ' WHERE'} {absent}"
        case "greatest":
            value = random.choice([c for c in HELD if c not in key] or ["b"])
            call = random.choice(["ARG_MAX", "MAX_BY"])
            listed = ", ".join(f"x.{c} AS k{n}" for n, c in enumerate(key))
            names = (*(f"k{n}" for n in range(len(key))), "v", "t")
            head = f"SELECT {listed}, {call}(x.{value}, x.ts) AS v, MAX(x.ts) AS t FROM s AS x"
            there = f"{' AND' if where else ' WHERE'} x.{value} IS NOT NULL"
            ours = f"{head}{where}{there} GROUP BY {parts}"
            duck = f"{head}{both} AND x.{value} IS NOT NULL GROUP BY {parts}"
            return Stacked(ours, duck, names), True
        case "first":
            ours = f"SELECT {listed} FROM s AS x{where} QUALIFY {window.replace(' DESC', '')} = 1"
            duck = f"SELECT {listed} FROM s AS x{both} QUALIFY {window.replace(' DESC', '')} = 1"
            return Stacked(ours, duck, names), False
        case _:
            length = random.randint(2, 4)
            width = f"INTERVAL '{length}' MICROSECOND"
            cut = window.replace(" ORDER BY", f", time_bucket({width}, x.ts) ORDER BY")
            ours = f"SELECT {listed} FROM s AS x{where} QUALIFY {cut} = 1"
            bucket = window.replace(" ORDER BY", f", epoch_us(x.ts) // {length} ORDER BY")
            final = f"epoch_us(x.ts) + {length - 1} <= epoch_us((SELECT MAX(now) FROM clock))"
            inner = f"SELECT {listed}, {final} AS done FROM s AS x{both} QUALIFY {bucket} = 1"
            duck = f"SELECT * EXCLUDE (done) FROM ({inner}) WHERE done"
            return Stacked(ours, duck, names), False
    return Stacked(ours, f"SELECT {listed} FROM s AS x{both} QUALIFY {window} = 1", names), True


def fold(rows: list[dict[str, Any]], names: tuple[str, ...]) -> Counter[Any]:
    """What holds after changes."""
    holds: Counter[Any] = Counter()
    for row in rows:
        sign = {"+": 1, "-": -1}[row.get("op", "+")]
        holds[tuple(_plain(row[n]) for n in names)] += sign * row.get("multiplicity", 1)
        assert min(holds.values()) >= 0, rows
    return +holds


def run_live(
    case: Case,
    verdict: Any,
    emit: Emit,
    random: Random,
    folder: Path,
    statics: Mapping[str, Any] | None = None,
) -> tuple[list[dict[str, Any]], int]:
    query = replace(make_job(verdict, case.query, case.catalog), emit=emit)
    job = make_live_job([query], case.catalog, statics or {}, {})
    state, rows = begin_live(job), []
    with few_touched():
        for number, batch in enumerate(
            cut_arrivals(case, random, {h.stream.name for h in job.histories})
        ):
            outcome = advance_live(job, state, batch, 0.0)
            place = commit_batch(folder, "fingerprint", CommitRecord("run"), outcome)
            known = load_state(place, "fingerprint", job)[0]
            state = known if number % 2 else outcome.state
            rows += outcome.answers[0].to_pylist()
    return rows, -1 if state.finished_us is None else state.finished_us


class All(Prefixes):
    """DuckDB over prefixes, rows with NULL too."""

    def rows(self, query: Stacked, marker: int) -> Counter[Any]:
        return super().rows(replace(query, names=()), marker)


def check(seed: int) -> None:
    random = Random(seed)
    catalog, key = make_world(random)
    query, replaced = make_query(random, key)
    data = make_rows(random, key)
    union = parse_sql(query.ours, catalog, name="q", file="q.sql")
    assert (union.standing is not None) == replaced
    verdict = check_query(union, catalog)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    case = Case(catalog, union, data, MARKERS)
    oracle = All(case) if replaced else Prefixes(case)
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    last = max((row[-1] for row in data["s"][1]), default=-1)
    emit = Emit.CHANGES if replaced else Emit.ANSWERS
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, stored), emit=emit)
        ranges = random.choice([1, 1, 3]) if replaced else 1
        options = {"statics": statics, "rows_per_range": 1, "ranges": ranges}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options)
        once = Counter((*(row[n] for n in query.names), row["at"]) for row in whole)
        assert not replaced or max(once.values(), default=1) == 1  # no row ends that begins again
        for marker in range(last + 1):
            found = fold(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        assert tables_of(union) == {"s"}
        live, done = run_live(case, verdict, emit, random, Path(folder))
        for marker in range(done + 1):
            found = fold(upto(live, marker), query.names)
            assert found == expected[marker], ("live", query.ours, marker)
        if replaced:
            snapshots = replace(job, emit=Emit.SNAPSHOTS)
            told, _ = replay_here(patch, snapshots, Path(folder, "2.parquet"), **options)
            for moment in {row["at"] for row in told}:
                rows = [row for row in told if row["at"] == moment]
                marker = next(m for m in range(MARKERS) if upto(rows, m))
                assert fold(rows, query.names) == expected[marker], (query.ours, marker)


@budget(0.15)
@given(seed=SEEDS)
@example(seed=200142)
def test_the_latest_rows_are_duckdbs(seed: int) -> None:
    check(seed)
