"""STRING_AGG, LISTAGG and GROUP_CONCAT of buckets of time and of windows that slide: replayed in
one range and in several, and live, as DuckDB answers with the order that is stated."""

from datetime import date, datetime
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given

import ontoweir as ow
from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle import test_buckets, test_sliding_groups
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_chosen_texts import CATALOG, make_texts
from tests.oracle.test_sql_nulls import Query, make_query


def _draw_list(random: Random, column: str) -> tuple[str, str]:
    """What we read, and what DuckDB reads."""
    between = random.choice([", ", "", "|"])
    down = random.choice(["", " DESC"])
    table = column.split(".")[0]
    kinds = ["plain", "value", "within", "distinct", "time", "filter", "computed", "columns"]
    match random.choice(kinds):
        case "plain":
            return f"STRING_AGG({column}, '{between}')", (
                f"STRING_AGG({column}, '{between}' ORDER BY {column})"
            )
        case "value":
            return (f"STRING_AGG({column}, '{between}' ORDER BY {column}{down})",) * 2
        case "within":
            ours = f"LISTAGG({column}, '{between}') WITHIN GROUP (ORDER BY {column}{down})"
            return ours, f"STRING_AGG({column}, '{between}' ORDER BY {column}{down})"
        case "distinct":
            ours = f"STRING_AGG(DISTINCT {column}, '{between}')"
            return ours, f"STRING_AGG(DISTINCT {column}, '{between}' ORDER BY {column})"
        case "time":
            ours = f"STRING_AGG({column}, '{between}' ORDER BY {table}.ts{down})"
            return ours, (
                f"STRING_AGG({column}, '{between}' ORDER BY {table}.ts{down}, {column}{down})"
            )
        case "columns":
            keys = random.sample([f"{table}.a", f"{table}.d", f"{table}.ts"], random.randint(1, 3))
            by, last = ", ".join(f"{k}{down}" for k in keys), f"{column}{down}"
            own = random.choice(["", f", {last}"])
            told = " AND ".join(f"{k} IS NOT NULL" for k in keys)
            return f"STRING_AGG({column}, '{between}' ORDER BY {by}{own})", (
                f"STRING_AGG({column}, '{between}' ORDER BY {by}, {last}) FILTER (WHERE {told})"
            )
        case "filter":
            only = f"FILTER (WHERE {table}.h = 1)"
            return f"STRING_AGG({column}, '{between}') {only}", (
                f"STRING_AGG({column}, '{between}' ORDER BY {column}) {only}"
            )
        case _:
            return f"STRING_AGG(UPPER({column}), '{between}')", (
                f"STRING_AGG(UPPER({column}), '{between}' ORDER BY UPPER({column}))"
            )


def _make_query(random: Random) -> Query:
    query = make_query(random)
    tables = [t for t in query.rest.split(" WHERE ")[0].split(", ") if t != "r"]
    kept = tuple(c for c in query.columns if not c[1].endswith(".g"))
    group = tuple(g for g in query.group if not g.endswith(".g"))
    listed = _draw_list(random, f"{random.choice(tables)}.g")
    return Query((*kept, ("x_list", *listed)), group, query.rest)


@budget(0.12)
@given(seed=SEEDS)
def test_lists_of_buckets_equal_duckdb(seed: int) -> None:
    random = Random(seed)
    query = _make_query(random)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_buckets, "CATALOG", CATALOG)
        patch.setattr(test_buckets, "make_data", make_texts)
        test_buckets.compare(random, query)


def check_windows(seed: int) -> str:
    """The changes of lists of windows."""
    random = Random(seed)
    query = test_sliding_groups.add_windows(random, _make_query(random))
    query = test_sliding_groups.add_row(random, query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_sliding_groups, "CATALOG", CATALOG)
        patch.setattr(test_sliding_groups, "make_data", make_texts)
        return str(test_sliding_groups.compare(random, query))


@budget(0.12)
@given(seed=SEEDS)
def test_lists_of_windows_equal_duckdb(seed: int) -> None:
    event(check_windows(seed))


