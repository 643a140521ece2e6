"""Rows of windows joined with the latest and the first rows of keys, and by LEFT JOIN with those of
other windows, several beside one row: their changes and snapshots, replayed in ranges and live, as
DuckDB answers the same text at every time, with NOW() as that time."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text, compare_told, draw_data


def _us(number: int) -> str:
    return f"INTERVAL '{number}' MICROSECOND"


def _draw_chosen(random: Random, table: str) -> str:
    """The latest, or the first, rows of keys of a stream."""
    where, kind = "", random.random()
    if kind < 0.35:
        where = f" WHERE v.ts > NOW() - {_us(random.randint(1, 6))}"
    if random.random() < 0.25:
        said = random.choice(["v.a > 0", "v.h <> 1", "v.b IS NOT NULL"])
        where += f" AND {said}" if where else f" WHERE {said}"
    order = "v.ts DESC"
    if kind < 0.35 or random.random() < 0.4:
        order = random.choice(["v.a DESC", "v.b", "v.ts DESC", "v.h DESC"])
    nulls = "" if "ts" in order else random.choice([" NULLS LAST", " NULLS FIRST"])
    call = random.choice(["RANK()", "RANK()", "DENSE_RANK()"])
    limit = 1 if order == "v.ts DESC" and not kind < 0.35 else random.choice([1, 1, 2])
    window = f"{call} OVER (PARTITION BY v.{random.choice('hhhg')} ORDER BY {order}{nulls})"
    if random.random() < 0.3:
        inner = f"SELECT *, {window} AS n FROM {table} AS v{where}"
        return f"SELECT h, a, b, g FROM ({inner}) AS w WHERE n <= {limit}"
    return f"SELECT h, a, b, g FROM {table} AS v{where} QUALIFY {window} <= {limit}"


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    parts, said = [], []
    if random.random() < 0.8:
        parts.append(("x", f"{random.choice('st')} AS x"))
        said.append(f"x.ts > NOW() - {_us(random.randint(1, 6))}")
        if random.random() < 0.2:
            said.append("x.a <> 1")
    while len(parts) < 2 or (len(parts) < 3 and random.random() < 0.4):
        alias = "xyz"[len(parts)]
        parts.append((alias, f"({_draw_chosen(random, random.choice('st'))}) AS {alias}"))
    text, optional = f"FROM {parts[0][1]}", set()
    for n, (alias, item) in enumerate(parts[1:], 1):
        beside = random.choice([p for p, _ in parts[:n]])
        left = random.random() < 0.35
        on = [f"{alias}.{random.choice('hhha')} = {beside}.{random.choice('hhha')}"]
        if n > 1 and random.random() < 0.3:  # of others than those that it is beside
            same = random.choice("hab")
            on.append(f"{alias}.{same} = {random.choice([p for p, _ in parts[:n]])}.{same}")
        if random.random() < 0.3:
            op = random.choice(["<", ">=", "<>", "="])
            on.append(f"{alias}.a {op} {random.choice([p for p, _ in parts[:n]])}.a")
        if random.random() < 0.2:
            on.append(f"{alias}.a > 0")
        optional |= {alias} if left else set()
        text += f" {'LEFT ' if left else ''}JOIN {item} ON {' AND '.join(on)}"
    plain = [p for p, _ in parts if p not in optional]
    if random.random() < 0.3:
        said.append(f"{random.choice(plain)}.{random.choice(['a > 0', 'h < 2', 'b > 0'])}")
    columns = [f"{p}.{c}" for p, _ in parts for c in "habg"]
    shown = random.sample(columns, k=random.randint(1, 4))
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    once = "DISTINCT " if random.random() < 0.25 else ""
    where = f" WHERE {' AND '.join(said)}" if said else ""
    return f"SELECT {once}{listed} {text}{where}", names


def make_registered(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query of a register beside rows that come and go, and the names of its columns."""
    latest = "(SELECT h, a, b, g FROM {} QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1)"
    first = _draw_chosen(random, "t")
    first = f"({first})" if random.random() < 0.5 else latest.format("t")
    left, of = random.choice(["", "LEFT "]), random.choice(["x", "x", "y"])
    of = "x" if left else of
    said = random.choice([f"u.h = {of}.h", f"u.h = {of}.a", f"u.h = {of}.h AND u.a <= {of}.a"])
    more = random.choice(["", " AND u.a <> 0", " AND u.g = 'x'"])
    window = f"x.ts > NOW() - {_us(random.randint(1, 6))}"
    rows = f"s AS x {left}JOIN {first} AS y ON y.h = x.h"
    text = random.choice(
        [
            f"{rows} JOIN r AS u ON {said} WHERE {window}{more}",
            f"{rows} JOIN r AS u ON {said}{more} WHERE {window}",
            f"{rows}, r AS u WHERE {window} AND {said}{more}",
        ]
    )
    if of == "x" and random.random() < 0.3:
        text = f"r AS u JOIN s AS x ON {said} {left}JOIN {first} AS y ON y.h = x.h WHERE {window}"
    shown = random.sample(["x.h", "x.a", "y.b", "y.g", "u.a", "u.g", "u.h"], k=3)
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    once = random.choice(["", "", "DISTINCT "])
    return f"SELECT {once}{listed} FROM {text}", ("c0", "c1", "c2")


