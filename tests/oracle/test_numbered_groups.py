"""The groups with the first numbers, of sliding windows and of all rows so far: their changes and
snapshots, replayed in ranges and live, as DuckDB answers the same text at every time, with NOW() as
that time."""

from random import Random

from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data


def _us(number: int) -> str:
    return f"INTERVAL '{number}' MICROSECOND"


def _draw_groups(random: Random) -> tuple[str, list[str], list[str]]:
    """FROM and WHERE of rows that are grouped, what they may be grouped by, and aggregates."""
    window = f"x.ts > NOW() - {_us(random.randint(1, 5))}"
    kind = random.random()
    rows, keys = "FROM s AS x", ["x.h", "x.g", "x.a"]
    said = [window] if kind < 0.8 else []
    if kind < 0.3:
        rows += random.choice([" JOIN r ON r.h = x.h", " JOIN t AS y ON y.h = x.h"])
        if "t AS y" in rows:
            said.append(f"y.ts > NOW() - {_us(random.randint(1, 5))}")
    elif kind < 0.45:
        word = random.choice(["NOT EXISTS", "EXISTS"])
        said.append(f"{word} (SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > NOW() - {_us(3)})")
    if random.random() < 0.3:
        said.append(random.choice(["x.a > 0", "x.h <> 1", "x.g = 'x'"]))
    where = f" WHERE {' AND '.join(said)}" if said else ""
    calls = ["COUNT(*)", "COUNT(x.b)", "SUM(x.a)", "MIN(x.b)", "MAX(x.a)", "COUNT(DISTINCT x.a)"]
    if kind > 0.8:
        calls = ["COUNT(*)", "SUM(x.a)", "MAX(x.a)"]
    return rows + where, keys, calls


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    rest, keys, calls = _draw_groups(random)
    group = random.sample(keys, k=random.choice([1, 1, 2]))
    asked = random.sample(calls, k=random.choice([1, 1, 2]))
    names = [f"c{n}" for n in range(len(group) + len(asked))]
    values = dict(zip(names, [*group, *asked], strict=True))
    part = random.sample(names[: len(group)], k=1) if len(group) > 1 else []
    part = part if random.random() < 0.7 else []
    other = [n for n in names[: len(group)] if n not in part]
    order = [names[-1], *(random.sample(other, k=1) if random.random() < 0.3 else [])]
    function = random.choice(["RANK()", "DENSE_RANK()", "ROW_NUMBER()"])
    if function == "ROW_NUMBER()":
        order = [names[-1], *other]
    downs = [random.choice([" DESC", ""]) for _ in order]
    nulls = [random.choice([" NULLS LAST", " NULLS FIRST"]) for _ in order]
    by = f" GROUP BY {', '.join(group)}"
    if "NOW()" in rest and random.random() < 0.25:
        by += f" HAVING {random.choice(['COUNT(*) > 1', 'COUNT(*) < 3', asked[0] + ' > 0'])}"
    limit = random.choice([1, 1, 2, 3])
    listed = ", ".join(f"{values[n]} AS {n}" for n in names)
    groups = f"SELECT {listed} {rest}{by}"

    def window(named: bool) -> str:
        of = {n: n if named else values[n] for n in names}
        text = "".join(f"PARTITION BY {of[p]} " for p in part) + "ORDER BY "
        every = zip(order, downs, nulls, strict=True)
        return f"{function} OVER ({text}{', '.join(of[o] + d + n for o, d, n in every)})"

    kind, told = random.random(), tuple(names)
    chosen = f"= {limit}" if random.random() < 0.2 else f"<= {limit}"
    if not part and function == "ROW_NUMBER()" and kind < 0.5:
        every = zip(order, downs, nulls, strict=True)
        skip = random.choice(["", "", " OFFSET 1"])
        return f"{groups} ORDER BY {', '.join(map(''.join, every))} LIMIT {limit}{skip}", told
    if kind < 0.5:
        return f"{groups} QUALIFY {window(False)} {chosen}", told
    if kind < 0.6:
        return f"SELECT * FROM ({groups}) AS w QUALIFY {window(True)} {chosen}", told
    if kind < 0.75:
        numbered = f"SELECT *, {window(True)} AS n FROM ({groups}) AS w"
        shown = random.choice(["*", ", ".join(names)])
        told = (*told, "n") if shown == "*" else told
        more = random.choice(["", "", f" AND {names[-1]} > 0"])
        return f"SELECT {shown} FROM ({numbered}) AS v WHERE n {chosen}{more}", told
    where = random.choice(["", f" WHERE {names[-1]} > 0"]) if "NOW()" in rest else ""
    numbered = f"SELECT *, {window(True)} AS n FROM ({groups}) AS w{where}"
    return f"SELECT *, n AS m FROM ({numbered}) AS v WHERE n {chosen}".replace(", n AS m", ""), (
        *told,
        "n",
    )


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    text, names = make_query(random)
    catalog, data = draw_data(random)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    assert union.aggregation is not None
    assert union.aggregation.numbered is not None
    return compare_told(random, text, names, union, (catalog, data))


@budget(0.15)
@given(seed=SEEDS)
def test_the_first_groups_are_duckdbs(seed: int) -> None:
    event(check(seed))
