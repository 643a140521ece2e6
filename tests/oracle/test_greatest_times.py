"""The greatest time of each key by LEAD, MAX OVER, WITH, USING and around groups: what holds at
every time is what DuckDB answers; keys, and values, that may be NULL."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import OntoweirError
from tests.oracle.database import open_database

CATALOG = """
[project]
queries = []
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"]]
max_per_timestamp = 5
[streams.s.columns]
k = { type = "string", enum = ["a", "b", "c", "d"] }
v = { type = "int", min = 0, max = 9 }
[streams.z]
source = { format = "parquet", path = "z.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"]]
max_per_timestamp = 5
[streams.z.columns]
k = { type = "string", enum = ["a", "b", "c", "d"], nullable = true }
v = { type = "int", min = 0, max = 9, nullable = true }
[relations.m]
source = { format = "parquet", path = "m.parquet" }
keys = [["k"]]
max_rows = 5
columns = { k = { type = "string", enum = ["a", "b", "c", "d", "e"] }, line = "string" }
"""
BEGIN = datetime(2026, 5, 1)
SECONDS = 40
GROUPS = "SELECT k, MAX(ts) AS t FROM s GROUP BY k"
NEXT = "LEAD(ts) OVER (PARTITION BY k ORDER BY ts)"
NUMBERED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM s"
AGO = "NOW() - INTERVAL '5' SECOND"
ASKED = [
    f"WITH l AS ({GROUPS}) SELECT s.k, s.v FROM s JOIN l ON l.k = s.k AND l.t = s.ts",
    "WITH l AS (SELECT k, MAX(ts) AS ts FROM s GROUP BY k) SELECT k, v FROM s JOIN l USING (k, ts)",
    "SELECT k, v FROM s JOIN (SELECT k, MIN(ts) AS ts FROM s GROUP BY k) USING (k, ts)",
    f"SELECT k, v FROM s QUALIFY {NEXT} IS NULL",
    f"SELECT k, v FROM (SELECT *, {NEXT} AS nxt FROM s) WHERE nxt IS NULL AND v > 3",
    f"SELECT COUNT(*) AS n FROM (SELECT k, {NEXT} AS nxt FROM s) x WHERE x.nxt IS NULL",
    "SELECT k, v FROM (SELECT *, MAX(ts) OVER (PARTITION BY k) AS t FROM s) WHERE ts = t",
    "SELECT k, v FROM s QUALIFY MAX(ts) OVER (PARTITION BY k) = ts",
    f"WITH l AS ({GROUPS}) SELECT k, t FROM l WHERE t < {AGO}",
    f"SELECT k FROM ({GROUPS}) WHERE NOW() - t >= INTERVAL '5' SECOND",
    "SELECT k FROM s GROUP BY k HAVING NOW() - MAX(ts) > INTERVAL '5' SECOND",
    f"SELECT k, ts FROM ({NUMBERED}) WHERE n = 1 AND ts < {AGO}",
    (
        f"WITH l AS ({GROUPS}) SELECT m.k, l.t FROM m LEFT JOIN l ON l.k = m.k "
        f"WHERE l.t IS NULL OR l.t < {AGO}"
    ),
    "SELECT k, ARG_MAX(v, ts) AS v FROM z WHERE k IS NOT NULL GROUP BY k",
    (
        "SELECT k, v FROM z WHERE k IS NOT NULL QUALIFY "
        "ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1"
    ),
    f"SELECT k, MAX(ts) AS t FROM z GROUP BY k HAVING MAX(ts) < {AGO}",
    # rows without a key are equal to none: no greatest time is theirs, and none is after them
    "SELECT a.k, a.v FROM z a WHERE a.ts = (SELECT MAX(x.ts) FROM z x WHERE x.k = a.k)",
    "SELECT a.k, a.v FROM z a WHERE a.ts = (SELECT MAX(x.ts) FROM z x WHERE x.k = a.k) AND a.v > 1",
    "SELECT k, v FROM z JOIN (SELECT k, MIN(ts) AS ts FROM z GROUP BY k) USING (k, ts)",
    (
        "WITH l AS (SELECT k, MAX(ts) AS t FROM z GROUP BY k) SELECT z.k, z.v FROM z JOIN l "
        "ON l.k = z.k AND l.t = z.ts WHERE z.v > 1"
    ),
    "SELECT a.k, a.v FROM z a WHERE NOT EXISTS (SELECT 1 FROM z b WHERE b.k = a.k AND b.ts > a.ts)",
    "SELECT a.k, a.v FROM z a LEFT JOIN z b ON b.k = a.k AND b.ts > a.ts WHERE b.ts IS NULL",
    "SELECT a.k, a.v FROM z a WHERE a.ts >= ALL (SELECT b.ts FROM z b WHERE b.k = a.k)",
    (
        "SELECT a.k, a.v FROM z a WHERE a.k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM z b "
        "WHERE b.k = a.k AND b.ts > a.ts)"
    ),
]


@pytest.fixture(name="folder", scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, random = tmp_path_factory.mktemp("greatest"), Random(12)
    (folder / "ontoweir.toml").write_text(CATALOG, encoding="utf-8")
    for name, share in (("s", 0.0), ("z", 0.4)):
        rows = []
        for second in range(SECONDS):
            for key in random.sample("abcd", k=random.choice([0, 0, 1, 1, 2])):
                k, v = (None if random.random() < share else x for x in (key, random.randint(0, 9)))
                rows.append({"ts": BEGIN + timedelta(seconds=second), "k": k, "v": v})
        schema = pa.schema([("ts", pa.timestamp("us")), ("k", pa.string()), ("v", pa.int64())])
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / f"{name}.parquet")
    pq.write_table(pa.table({"k": list("abcde"), "line": list("xxyyy")}), folder / "m.parquet")
    return folder


@pytest.fixture(name="project", scope="module")
def open_it(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


@pytest.mark.parametrize("text", ASKED)
def test_it_holds_what_duckdb_answers(text: str, folder: Path, project: OpenProject) -> None:
    assert project.check(text).bound is not None
    told = project.replay(text, emit="changes").to_arrow()
    names = [n for n in told.column_names if n not in ("op", "at", "multiplicity")]
    changes = sorted(told.to_pylist(), key=lambda row: row["at"])
    held: Counter[Any] = Counter()
    with open_database() as base:
        base.execute(f"CREATE TEMP VIEW m AS FROM '{folder / 'm.parquet'}'")
        for now in (BEGIN + timedelta(seconds=n) for n in range(SECONDS - 3)):
            while changes and changes[0]["at"].replace(tzinfo=None) <= now:
                row = changes.pop(0)
                sign = 1 if row["op"] == "+" else -1
                held[tuple(map(_plain, (row[n] for n in names)))] += sign * row.get(
                    "multiplicity", 1
                )
            for name in "sz":
                base.execute(
                    f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM "
                    f"'{folder / name}.parquet' WHERE ts <= TIMESTAMP '{now}'"
                )
            rows = base.execute(text.replace("NOW()", f"TIMESTAMP '{now}'")).fetchall()
            assert +held == Counter(rows), (text, now)
    assert told.num_rows > 2


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"SELECT k, v FROM s QUALIFY {NEXT} IS NULL OR v > 3", "it never is"),
        (f"SELECT * FROM (SELECT *, {NEXT} AS nxt FROM s) WHERE nxt IS NULL", "it never is"),
        (f"SELECT k, {NEXT} IS NULL AS last FROM s", "it never is"),
        (f"SELECT k, v FROM s QUALIFY {NEXT.replace('ts)', 'v)', 1)} IS NULL", "it never is"),
        (
            f"WITH l AS ({GROUPS}) SELECT s.k FROM s JOIN l TABLESAMPLE (10 PERCENT) ON l.t = s.ts",
            "not final",
        ),
    ],
)
def test_what_would_lose_or_repeat_rows_is_refused(
    text: str, why: str, project: OpenProject
) -> None:
    with pytest.raises(OntoweirError) as raised:
        project.check(text)
    assert why in str(raised.value) + str(raised.value.why) + str(raised.value.fix)
