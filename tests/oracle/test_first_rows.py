"""The rows with the first numbers of each key, in any order, over all that came: their changes and
snapshots, replayed and live, as DuckDB answers the same text over every prefix."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_latest import All, fold, make_rows, make_world, run_live
from tests.oracle.test_sql_nulls import MARKERS, upto
from tests.oracle.test_stacked_queries import Stacked, make_job
from tests.runtime.in_process import replay_here, store

SHOWN = "abghdf"


def make_query(random: Random, key: tuple[str, ...]) -> Stacked:
    """A query; DuckDB is asked the same of the rows that have a key, where one is needed."""
    parts = random.sample("hga", k=random.choice([0, 1, 1, 1, 2]))
    numbering = random.choice(["ROW_NUMBER", "ROW_NUMBER", "RANK", "DENSE_RANK"])
    by = random.sample([*SHOWN, "ts"], k=random.randint(1, 2))
    if numbering == "ROW_NUMBER":
        by += [c for c in (*key, "ts") if c not in (*parts, *by)]
    limit = random.randint(1, 3)
    down = [random.random() < 0.6 for _ in by]
    if by[0] == "ts" and (not down[0] or len(by) == limit == 1):
        by.insert(0, "b")
        down.insert(0, True)
    order = []
    for column, desc in zip(by, down, strict=True):
        text = f"-x.{column}" if column == "a" and random.random() < 0.3 else f"x.{column}"
        nulls = random.choice(["FIRST", "LAST"])
        order.append(f"{text}{' DESC' if desc else ''} NULLS {nulls}")
    plain = {c for c, text in zip(by, order, strict=True) if not text.startswith("-")}
    if numbering == "ROW_NUMBER":
        order = [text.removeprefix("-") for text in order]
        plain = set(by)
    shown = random.sample([*SHOWN, "ts"], k=random.randint(1, 4))
    numbered = random.random() < 0.4
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"x.{c} AS {n}" for c, n in zip(shown, names, strict=True))
    split = f"PARTITION BY {', '.join(f'x.{c}' for c in parts)} " if parts else ""
    window = f"{numbering}() OVER ({split}ORDER BY {', '.join(order)})"
    local = random.choice([None, None, "x.a > -2", "x.h IN (0, 1)", "x.g IS NOT NULL"])
    single = {*key, "ts"} <= plain | set(parts)
    known = [f"x.{c} IS NOT NULL" for c in key] if single else []
    where = f" WHERE {local}" if local else ""
    both = [*known, *([local] if local else [])]
    told = f" WHERE {' AND '.join(both)}" if both else ""
    chosen = random.choice([f"n <= {limit}", f"n < {limit + 1}", f"{limit} >= n"])
    texts = []
    for rows in (where, told):
        inner = f"SELECT {listed}, {window} AS n FROM s AS x{rows}"
        last = ", ".join((*names, "n") if numbered else names)
        texts.append((inner, last, rows))
    form = random.choice(["subquery", "with", "qualify"])
    made = []
    for inner, last, rows in texts:
        match form:
            case "subquery":
                made.append(f"SELECT {last} FROM ({inner}) AS w WHERE {chosen}")
            case "with":
                made.append(f"WITH w AS ({inner}) SELECT {last} FROM w WHERE {chosen}")
            case _:
                number = f", {window} AS n" if numbered else ""
                said = chosen.replace("n", window) if not numbered else chosen
                made.append(f"SELECT {listed}{number} FROM s AS x{rows} QUALIFY {said}")
    return Stacked(made[0], made[1], (*names, "n") if numbered else names)


def check(seed: int) -> None:
    random = Random(seed)
    catalog, key = make_world(random)
    query = make_query(random, key)
    data = make_rows(random, key)
    union = parse_sql(query.ours, catalog, name="q", file="q.sql")
    assert union.standing is not None
    assert union.standing.first is not None
    assert choose_emit(union) is Emit.CHANGES
    verdict = check_query(union, catalog)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    case = Case(catalog, union, data, MARKERS)
    oracle = All(case)
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    last = max((row[-1] for row in data["s"][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, stored), emit=Emit.CHANGES)
        options = {"statics": statics, "rows_per_range": 1, "ranges": random.choice([1, 1, 3])}
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options)
        assert verdict.bound.rows is None or summary.state_rows_max <= verdict.bound.rows
        once = Counter((*(row[n] for n in query.names), row["at"]) for row in whole)
        assert max(once.values(), default=1) == 1  # no row ends that begins again
        for marker in range(last + 1):
            found = fold(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, done = run_live(case, verdict, Emit.CHANGES, random, Path(folder))
        for marker in range(done + 1):
            found = fold(upto(live, marker), query.names)
            assert found == expected[marker], ("live", query.ours, marker)
        snapshots = replace(job, emit=Emit.SNAPSHOTS)
        told, _ = replay_here(patch, snapshots, Path(folder, "2.parquet"), **options)
        for moment in {row["at"] for row in told}:
            rows = [row for row in told if row["at"] == moment]
            marker = next(m for m in range(MARKERS) if upto(rows, m))
            assert fold(rows, query.names) == expected[marker], (query.ours, marker)


@budget(0.15)
@given(seed=SEEDS)
def test_the_first_rows_are_duckdbs(seed: int) -> None:
    check(seed)
