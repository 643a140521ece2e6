"""The latest rows of keys in all their phrasings, in subqueries and beside others: rows of windows,
static relations, VALUES and static groups, EXISTS, NOT EXISTS, IN and NOT IN of each: their changes
and snapshots, replayed in ranges and live, as DuckDB answers the same text at every time."""

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, draw_data

_NUMBER = "OVER (PARTITION BY h ORDER BY ts DESC)"
_GROUPS = "SELECT h, MAX(ts) AS m FROM {t}{w} GROUP BY h"
RANKS = {
    "rank": "SELECT h, a, b, g FROM {t}{w} QUALIFY RANK() " + _NUMBER + " = 1",
    "pair": "SELECT h, a, b, g FROM {t} WHERE (h, ts) IN (" + _GROUPS.replace(" AS m", "") + "){m}",
    "greatest": "SELECT q.h, q.a, q.b, q.g FROM {t} AS q WHERE q.ts = "
    "(SELECT MAX(v.ts) FROM {t} AS v WHERE v.h = q.h{v}){q}",
    "later": "SELECT q.h, q.a, q.b, q.g FROM {t} AS q WHERE NOT EXISTS "
    "(SELECT 1 FROM {t} AS v WHERE v.h = q.h AND v.ts > q.ts{v}){q}",
    "partner": "SELECT q.h, q.a, q.b, q.g FROM {t} AS q LEFT JOIN {t} AS v "
    "ON v.h = q.h AND v.ts > q.ts{v} WHERE v.h IS NULL{q}",
    "join": "SELECT q.h, q.a, q.b, q.g FROM {t} AS q JOIN (" + _GROUPS + ") AS v "
    "ON v.h = q.h AND v.m = q.ts{q}",
    "all": "SELECT q.h, q.a, q.b, q.g FROM {t} AS q WHERE q.ts >= ALL "
    "(SELECT v.ts FROM {t} AS v WHERE v.h = q.h{v}){q}",
    "over": "SELECT h, a, b, g FROM (SELECT *, MAX(ts) OVER (PARTITION BY h) AS m FROM {t}{w}) "
    "AS q WHERE ts = m",
}
"""Words for all rows of the latest time of a key."""
SINGLE = {
    "number": "SELECT h, a, b, g FROM {t}{w} QUALIFY ROW_NUMBER() " + _NUMBER + " = 1",
    "around": "SELECT h, a, b, g FROM (SELECT *, ROW_NUMBER() "
    + _NUMBER
    + " AS n FROM {t}{w}) AS q "
    "WHERE n = 1",
    "distinct": "SELECT DISTINCT ON (h) h, a, b, g FROM {t}{w} ORDER BY h, ts DESC",
    "first": "SELECT DISTINCT h, FIRST_VALUE(a) "
    + _NUMBER
    + " AS a, FIRST_VALUE(b) "
    + _NUMBER
    + " AS b, FIRST_VALUE(g) "
    + _NUMBER
    + " AS g FROM {t}{w}",
    "chosen": "SELECT h, ARG_MAX(a, ts) AS a FROM {t}{w} GROUP BY h",
    "last": "SELECT h, LAST(a ORDER BY ts) AS a FROM {t}{w} GROUP BY h",
}
"""Words for the one row of it, where a key of the stream says that there is one."""


def draw_latest(random: Random, *, keyed: bool) -> tuple[str, str]:
    """The latest rows of `h` of a stream, and what they show."""
    kind = random.choice([*RANKS, *(SINGLE if keyed else ())])
    said = random.choice(["", "", "", "a > -1", "g = 'x'"])
    where = f" WHERE {said}" if said else ""
    mine, theirs = (f" AND {p}.{said}" if said else "" for p in "qv")
    text = (RANKS | SINGLE)[kind].format(
        t=random.choice("st"), w=where, q=mine, v=theirs, m=f" AND {said}" if said else ""
    )
    return text, "ha" if kind in ("chosen", "last") else "habg"


