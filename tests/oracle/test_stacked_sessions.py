"""Sessions of rows that are answers, and queries that read sessions: every answer, replayed and
live, as DuckDB answers the same text where only sessions that are over are there."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import insert_rows, open_database
from tests.oracle.random_queries import Case
from tests.oracle.test_sessions import CATALOG, MARKERS, PLACES, make_case
from tests.oracle.test_sql_nulls import upto
from tests.oracle.test_stacked_queries import count, make_job, run_live
from tests.runtime.in_process import EPOCH, replay_here, store


def _us(n: int) -> str:
    return f"INTERVAL '{n}' MICROSECOND"


@dataclass(frozen=True)
class Rows:
    """What sessions are of: FROM and WHERE, for us and for DuckDB alike; `late`: how long after its
    time a row is there."""

    text: str
    late: int = 0


def make_rows(random: Random) -> Rows:
    """Rows `p` of page: alone, joined with rows of hit that are not later, beside which hits are
    there or not, of several streams, or each once."""
    n, cost = random.randint(1, 3), random.choice(["", " AND p.cost >= 0"])
    past = f"h.ts <= p.ts AND h.ts > p.ts - {_us(n)}"
    tie = random.choice(["h.k = p.k", "h.kind = p.kind", "h.cost < p.cost"])
    later = f"h.ts > p.ts AND h.ts <= p.ts + {_us(n)}"
    match random.randint(0, 7):
        case 0:
            return Rows(f"page AS p WHERE p.cost >= -2{cost}")
        case 1:
            return Rows(f"page AS p JOIN hit AS h ON {tie} AND {past} WHERE TRUE{cost}")
        case 2:
            return Rows(
                f"page AS p JOIN hit AS h ON {tie} AND {past} JOIN site ON site.kind = p.kind"
            )
        case 3:
            inner = f"SELECT 1 FROM hit AS h WHERE {tie} AND {later}"
            return Rows(f"page AS p WHERE NOT EXISTS ({inner}){cost}", n)
        case 4:
            word = random.choice(["", "NOT "])
            inner = f"SELECT 1 FROM hit AS h WHERE {tie} AND {past}"
            return Rows(f"page AS p WHERE {word}EXISTS ({inner}){cost}")
        case 5:
            return Rows(f"page AS p LEFT JOIN hit AS h ON {tie} AND {past}")
        case 6:
            return Rows("(SELECT DISTINCT k, kind, cost, ts FROM page) AS p")
        case _:
            before = f"q.ts < x.ts AND q.ts > x.ts - {_us(n)}"
            inner = f"SELECT 1 FROM page AS q WHERE q.k = x.k AND {before}"
            part = f"SELECT k, kind, cost, ts FROM hit AS x WHERE NOT EXISTS ({inner})"
            return Rows(f"(SELECT k, kind, cost, ts FROM page UNION ALL {part}) AS p")


@dataclass(frozen=True)
class Sessions:
    """Sessions of rows: `ours` and `duck`, which has their `final` in µs; the keys they show;
    `late`: how long before `final` they end."""

    ours: str
    duck: str
    keys: tuple[str, ...]
    late: int


def make_sessions(random: Random, rows: Rows, keys: tuple[str, ...] | None = None) -> Sessions:
    """Sessions `w` of rows, with keys, b, e, last, n, s, and m and z, which may be NULL."""
    keys = random.choice([("k",), ("k",), ("k", "kind"), (), ("kind",)]) if keys is None else keys
    gap = random.choice([1, 1, 2, 4])
    having = random.choice(["", "", f" HAVING COUNT(*) <= {random.randint(1, 3)}"])
    mine, shown = [f"p.{k}" for k in keys], "MAX(p.ts) AS last, COUNT(*) AS n, SUM(p.cost) AS s"
    shown += ", MAX(p.kind) AS m, NULLIF(COUNT(p.kind), 2) AS z"
    listed = ", ".join([*mine, "session_window.start AS b", "session_window.end AS e", shown])
    group = ", ".join([*mine, f"session_window(p.ts, {_us(gap)})"])
    ours = f"SELECT {listed} FROM {rows.text} GROUP BY {group}{having}"
    over = f"PARTITION BY {', '.join(keys)} ORDER BY ts" if keys else "ORDER BY ts"
    new = f"CASE WHEN epoch_us(ts) - LAG(epoch_us(ts)) OVER ({over}) <= {gap} THEN 0 ELSE 1 END"
    run = f"SUM(new) OVER ({over} RANGE UNBOUNDED PRECEDING)"
    duck = (
        f"SELECT {', '.join([*keys, 'MIN(ts) AS b', f'MAX(ts) + to_microseconds({gap}) AS e'])}, "
        f"{shown}, MAX(epoch_us(ts)) + {gap + rows.late} AS final FROM (SELECT *, {run} AS run "
        f"FROM (SELECT *, {new} AS new FROM (SELECT p.* FROM {rows.text}))) AS p "
        f"GROUP BY {', '.join([*keys, 'run'])}{having}"
    )
    return Sessions(ours, f"SELECT * FROM ({duck}) WHERE final <= (FROM clock)", keys, rows.late)


@dataclass(frozen=True)
class Asked:
    """A query: what we read and what DuckDB reads, and its columns."""

    ours: str
    duck: str
    names: tuple[str, ...]


def make_asked(random: Random) -> Asked:
    """A query over sessions."""
    w = make_sessions(random, make_rows(random))
    ours, duck = f"WITH w AS ({w.ours})", f"WITH w AS ({w.duck})"
    keys, n = [f"w.{k}" for k in w.keys], random.randint(1, 4)
    same = " AND ".join(f"x.{k} = w.{k}" for k in w.keys) or "TRUE"
    times = random.sample(["w.b", "w.e", "w.last"], k=1)
    shown = [*keys, "w.n", "w.s", *times]
    time = random.choice(["w.e", "w.last"])
    match random.randint(0, 8):
        case 8:
            other = make_sessions(random, make_rows(random), w.keys)
            names = (*w.keys, "b", "e", "last", "n", "s", "m", "z")
            every = f"{w.duck} UNION ALL {other.duck}"
            return Asked(f"{w.ours} UNION ALL {other.ours}", _only(names, every), names)
        case 0:
            shown += ["w.m", "w.z", "w.z + w.n"]
            body = f"SELECT {_name(shown)} FROM w WHERE w.s > {random.randint(-2, 3)}"
            return Asked(f"{ours} {body}", f"{duck} {body}", _names(shown))
        case 1 | 2:
            made = [*random.choice([(), keys]), "COUNT(*)", "SUM(w.n)", "MIN(w.s)"]
            of = [m for m in made if m.startswith("w.")]
            call = f"TUMBLE_START({time}, {_us(n)})"
            first = f"make_timestamp(floor(epoch_us({time}) / {n})::BIGINT * {n})"
            end = f"MIN(epoch_us({first})) + {n} + MIN(final - epoch_us({time}))"
            return Asked(
                f"{ours} SELECT {_name([call, *made])} FROM w GROUP BY {', '.join([call, *of])}",
                f"{duck} SELECT {_name([first, *made])} FROM w "
                f"GROUP BY {', '.join([first, *of])} HAVING {end} <= (FROM clock)",
                _names([call, *made]),
            )
        case 3:
            between = f"x.e > w.e AND x.e <= w.e + {_us(n)}"
            listed = [*shown, "x.n", "x.s"]
            body = f"SELECT {_name(listed)} FROM w JOIN w AS x ON {same} AND {between}"
            return Asked(f"{ours} {body}", f"{duck} {body}", _names(listed))
        case 4:
            between = f"x.ts > w.e - {_us(n)} AND x.ts <= w.e + {_us(n)}"
            listed = [*shown, "x.cost"]
            body = f"SELECT {_name(listed)} FROM w JOIN hit AS x ON {same} AND {between}"
            return Asked(f"{ours} {body}", f"{duck} {body}", _names(listed))
        case 5:
            between = f"x.ts > {time} AND x.ts <= {time} + {_us(n)}"
            inner = f"SELECT 1 FROM hit AS x WHERE {same} AND {between}"
            body = f"SELECT {_name(shown)} FROM w WHERE NOT EXISTS ({inner})"
            limit = f"epoch_us({time}) + {n} <= (FROM clock)"
            return Asked(f"{ours} {body}", f"{duck} {body} AND {limit}", _names(shown))
        case 6:
            body = f"SELECT DISTINCT {_name(['w.n', time])} FROM w"
            return Asked(f"{ours} {body}", f"{duck} {body}", _names(["w.n", time]))
        case _:
            again = Rows("w AS p", w.late)
            outer = make_again(random, again, time)
            return Asked(f"{ours} {outer.ours}", f"{duck} {outer.duck}", outer.names)


def _only(names: tuple[str, ...], text: str) -> str:
    return f"SELECT {', '.join(names)} FROM ({text})"


def make_again(random: Random, rows: Rows, time: str) -> Asked:
    """Sessions of sessions, by the time at which they end, or that of their last rows."""
    gap, time = random.choice([1, 2, 4]), time.replace("w.", "p.")
    shown = ["COUNT(*)", "SUM(p.n)", f"MAX({time})"]
    ours = f"SELECT {_name(shown)} FROM {rows.text} GROUP BY session_window({time}, {_us(gap)})"
    new = (
        f"CASE WHEN epoch_us({time}) - LAG(epoch_us({time})) OVER (ORDER BY {time}) <= {gap} "
        "THEN 0 ELSE 1 END"
    )
    run = f"SUM(new) OVER (ORDER BY {time} RANGE UNBOUNDED PRECEDING)"
    duck = (
        f"SELECT {_name(shown)} FROM (SELECT *, {run} AS run FROM (SELECT *, {new} AS new FROM "
        f"{rows.text}) AS p) AS p GROUP BY run HAVING MAX(final) + {gap} <= (FROM clock)"
    )
    return Asked(ours, duck, _names(shown))


def _names(shown: list[str]) -> tuple[str, ...]:
    return tuple(f"c{n}" for n in range(len(shown)))


def _name(shown: list[str]) -> str:
    return ", ".join(f"{s} AS {n}" for s, n in zip(shown, _names(shown), strict=True))


def check(seed: int) -> None:
    """One random query over random rows."""
    random = Random(seed)
    asked, made = make_asked(random), make_case(random)
    union = parse_sql(asked.ours, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    data = {n: (["k", "kind", "cost", "ts"], rows) for n, rows in made.rows.items()}
    data["site"] = (["kind", "place"], list(PLACES))
    text = {f"{t}.k": "VARCHAR" for t in made.rows} | {"site.place": "VARCHAR"}
    case = Case(CATALOG, union, data, MARKERS, text)
    expected = evaluate(asked, case)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            found = count(upto(live, marker), asked.names)
            assert found == expected[marker], (asked.ours, marker, found, expected[marker])
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options |= {"ranges": random.choice([1, 3]), "rows_per_chunk": random.choice([1, 2, 5, 99])}
        whole, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options)
    last = max((_micros(row["at"]) for row in whole), default=-1)
    for marker in range(max(done, last) + 1):
        found = count(upto(whole, marker), asked.names)
        assert found == expected[marker], (asked.ours, marker, found, expected[marker])
    event(f"answers: {len(whole) > 0}")


def evaluate(asked: Asked, case: Case) -> list[Counter[Any]]:
    """The answers at every marker, by DuckDB over the rows until then."""
    base = open_database()
    for name, (columns, rows) in case.data.items():
        kinds = {"k": "VARCHAR", "place": "VARCHAR", "ts": "TIMESTAMP"}
        spec = ", ".join(f"{c} {kinds.get(c, 'BIGINT')}" for c in columns)
        base.execute(f"CREATE TEMP TABLE all_{name} ({spec})")
        cells = ("make_timestamp(?)" if c == "ts" else "?" for c in columns)
        insert_rows(base, f"all_{name}", ", ".join(cells), rows)
    found = []
    for marker in range(MARKERS + 1):
        for name in case.data:
            where = "" if name == "site" else f" WHERE ts <= make_timestamp({marker})"
            base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM all_{name}{where}")
        base.execute(f"CREATE OR REPLACE TEMP VIEW clock AS SELECT {marker}::BIGINT AS now")
        rows = base.execute(asked.duck).fetchall()
        found.append(Counter(tuple(map(_plain, row)) for row in rows))
    return found


def _plain(cell: Any) -> Any:
    return cell.replace(tzinfo=None) if hasattr(cell, "tzinfo") else cell


def _micros(moment: Any) -> int:
    return int((moment.replace(tzinfo=None) - EPOCH).total_seconds() * 1_000_000 + 0.5)


@given(SEEDS)
@budget(0.1)
def test_queries_over_sessions_and_sessions_of_answers_equal_duckdb(seed: int) -> None:
    check(seed)