def make_left(random: Random) -> tuple[str, tuple[str, ...]]:
    """Rows of windows beside those of others, if there are any."""
    text, said = f"{random.choice('st')} AS x", [f"x.ts > NOW() - {_us(random.randint(1, 6))}"]
    shown = ["x.h", "x.a", "x.ts"]
    for alias in "yz"[: random.choice([1, 1, 2])]:
        beside = random.choice("xy"[: 1 + (alias == "z")])
        on = [f"{alias}.{random.choice('hhha')} = {beside}.{random.choice('hhha')}"]
        left = alias == "y" or random.random() < 0.7
        (on if left else said).append(f"{alias}.ts > NOW() - {_us(random.randint(1, 6))}")
        if random.random() < 0.4:
            time = f"{alias}.ts {random.choice(['<', '<=', '=', '>'])} {beside}.ts"
            on.append(random.choice([time, f"{alias}.a <> 1", f"{alias}.g = {beside}.g"]))
        table = random.choice("st")
        text += f" {'LEFT ' if left else ''}JOIN {table} AS {alias} ON {' AND '.join(on)}"
        shown += [f"{alias}.{c}" for c in ("b", "g", "ts")]
    if random.random() < 0.3:
        text += f" {random.choice(['', 'LEFT '])}JOIN r AS u ON u.h = x.h"
        shown.append("u.a")
    if random.random() < 0.3:
        said.append(random.choice(["x.a > 0", "1 = 1", "x.h <> x.a"]))
    chosen = random.sample(shown, k=3)
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(chosen))
    once = random.choice(["", "", "DISTINCT "])
    return f"SELECT {once}{listed} FROM {text} WHERE {' AND '.join(said)}", ("c0", "c1", "c2")


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    make = (make_registered, make_left, make_query, make_query)[seed % 4]
    text, names = make(random)
    catalog, data = draw_data(random)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    kind = "joined" if union.joined is not None else "otherwise"
    if choose_emit(union) is not Emit.CHANGES:
        return "intervals"  # when each answer ends is known: test_windows.py
    return f"{kind}: {compare_told(random, text, names, union, (catalog, data))}"


@budget(0.15)
@given(seed=SEEDS)
def test_what_is_joined_is_duckdbs(seed: int) -> None:
    event(check(seed))


STARS = """
SELECT x.h AS c0, y.a AS c1 FROM (ALL s) AS x FULL JOIN (ALL t) AS y ON x.a = y.a
SELECT x.h AS c0, y.a AS c1 FROM (ALL s) AS x RIGHT JOIN (ALL t) AS y ON x.a = y.a AND x.h < y.h
SELECT h AS c0, y.a AS c1 FROM (ALL s) AS x LEFT JOIN (ALL t) AS y USING (h)
SELECT y.h AS c0, COUNT(*) AS c1 FROM (ALL s) AS y WHERE NOT EXISTS (ONE (ALL t) AS x ON) GROUP BY 1
WITH y AS (ALL t) SELECT y.h AS c0 FROM y WHERE EXISTS (ONE (ALL s) AS x ON) AND y.a > 0
"""
"""Of which `*` shows columns, of which some have no value, that nobody reads."""


@pytest.mark.parametrize("text", STARS.strip().splitlines())
def test_columns_that_nobody_reads_are_not_asked_for(text: str) -> None:
    for word, meant in (("ALL s", "ALL s WHERE AGO"), ("ALL t", "ALL t WHERE AGO AND a > -2")):
        text = text.replace(word, meant)
    text = text.replace("AGO", "ts > NOW() - INTERVAL '3' MICROSECOND").replace(
        "ALL", "SELECT * FROM"
    )
    text = text.replace("ONE", "SELECT 1 FROM").replace(" ON)", " WHERE x.h = y.h)")
    names = ("c0", "c1") if " AS c1" in text else ("c0",)
    told = [compare_text(text, names, Random(seed)) for seed in range(2)]
    assert any(one.endswith("answers: True") for one in told), told