def _beside(random: Random, of: str, *, keyed: bool) -> str:
    """A condition of what is, or is not, beside rows of an alias."""
    no = random.choice(["", "NOT "])
    ours, theirs = random.choice([("h", "h"), ("h", "h"), ("h", "a"), ("a", "a")])
    kind = random.choice(["window", "latest", "static"])
    if kind == "window":
        said = f"w.ts > NOW() - INTERVAL '{random.randint(1, 5)}' MICROSECOND"
        source = random.choice("st") + " AS w"
    elif kind == "latest":
        said, source = random.choice(["TRUE", "w.a > 0"]), draw_latest(random, keyed=keyed)[0]
        source = f"({source}) AS w"
    else:
        said, source = random.choice(["w.a > 0", "w.g = 'x'"]), "r AS w"
    rest = "" if said == "TRUE" else f" AND {said}"
    if random.random() < 0.5:
        inner = f"SELECT w.{theirs} FROM {source}" + (f" WHERE {said}" if rest else "")
        return f"{of}.{ours} {no}IN ({inner})"
    compared = f"w.{theirs} = {of}.{ours}"
    if random.random() < 0.3:
        compared += f" AND w.a {random.choice(['<', '<>', '>='])} {of}.a"
    return f"{no}EXISTS (SELECT 1 FROM {source} WHERE {compared}{rest})"


def make_query(random: Random, *, keyed: bool) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    inner, shown = draw_latest(random, keyed=keyed)
    text, said, columns = f"FROM ({inner}) AS l", [], [f"l.{c}" for c in shown]
    if random.random() < 0.5:
        side = random.choice(["", "LEFT "])
        text = f"FROM {random.choice('st')} AS x {side}JOIN ({inner}) AS l ON l.h = x.h"
        said.append(f"x.ts > NOW() - INTERVAL '{random.randint(1, 5)}' MICROSECOND")
        columns += ["x.h", "x.a", "x.b"]
    of = "x" if "AS x" in text else "l"
    if random.random() < 0.5:
        side = random.choice(["", "LEFT ", "LEFT "])
        on = random.choice([f"u.h = {of}.h", f"u.h = {of}.h AND u.a <= {of}.a", f"u.h = {of}.a"])
        text += f" {side}JOIN r AS u ON {on}"
        columns += ["u.a", "u.g"]
    if random.random() < 0.3 and "LEFT JOIN (" not in text:
        said.append("l.a >= 0")
    for _ in range(random.choice([0, 1, 1, 2])):
        said.append(_beside(random, of, keyed=keyed))
    names = random.sample(columns, k=random.randint(1, min(4, len(columns))))
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(names))
    once = random.choice(["", "", "", "DISTINCT "])
    where = f" WHERE {' AND '.join(said)}" if said else ""
    return f"SELECT {once}{listed} {text}{where}", tuple(f"c{n}" for n in range(len(names)))


CHOOSE = (
    "{l}.ts = (SELECT MAX(v.ts) FROM {t} AS v WHERE v.h = {l}.h{v})",
    "NOT EXISTS (SELECT 1 FROM {t} AS v WHERE v.h = {l}.h AND v.ts > {l}.ts{v})",
    "{l}.ts >= ALL (SELECT v.ts FROM {t} AS v WHERE {l}.h = v.h{v})",
    "({l}.h, {l}.ts) IN (SELECT h, MAX(ts) FROM {t}{w} GROUP BY h)",
)
"""A row of an alias is the latest one of its key."""


