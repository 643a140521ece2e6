"""Why the latest rows of keys without end are not bounded, of many streams."""

from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Failing, Verdict
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.runtime.harness import make_catalog

STREAMS = 7
INT = '"int"'
KEY = '{ type = "int", min = 1, max = 9 }'


def decide(folder: Path, bounded: int) -> Verdict:
    """The latest row of each key of several streams, of which the first `bounded` have a domain."""
    catalog = make_catalog(
        folder,
        "".join(
            f'[streams.s{n}]\nsource = {{ format = "csv", path = "s{n}.csv" }}\n'
            'timestamp = { column = "ts", unit = "1 second" }\nkeys = [["k", "ts"]]\n'
            f'columns = {{ k = {KEY if n < bounded else INT}, x = "int" }}\n'
            for n in range(STREAMS)
        ),
    )
    parts = " UNION ALL ".join(
        f"SELECT k, x, ts FROM s{n} WHERE k IS NOT NULL" for n in range(STREAMS)
    )
    latest = f"FROM ({parts}) QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1"
    sql = f"SELECT k, x {latest}"
    return check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)


@pytest.mark.parametrize("bounded", [0, 3])
def test_each_stream_has_its_own_reason_and_all_are_said(bounded: int, tmp_path: Path) -> None:
    verdict = decide(tmp_path, bounded)
    assert verdict.name == "unbounded"
    said = set()
    for d in verdict.disjuncts:
        assert isinstance(d, Failing)
        (reason,) = d.because
        said.add(reason.message.partition(".")[0])
        tables = {o.table for o in d.query.occurrences}
        assert tables & {f"s{n}" for n in range(bounded)} or (
            reason.message.partition(".")[0] in {o.alias for o in d.query.occurrences}
        )
    assert len(said) == STREAMS - bounded


OPEN = """SELECT b.k, b.ts FROM s0 b WHERE NOT EXISTS (
  SELECT 1 FROM s1 e WHERE e.k = b.k AND e.ts > b.ts)"""


@pytest.mark.parametrize("bounded", [0, 2])
def test_a_time_is_not_to_be_declared(bounded: int, tmp_path: Path) -> None:
    """Of times there are always new ones; what a hint says in their place is bounded."""
    decide(tmp_path, bounded)
    catalog = load_project(tmp_path, environ={}).catalog

    def check(sql: str) -> Verdict:
        return check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)

    hints = {
        reason.hint or ""
        for d in check(OPEN).disjuncts
        if isinstance(d, Failing)
        for reason in d.because
    }
    assert all("leave b.time of the row out" in hint for hint in hints)
    assert all(
        "declare" not in hint.partition("time of the row")[2] or not bounded for hint in hints
    )
    assert all("in a window, by NOW()" in hint for hint in hints)
    assert check(f"{OPEN} AND b.ts > NOW() - INTERVAL '1' DAY").bound is not None
    assert (check(OPEN.replace(", b.ts", "", 1)).bound is not None) == bool(bounded)
