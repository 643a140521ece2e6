"""The latest, and the first, rows of keys that a register chooses, by IN and EXISTS beside QUALIFY,
numbers in a subquery, NOT EXISTS and MAX(ts): their changes and snapshots, replayed and live, as
DuckDB answers the same text at every time, with NOW() as that time."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data
from tests.oracle.test_sql_nulls import CATALOG


def _draw_condition(random: Random, key: str, *, alone: bool) -> str:
    """What a register says; `alone`: of the key alone."""
    more = random.choice(["", " AND u.a > 0", " AND u.g = 'x'"])
    kinds = [
        f"{key} IN (SELECT u.h FROM r AS u WHERE u.a <> 1{more})",
        f"EXISTS (SELECT 1 FROM r AS u WHERE u.h = {key}{more})",
        f"{key} IN (SELECT h FROM r)",
    ]
    if not alone:
        kinds += [
            f"EXISTS (SELECT 1 FROM r WHERE r.h = {key} AND r.a >= x.a)",
            f"({key}, x.g) IN (SELECT u.h, u.g FROM r AS u)",
            f"EXISTS (SELECT 1 FROM r AS u WHERE u.h = x.a AND u.g = x.g{more})",
        ]
    return random.choice(kinds)


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    stream, kind = random.choice("st"), random.random()
    key = "x.h" if kind < 0.8 or random.random() < 0.5 else "x.a"
    said = [_draw_condition(random, key, alone=kind > 0.7)]
    if random.random() < 0.3:
        said.append(_draw_condition(random, key, alone=kind > 0.7))
    names, listed = ("k", "a", "b"), f"{key} AS k, x.a AS a, x.b AS b"
    window = f"RANK() OVER (PARTITION BY {key} ORDER BY x.ts DESC)"
    more = [random.choice(["x.a > 0", "x.b IS NOT NULL"])] if random.random() < 0.3 else []
    random.shuffle(said)
    where = " AND ".join([*said, *more])
    if kind < 0.25:
        return f"SELECT {listed} FROM {stream} AS x WHERE {where} QUALIFY {window} = 1", names
    if kind < 0.5:
        inner = f"SELECT *, {window} AS n FROM {stream} AS x WHERE {where}"
        return f"SELECT h AS k, a, b FROM ({inner}) AS v WHERE n = 1".replace(
            "h AS k", f"{key[2:]} AS k"
        ), names
    if kind < 0.7:
        order = random.choice(["x.a DESC", "x.b", "x.a"]) + " NULLS LAST"
        moving = f"x.ts > NOW() - INTERVAL '{random.randint(1, 5)}' MICROSECOND AND "
        moving = random.choice(["", moving])
        limit = random.choice([1, 2])
        first = f"RANK() OVER (PARTITION BY {key} ORDER BY {order}) <= {limit}"
        return f"SELECT {listed} FROM {stream} AS x WHERE {moving}{where} QUALIFY {first}", names
    there = f"{key} IS NOT NULL"
    said.append(there)
    beside = f"FROM {stream} AS y WHERE y.{key[2:]} = {key}"
    latest = random.choice(
        [
            f"NOT EXISTS (SELECT 1 {beside} AND y.ts > x.ts)",
            f"x.ts = (SELECT MAX(y.ts) {beside})",
        ]
    )
    return f"SELECT {listed} FROM {stream} AS x WHERE {' AND '.join([*said, latest])}", names


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    text, names = make_query(random)
    catalog, data = draw_data(random)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    return compare_told(random, text, names, union, (catalog, data))


@budget(0.15)
@given(seed=SEEDS)
def test_the_latest_chosen_rows_are_duckdbs(seed: int) -> None:
    event(check(seed))


OTHERS = [
    "x.a IN (SELECT a FROM r) QUALIFY RANK() OVER (PARTITION BY x.h ORDER BY x.ts DESC) = 1",
    (
        "EXISTS (SELECT 1 FROM r WHERE r.h > x.h) QUALIFY "
        "RANK() OVER (PARTITION BY x.h ORDER BY x.ts DESC) = 1"
    ),
    "x.h NOT IN (SELECT h FROM r) QUALIFY RANK() OVER (PARTITION BY x.h ORDER BY x.ts DESC) = 1",
    # a later row that the register does not choose is there, all the same
    (
        "EXISTS (SELECT 1 FROM r WHERE r.h = x.h AND r.a = x.a) "
        "AND NOT EXISTS (SELECT 1 FROM s AS y WHERE y.h = x.h AND y.ts > x.ts)"
    ),
]


@pytest.mark.parametrize("said", OTHERS)
def test_rows_that_others_of_a_register_choose_are_duckdbs(said: str) -> None:
    """By what is no key of it, so that a row may meet several; by more than the key."""
    text, told = f"SELECT x.h AS c0, x.a AS c1 FROM s AS x WHERE {said}", set[str]()
    for seed in range(8):
        random = Random(seed)
        catalog, data = draw_data(random)
        try:
            union = parse_sql(text, catalog, name="q", file="q.sql")
        except QueryError:
            assert catalog is not CATALOG  # of what may be NULL
            continue
        told.add(compare_told(random, text, ("c0", "c1"), union, (catalog, data)))
    assert any("True" in one for one in told)