def make_inline(random: Random, *, keyed: bool) -> tuple[str, tuple[str, ...]]:
    """A query in which a condition of WHERE, or a joined table, says which row is the latest."""
    table, said = (
        random.choice("st"),
        [f"x.ts > NOW() - INTERVAL '{random.randint(1, 5)}' MICROSECOND"],
    )
    local = random.choice(["", "", "a > -1", "g = 'x'"])
    where, mine, theirs = (
        f"{p}{local}" if local else "" for p in (" WHERE ", " AND l.", " AND v.")
    )
    chosen = random.choice(CHOOSE).format(l="l", t=table, v=theirs, w=where) + mine
    form = random.choice(["where", "where", "partner", "greatest", "exists", "absent", "alone"])
    form = random.choice([form, "lateral", "value", "compared"]) if keyed else form
    columns = ["x.h", "x.a", "x.b", "l.a", "l.g", "l.b"]
    text = f"FROM {random.choice('st')} AS x JOIN {table} AS l ON l.h = x.h"
    later = f"SELECT l.a FROM {table} AS l WHERE l.h = x.h{mine} ORDER BY l.ts DESC LIMIT 1"
    match form:
        case "where":
            said.append(chosen)
        case "partner":
            text += f" LEFT JOIN {table} AS v ON v.h = l.h AND v.ts > l.ts{theirs}"
            said.append(f"v.h IS NULL{mine}")
        case "greatest":
            text += f" JOIN (SELECT h, MAX(ts) AS m FROM {table}{where} GROUP BY h) AS v"
            text += " ON v.h = l.h AND v.m = l.ts"
            said += [f"l.{local}"] if local else []
        case "alone":
            text = f"FROM {table} AS l {random.choice(['', 'LEFT '])}JOIN r AS u ON u.h = l.h"
            columns, said = ["l.h", "l.a", "l.b", "u.a"], [chosen]
        case "lateral":
            side = random.choice(["", "LEFT "])
            text = f"FROM s AS x {side}JOIN LATERAL ({later}) AS l ON TRUE"
            columns = ["x.h", "x.a", "x.b", "l.a"]
        case "value":
            text, columns = "FROM s AS x", ["x.h", "x.a", f"({later})"]
        case "compared":
            text, columns = "FROM s AS x", ["x.h", "x.a"]
            said.append(f"({later}) {random.choice(['>', '=', '<>'])} {random.choice('01')}")
        case _:
            no = "NOT " if form == "absent" else ""
            text, columns = text.split(" JOIN ")[0], ["x.h", "x.a", "x.b"]
            inner = f"SELECT 1 FROM {table} AS l WHERE l.h = x.h AND {chosen}"
            said.append(f"{no}EXISTS ({inner}{random.choice(['', ' AND l.a >= 0'])})")
    if random.random() < 0.3:
        said.append(_beside(random, "x" if "AS x" in text else "l", keyed=keyed))
    names = random.sample(columns, k=random.randint(1, min(3, len(columns))))
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(names))
    return f"SELECT {listed} {text} WHERE {' AND '.join(said)}", tuple(
        f"c{n}" for n in range(len(names))
    )


STATICS = (
    "(VALUES (0, 1, 'x'), (1, 0, 'y'), (2, -1, 'x')) AS {}(h, a, g)",
    "(SELECT h, MAX(a) AS a, MIN(g) AS g FROM r GROUP BY h) AS {}",
)
"""Static relations that a query makes, in the place of `r`."""


def draw_rows(random: Random, *, keyed: bool) -> tuple[Catalog, Any]:
    """Tables, in which `h` and the time are a key of the streams, or not."""
    catalog, data = draw_data(random)
    if not keyed:
        return catalog, data
    streams = {n: replace(s, keys=(("h", "ts"),)) for n, s in catalog.streams.items()}
    for name in "st":
        columns, rows = data[name]
        first = {(r[columns.index("h")], r[-1]): r for r in reversed(rows)}
        kept = [r for k, r in first.items() if None not in k]
        data[name] = columns, sorted(kept, key=lambda row: row[-1])
    return replace(catalog, streams=streams), data


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    keyed = random.random() < 0.5
    make = random.choice([make_query, make_inline])
    text, names = make(random, keyed=keyed)
    if random.random() < 0.4:
        made = random.choice(STATICS)
        for place, alias in (("JOIN", "u"), ("FROM", "w")):
            text = text.replace(f"{place} r AS {alias}", f"{place} {made.format(alias)}")
    catalog, data = draw_rows(random, keyed=keyed)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:70]}"
    if union.joined is None and union.standing is None:
        return "a window alone"  # no latest row is read
    kind = "joined" if union.joined is not None else "otherwise"
    return f"{kind}: {compare_told(random, text, names, union, (catalog, data))}"


@budget(0.25)
@given(seed=SEEDS)
def test_the_latest_in_subqueries_is_duckdbs(seed: int) -> None:
    event(check(seed))