BUCKET = "TUMBLE(ts, INTERVAL '4' MICROSECOND)"


def test_it_is_bounded_by_the_rows_of_a_bucket() -> None:
    sql = f"SELECT {BUCKET} AS b, STRING_AGG(g, ', ') AS x FROM s GROUP BY {BUCKET}"
    verdict = check_query(parse_sql(sql, CATALOG, name="q", file="q.sql"), CATALOG)
    assert verdict.bound is not None
    assert verdict.bound.rows is not None


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT h, STRING_AGG(g, ',') AS x FROM s GROUP BY h", "without a bucket of time"),
        (f"SELECT {BUCKET} AS b, STRING_AGG(a, ',') AS x FROM s GROUP BY {BUCKET}", "which is int"),
        (
            f"SELECT {BUCKET} AS b, STRING_AGG(g, ',' ORDER BY b) AS x FROM s GROUP BY {BUCKET}",
            "no time, date or whole number",
        ),
        (
            f"SELECT {BUCKET}, STRING_AGG(g, ',' ORDER BY a, d DESC) FROM s GROUP BY {BUCKET}",
            "all in one direction",
        ),
        (
            f"SELECT {BUCKET} AS b, GROUP_CONCAT(g) AS x FROM s GROUP BY {BUCKET}",
            "without a text between",
        ),
    ],
)
def test_it_is_refused(sql: str, told: str) -> None:
    with pytest.raises(QueryError, match=told):
        parse_sql(sql, CATALOG, name="q", file="q.sql")


def test_lists_by_all_whole_numbers_and_dates(tmp_path: Path) -> None:
    numbers = [-(2**63), -(10**10), -(10**10) + 1, -1, 0, 10**10 - 1, 10**10, 2**63 - 1]
    random = Random(1)
    numbers += [random.randint(-(2**63), 2**63 - 1) for _ in range(50)]
    days = [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(9999, 12, 31)]
    rows = [(n, random.choice(days)) for n in numbers]
    random.shuffle(rows)
    columns = {
        "ts": pa.array([datetime(2026, 1, 1)] * len(rows), pa.timestamp("us")),
        "n": [n for n, _ in rows],
        "day": [day for _, day in rows],
        "x": [f"{day} {n}" for n, day in rows],
    }
    pq.write_table(pa.table(columns), tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(
        """[project]
queries = []
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 hour" }
max_per_timestamp = 100
columns = { n = "int", day = "date", x = "string", m = { type = "int", nullable = true } }
"""
    )
    text = "SELECT STRING_AGG(x, ',' ORDER BY {}) FROM s GROUP BY ts"
    project = ow.open(tmp_path)

    def listed(by: str) -> list[str]:
        found = project.replay(text.format(by), engine="driver").to_arrow()
        assert found.column_names[0] == f"LISTAGG(x, ',') WITHIN GROUP (ORDER BY {by})"
        return str(found[0][0].as_py()).split(",")

    assert listed("day, n") == [f"{day} {n}" for n, day in sorted(rows, key=lambda r: r[::-1])]
    assert listed("n DESC") == [f"{day} {n}" for n, day in sorted(rows, reverse=True)]
    with pytest.raises(QueryError, match="where it is NULL is not the same in every SQL"):
        project.check(text.format("m"))


def test_lists_by_time_around_1970_and_in_the_first_and_last_years(tmp_path: Path) -> None:
    days = [(1, 1, 2), (1969, 12, 31), (1970, 1, 1), (9999, 1, 1)]
    times = [datetime(*day) for day in days]
    rows = {"ts": pa.array(times, pa.timestamp("us")), "x": ["zero", "z", "a", "b"]}
    pq.write_table(pa.table(rows), tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(
        """[project]
queries = []
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 hour" }
max_per_timestamp = 1
columns = { x = "string" }
"""
    )
    text = "SELECT STRING_AGG(x, ',' ORDER BY ts) AS l FROM s GROUP BY date_trunc('week', ts)"
    found = ow.open(tmp_path).replay(text, engine="driver").to_arrow()
    assert found["l"].to_pylist() == ["zero", "z,a"]
