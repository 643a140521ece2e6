"""The 25 cases of the design of answers that change: what each must say, with its update pattern
and its bound, that a replay of it tells what DuckDB answers, from scratch, at every step, and that
what it keeps stays within the bound at ten times the rows.

Streams have at most 5 rows a second; `k` is one of ten values, other columns are unbounded. The
design's bounds (DESIGNED) are not to be exceeded in order of magnitude.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.checker.verdict.find_pattern import find_pattern
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.add_views import extend_catalog
from tests.oracle.database import open_database

COLUMNS = {"s": ("k", "a", "b"), "t": ("k", "c", "d"), "u": ("k", "e"), "p": ("k", "price", "gone")}
STREAM = """
[streams.{0}]
source = {{ format = "parquet", path = "{0}.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 5
{2}
[streams.{0}.columns]
k = {{ type = "int", min = 0, max = 9 }}
{1}
"""
TOML = "[project]\nqueries = []\n" + "".join(
    STREAM.format(
        name,
        "\n".join(f'{c} = "{"boolean" if c == "gone" else "int"}"' for c in columns[1:]),
        'keys = [["k", "ts"]]' if name in ("p", "u") else "",
    )
    for name, columns in COLUMNS.items()
)
PRICES = """
[relations.price]
versions = { stream = "p", key = ["k"], delete = "gone" }
[relations.price_of_any]
versions = { stream = "q", key = ["a"] }
[streams.q]
source = { format = "parquet", path = "q.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["a", "ts"]]
columns = { a = "int", price = "int" }
"""
BEGIN = datetime(2026, 1, 1)
STEPS = 140
HELD = (
    "(SELECT *, LEAD(ts) OVER (PARTITION BY k ORDER BY ts) AS until FROM p)",
    "p.ts <= s.ts AND (p.until > s.ts OR p.until IS NULL) AND p.gone IS NOT TRUE",
)


@dataclass(frozen=True)
class Design:
    """A case. `most`: a bound that is not exceeded, as the design has it (None: no plan); `tier`:
    where there is none; `emit`: how answers are told (None: as fits); `duck`: what DuckDB is asked
    at a time, which is `{now}` (None: the same; "": nothing), where only final answers are."""

    name: str
    text: str
    most: int | None = None
    tier: Tier = Tier.UNBOUNDED
    emit: str | None = None
    duck: str | None = None


def _last(alias: str, seconds: int) -> str:
    return f"{alias}.ts > NOW() - INTERVAL '{seconds}' SECOND"


LAST = _last("s", 10)
BY_MINUTE = "SELECT k, date_trunc('minute', ts) AS m, {0} AS n FROM s GROUP BY k, m{1}"
OVER = "date_trunc('minute', s.ts) + INTERVAL '60' SECOND <= {now}"
BETWEEN = "EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND t.ts > s.ts AND t.ts {0})"
NEVER = "EXISTS (SELECT 1 FROM t WHERE t.k = s.k)"
EVER = "EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND t.ts > s.ts)"
JOINED = (
    "SELECT s.a FROM s JOIN p ON p.k = s.k AND p.ts BETWEEN s.ts AND s.ts + INTERVAL '5' SECOND "
    "WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND t.ts > p.ts AND t.ts < p.ts + "
    "INTERVAL '5' SECOND)"
)
CASES = [
    Design("1", f"SELECT a FROM s WHERE {LAST}", 50, emit="changes"),
    Design("2", f"SELECT s.a FROM s JOIN t ON s.a = t.c WHERE {LAST} AND {_last('t', 20)}", 150),
    Design("3", f"SELECT DISTINCT k FROM s WHERE {LAST}", 20),
    Design("4", f"SELECT k, COUNT(*) AS n FROM s WHERE {LAST} GROUP BY k", 50),
    Design(
        "5",
        BY_MINUTE.format("COUNT(*)", ""),
        22,  # ten values and NULL, of the minute and of one that waits for its marker
        duck=BY_MINUTE.format("COUNT(*)", "").replace("GROUP", f"WHERE {OVER} GROUP"),
    ),
    Design(
        "6",
        "SELECT k, HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '60' SECOND) AS b, COUNT(*) AS n "
        "FROM s GROUP BY k, HOP(ts, INTERVAL '5' SECOND, INTERVAL '60' SECOND)",
        13 * 11,
        duck="SELECT k, h, COUNT(*) AS n FROM (SELECT s.*, UNNEST(generate_series("
        "time_bucket(INTERVAL '5' SECOND, ts) - INTERVAL '55' SECOND, "
        "time_bucket(INTERVAL '5' SECOND, ts), INTERVAL '5' SECOND)) AS h FROM s) AS x "
        "WHERE h + INTERVAL '60' SECOND <= {now} GROUP BY k, h",
    ),
    Design("7", f"SELECT k, MAX(a) AS n FROM s WHERE {LAST} GROUP BY k", 61),
    Design(
        "8",
        "SELECT date_trunc('minute', ts) AS m, COUNT(DISTINCT a) AS n FROM s GROUP BY m",
        310,
        duck="SELECT date_trunc('minute', ts) AS m, COUNT(DISTINCT a) AS n FROM s "
        f"WHERE {OVER} GROUP BY m",
    ),
    Design(
        "9",
        "SELECT a FROM s WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND t.ts <= s.ts)",
        10,
    ),
    Design(
        "10",
        "SELECT a FROM s WHERE NOT " + BETWEEN.format("<= s.ts + INTERVAL '30' SECOND"),
        300,
        duck="SELECT a FROM s WHERE s.ts + INTERVAL '30' SECOND <= {now} AND NOT "
        + BETWEEN.format("<= s.ts + INTERVAL '30' SECOND"),
    ),
    Design(
        "10, of a join whose later row is looked after",
        JOINED,
        975,
        duck=f"{JOINED} AND p.ts + INTERVAL '4' SECOND <= {{now}}",
    ),
    Design("11", "SELECT s.k FROM s WHERE NOT " + EVER, 10),
    Design("11, once", "SELECT DISTINCT s.k FROM s WHERE NOT " + EVER, 10),
    Design("11, never before or after", f"SELECT s.k FROM s WHERE NOT {NEVER}", 20),
    Design("12, never before or after", f"SELECT s.a FROM s WHERE NOT {NEVER}"),
    Design("12", "SELECT s.a FROM s WHERE NOT " + EVER),
    Design("12, once", "SELECT DISTINCT s.a FROM s WHERE NOT " + EVER),
    Design(
        "13",
        "SELECT s.k, u.e FROM s JOIN u ON u.k = s.k AND s.ts < u.ts WHERE NOT "
        + BETWEEN.format("< u.ts"),
        10,
    ),
    Design(
        "14",
        "SELECT a FROM s WHERE NOT EXISTS (SELECT 1 FROM s AS o WHERE o.ts < s.ts AND o.a >= s.a)",
        1,
    ),
    Design(
        "15",
        "SELECT s.k FROM s WHERE NOT EXISTS "
        "(SELECT 1 FROM t WHERE t.ts < s.ts AND t.c < s.a AND t.d < s.b)",
    ),
    Design(
        "16",
        "SELECT s.a, t.d FROM s LEFT JOIN t ON t.k = s.k AND t.ts > s.ts "
        "AND t.ts <= s.ts + INTERVAL '5' SECOND",
        100,
        duck="SELECT s.a, t.d FROM s LEFT JOIN t ON t.k = s.k AND t.ts > s.ts AND t.ts <= s.ts + "
        "INTERVAL '5' SECOND WHERE t.k IS NOT NULL OR s.ts + INTERVAL '5' SECOND <= {now}",
    ),
    Design("17", "SELECT s.k, t.d FROM s LEFT JOIN t ON t.k = s.k AND t.ts <= s.ts"),
    Design("17, shown by k", "SELECT s.k FROM s LEFT JOIN t ON t.k = s.k AND t.ts <= s.ts", 20),
    Design(
        "18",
        "SELECT s.a, p.price FROM s JOIN price FOR SYSTEM_TIME AS OF s.ts AS p ON p.k = s.k",
        10,
        duck=f"SELECT s.a, p.price FROM s JOIN {HELD[0]} AS p ON p.k = s.k AND {HELD[1]}",
    ),
    Design(
        "18, any key",
        "SELECT s.b, p.price FROM s JOIN price_of_any FOR SYSTEM_TIME AS OF s.ts AS p ON p.a = s.a",
    ),
    Design(
        "21",
        BY_MINUTE.format("COUNT(*)", " HAVING COUNT(*) > 3"),
        22,
        duck=BY_MINUTE.format("COUNT(*)", " HAVING COUNT(*) > 3").replace(
            "GROUP", f"WHERE {OVER} GROUP"
        ),
    ),
    Design(
        "22",
        "SELECT k, ARG_MAX(e, ts) AS e FROM u GROUP BY k",
        10,
    ),
    Design(
        "23",
        "SELECT s.ts FROM s JOIN t ON s.a = t.c AND s.ts < t.ts "
        "AND t.ts <= s.ts + INTERVAL '10' SECOND",
        50,
    ),
    Design("23, without the window", "SELECT s.ts FROM s JOIN t ON s.a = t.c AND s.ts < t.ts"),
    Design("24", f"SELECT s.k FROM s JOIN t ON s.a = t.c WHERE {LAST}"),
    Design("24, on k", f"SELECT s.k FROM s JOIN t ON s.k = t.k WHERE {LAST}", 55),
    Design(
        "25, of each row and those before",
        "SELECT s.k, s.a FROM s WHERE NOT EXISTS (SELECT 1 FROM s AS i WHERE i.k = s.k "
        "AND i.ts < s.ts AND i.ts > s.ts - INTERVAL '60' SECOND AND i.a > s.a)",
        300,
    ),
    Design(
        "25, of all pairs in the minute before a row",
        "SELECT s.k FROM s WHERE NOT EXISTS (SELECT 1 FROM s AS i JOIN s AS j ON j.k = i.k "
        "AND i.ts < j.ts AND i.a > j.a WHERE i.k = s.k AND j.ts <= s.ts "
        "AND i.ts > s.ts - INTERVAL '60' SECOND)",
        600,
    ),
    Design(
        "25, ALL of those before",
        "SELECT s.k, s.ts FROM s WHERE (SELECT COUNT(*) FROM s AS i WHERE i.k = s.k "
        "AND i.ts < s.ts AND i.ts > s.ts - INTERVAL '60' SECOND AND i.a > s.a) = 0",
        300,
    ),
    Design(
        "19",
        "SELECT s.a, x.price FROM s JOIN (SELECT k, price FROM p QUALIFY ROW_NUMBER() OVER "
        f"(PARTITION BY k ORDER BY ts DESC) = 1) AS x ON x.k = s.k WHERE {LAST}",
        60,
    ),
    Design(
        "20",
        f"SELECT k FROM s WHERE {LAST} EXCEPT ALL SELECT k FROM t WHERE {_last('t', 10)}",
        100,
    ),
    Design(
        "20, once",
        f"SELECT k FROM s WHERE {LAST} EXCEPT SELECT k FROM t WHERE {_last('t', 10)}",
        22,
    ),
    Design(
        "25, of all pairs in the last minute",
        f"SELECT DISTINCT s.k FROM s WHERE {_last('s', 60)} AND NOT EXISTS (SELECT 1 FROM s AS i "
        "JOIN s AS j ON j.k = i.k AND i.ts < j.ts AND i.a > j.a WHERE i.k = s.k "
        f"AND {_last('i', 60)} AND {_last('j', 60)})",
        320,
    ),
]


DESIGNED: dict[str, tuple[str, int | None]] = {
    "1": ("WKS", 50),
    "2": ("WK", 150),
    "3": ("WK", 20),
    "4": ("STR", 60),
    "5": ("MON", 20),
    "6": ("MON", 120),
    "7": ("STR", 50),
    "8": ("MON", 300),
    "9": ("MON", 10),
    "10": ("MON", 300),
    "11": ("STR", 10),
    "12": ("STR", None),
    "13": ("MON", 10),
    "14": ("MON", 1),
    "15": ("MON", None),
    "16": ("MON", 50),
    "17": ("MON", None),
    "17, shown by k": ("MON", 10),
    "18": ("MON", 10),
    "18, any key": ("MON", None),
    "19": ("STR", 60),
    "20": ("STR", 100),
    "21": ("MON", 20),
    "22": ("STR", 10),
    "23": ("MON", 50),
    "23, without the window": ("MON", None),
    "24": ("WK", None),
    "24, on k": ("WK", 60),
    "25, of each row and those before": ("MON", 300),
    "25, of all pairs in the last minute": ("STR", 300),
}
"""The design's update pattern, and its bound (None: there is none), of each case."""


def test_all_cases_of_the_design_are_there() -> None:
    assert {case.name.partition(",")[0] for case in CASES} == {str(n + 1) for n in range(25)}
    assert DESIGNED.keys() <= {case.name for case in CASES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _make(tmp_path_factory.mktemp("design"), STEPS)


@pytest.fixture(scope="module")
def ten_times(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _make(tmp_path_factory.mktemp("ten_times"), 10 * STEPS)


def _make(made: Path, steps: int) -> Path:
    random = Random(25)
    (made / "ontoweir.toml").write_text(TOML + PRICES)
    for name, columns in {**COLUMNS, "q": ("a", "price")}.items():
        rows = []
        for step in range(steps):
            share = 0.05 if name == "t" else 0.5
            apart = random.sample(range(10), k=2 if random.random() < share else 0)
            for k in apart:
                cells = [k, *(random.randint(0, 12) for _ in columns[1:])]
                if columns[-1] == "gone":
                    cells[-1] = random.random() < 0.3
                rows.append((*cells, BEGIN + timedelta(seconds=step)))
        kinds = [pa.bool_() if c == "gone" else pa.int64() for c in columns]
        names, kinds = [*columns, "ts"], [*kinds, pa.timestamp("us")]
        arrays = [pa.array(c, k) for c, k in zip(zip(*rows, strict=True), kinds, strict=True)]
        pq.write_table(pa.table(arrays, names=names), made / f"{name}.parquet")
    return made


def _check(folder: Path, tmp_path: Path, text: str) -> Verdict:
    (tmp_path / "q.sql").write_text(text)
    workspace = Workspace(load_project(folder, environ={}))
    return workspace.check(workspace.compile_sql(tmp_path / "q.sql"))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_verdict(case: Design, folder: Path, tmp_path: Path) -> None:
    verdict = _check(folder, tmp_path, case.text)
    pattern, designed = DESIGNED.get(case.name, (None, case.most))
    catalog = extend_catalog(load_project(folder, environ={}).catalog, verdict.union)
    assert pattern in (None, find_pattern(verdict.union, catalog))
    assert (designed is None) == (case.most is None)
    if case.most is None:
        assert verdict.tier is case.tier
        assert (verdict.witness is not None) == (case.tier is Tier.UNBOUNDED)
        return
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    assert verdict.bound.rows <= case.most
    assert designed is not None
    assert case.most <= 10 * designed


@pytest.mark.parametrize("case", [c for c in CASES if c.most is not None], ids=lambda c: c.name)
def test_the_answers(case: Design, folder: Path) -> None:
    """What holds at a step, after all that was told until then."""
    answers = ontoweir.open_project(folder).replay(case.text, emit=case.emit)  # type: ignore[arg-type]
    assert answers.summary["state_rows_max"] <= answers.summary["bound_rows"]
    told = sorted(answers.to_arrow().to_pylist(), key=lambda row: row["at"])
    names = [n for n in answers.to_arrow().column_names if n not in ("at", "until", "op")]
    shown = [n for n in names if n != "multiplicity"]
    seen = 0
    with open_database() as base:
        for name in (*COLUMNS, "q"):
            base.execute(f"CREATE TEMP TABLE all_{name} AS FROM '{folder / name}.parquet'")
        for step in range(3, STEPS - 1, 7):
            now = BEGIN + timedelta(seconds=step)
            for name in (*COLUMNS, "q"):
                where = f"WHERE ts <= TIMESTAMP '{now}'"
                base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM all_{name} {where}")
            text = (case.duck or case.text).replace("NOW()", "{now}")
            rows = base.execute(text.replace("{now}", f"TIMESTAMP '{now}'")).fetchall()
            expected = Counter(tuple(map(_plain, row)) for row in rows)
            assert _holds(told, shown, now) == expected, now
            seen += len(expected)
    assert seen > 3


@pytest.mark.parametrize("case", [c for c in CASES if c.most is not None], ids=lambda c: c.name)
def test_the_state_at_ten_times_the_rows(case: Design, ten_times: Path) -> None:
    project = ontoweir.open_project(ten_times)
    kept = project.replay(case.text, emit=case.emit).summary  # type: ignore[arg-type]
    assert kept["state_rows_max"] <= kept["bound_rows"]


def _holds(told: list[dict[str, Any]], shown: list[str], now: datetime) -> Counter[Any]:
    holds: Counter[Any] = Counter()
    for row in told:
        at, until = _plain(row["at"]), _plain(row.get("until"))
        if at > now or (until is not None and until <= now):
            continue
        sign = -1 if row.get("op") == "-" else 1
        holds[tuple(_plain(row[n]) for n in shown)] += sign * row.get("multiplicity", 1)
    return +holds


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value
