"""What is said around the rows with the first numbers of each key, and of joins, delays, LIMIT and
groups of them: changes and snapshots, replayed and live, as DuckDB answers the same over every
prefix."""

import re
from dataclasses import replace
from random import Random

from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Reference
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_latest import make_rows, make_world
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_standing import compare

KNOWN = "{known}"
"""In DuckDB's text: that the columns of the key have values, where the key tells rows apart."""
CALLS = ("COUNT(*)", "SUM({w}a)", "MAX({w}b)", "AVG({w}a)", "COUNT({w}g)", "MIN({w}h)")


def make_window(random: Random, key: tuple[str, ...], *, joined: bool) -> str:
    """How rows are numbered."""
    parts = random.sample(["x.h", "x.g", "x.a"], k=random.choice([0, 1, 1, 2]))
    if joined and random.random() < 0.4:
        parts = ["r.g"]
    number = random.choice(["ROW_NUMBER", "ROW_NUMBER", "RANK", "DENSE_RANK"])
    by = [f"x.{c}" for c in random.sample("abghdf", k=random.randint(1, 2))]
    by += ["r.a"] if joined and random.random() < 0.3 else []
    if number == "ROW_NUMBER":
        by += [c for c in (*(f"x.{k}" for k in key), "x.ts") if c not in (*parts, *by)]
    order = [
        f"{c}{random.choice([' DESC', ''])} NULLS {random.choice(['FIRST', 'LAST'])}" for c in by
    ]
    split = f"PARTITION BY {', '.join(parts)} " if parts else ""
    return f"{number}() OVER ({split}ORDER BY {', '.join(order)})"


def make_inner(random: Random, key: tuple[str, ...]) -> tuple[str, str]:
    """A subquery that numbers rows, and how."""
    joined = random.random() < 0.3
    window = make_window(random, key, joined=joined)
    tables = random.choice(["s AS x JOIN r ON x.h = r.h", "s AS x, r"]) if joined else "s AS x"
    where = ["x.h = r.h"] if tables.endswith(", r") else []
    where += random.choice([[], [], ["x.a > -2"], ["x.h IN (0, 1)"], ["x.g IS NOT NULL"]])
    if random.random() < 0.25:
        where.append(f"x.ts <= NOW() - INTERVAL '{random.randint(1, 3)}' MICROSECOND")
    said = f" WHERE {' AND '.join([*where, KNOWN])}"
    return f"SELECT x.a, x.b, x.g, x.h, x.ts AS at_, {window} AS n FROM {tables}{said}", window


def make_query(random: Random, key: tuple[str, ...]) -> Stacked:
    if random.random() < 0.15:
        return make_limit(random, key)
    if random.random() < 0.12:
        return make_greatest(random)
    inner, _ = make_inner(random, key)
    low = random.choice([1, 1, 2])
    high = random.randint(low, 3)
    chosen = [f"w.n BETWEEN {low} AND {high}"]
    if low == 1:
        chosen += [f"w.n <= {high}", f"{high + 1} > w.n"]
    if low == high:
        chosen += [f"w.n = {low}"]
    said = [random.choice(chosen)]
    if random.random() < 0.2:
        inner, said = f"{inner} QUALIFY n BETWEEN {low} AND {high}", []
    more = ["w.a > -1", "w.h = 0", "w.g = 'x' OR w.b > 0", "w.b < w.a", "w.g IS NULL"]
    said += random.sample(more, k=random.choice([0, 0, 1, 1, 2]))
    around = random.random() < 0.3
    tables = "w"
    if around:
        tables = random.choice(["w JOIN r AS y ON w.h = y.h", "w, r AS y"])
        said += ["w.h = y.h"] if tables == "w, r AS y" else []
        said += random.choice([[], ["y.a > -1"], ["y.g = 'x'"], ["y.a < w.a"]])
    random.shuffle(said)
    where = f" WHERE {' AND '.join(f'({c})' for c in said)}" if said else ""
    source = tables.replace("w", f"({inner}) AS w", 1) + where
    shape = random.choice(["rows", "rows", "rows", "set", "groups"])
    word, grouped = "", ""
    columns = ["w.a", "w.b", "w.g", "w.h", *(["y.a", "y.g"] if around else [])]
    match shape:
        case "groups":
            shown = random.sample(columns, k=random.choice([0, 1, 1, 2]))
            grouped = f" GROUP BY {', '.join(shown)}" if shown else ""
            calls = random.sample(CALLS, k=random.randint(1, 2))
            shown += [c.format(w="w.") for c in calls]
            if random.random() < 0.3:
                grouped += random.choice([" HAVING COUNT(*) > 1", " HAVING MAX(w.a) < 1"])
        case _:
            word = "DISTINCT " if shape == "set" else ""
            columns += ["w.a * 2", "COALESCE(w.g, 'none')"]
            columns += ["w.n", "w.at_"] if shape == "rows" else []
            shown = random.sample(columns, k=random.randint(1, 3))
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    text = f"SELECT {word}{listed} FROM {source}{grouped}"
    return Stacked(text.replace(f" AND {KNOWN}", "").replace(f" WHERE {KNOWN}", ""), text, names)


def make_limit(random: Random, key: tuple[str, ...]) -> Stacked:
    """ORDER BY … LIMIT."""
    by = random.sample("abgh", k=random.randint(1, 2))
    size, ties = random.randint(1, 4), random.random() < 0.3
    if not ties:
        by += [c for c in (*key, "ts") if c not in by]
    order = ", ".join(
        f"x.{c}{random.choice([' DESC', ''])} NULLS {random.choice(['FIRST', 'LAST'])}" for c in by
    )
    shown = random.sample("abgh", k=random.randint(1, 3))
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"x.{c} AS {n}" for c, n in zip(shown, names, strict=True))
    skipped = random.choice([0, 0, 1]) if not ties else 0
    where = random.choice(["TRUE", "x.a > -2"])
    source = f"FROM s AS x WHERE {where} AND {KNOWN}"
    number = "RANK" if ties else "ROW_NUMBER"
    said = f"BETWEEN {skipped + 1} AND {skipped + size}"
    duck = f"SELECT {listed} {source} QUALIFY {number}() OVER (ORDER BY {order}) {said}"
    ours = f"SELECT {listed} FROM s AS x WHERE {where} ORDER BY {order}"
    ours += f" FETCH FIRST {size} ROWS WITH TIES" if ties else f" LIMIT {size}"
    ours += f" OFFSET {skipped}" if skipped else ""
    return Stacked(ours.replace("TRUE AND ", "").replace(" WHERE TRUE", ""), duck, names)


def make_greatest(random: Random) -> Stacked:
    """NOT EXISTS of a row of the same key with a greater, or a lesser, value."""
    parts = random.sample("hg", k=random.choice([0, 1, 1, 2]))
    value, more = random.choice("ab"), random.choice(["<", ">"])
    local = random.choice(["", "", "a > -2", "g = 'x'"])
    where = [f"y.{value} {more} x.{value}", *(f"x.{c} = y.{c}" for c in parts)]
    where += [f"y.{local}"] if local else []
    random.shuffle(where)
    said = [f"x.{local}"] if local else []
    said.append(f"NOT EXISTS (SELECT 1 FROM s AS y WHERE {' AND '.join(where)})")
    shown = list(dict.fromkeys([*parts, value, *random.sample("abgh", k=1)]))
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"x.{c} AS {n}" for c, n in zip(shown, names, strict=True))
    text = f"SELECT {listed} FROM s AS x WHERE {' AND '.join(said)}"
    there = " AND ".join(f"x.{c} IS NOT NULL" for c in (value, *parts))
    return Stacked(text, f"{text} AND {there}", names)


def refer(random: Random, catalog: Catalog, data: Tables) -> tuple[Catalog, Tables]:
    """Sometimes every row refers to a row of `r`."""
    if random.random() < 0.5:
        return catalog, data
    stream = catalog.streams["s"]
    stream = replace(stream, references=(*stream.references, Reference(("h",), "r", ("h",))))
    columns, rows = data["s"]
    place, there = columns.index("h"), {row[data["r"][0].index("h")] for row in data["r"][1]}
    kept = [row for row in rows if row[place] in there and row[place] is not None]
    made = replace(catalog, streams={**catalog.streams, "s": stream})
    return made, {**data, "s": (columns, kept)}


REFUSED = "something else than the key|may choose among equal|show their number|second column"
REFUSED += "|beside an expression of several rows"


def check(seed: int) -> None:
    random = Random(seed)
    catalog, key = make_world(random)
    query = make_query(random, key)
    catalog, data = refer(random, catalog, make_rows(random, key))
    data = {**data, "t": (data["t"][0], [])}
    try:
        union = parse_sql(query.ours, catalog, name="q", file="q.sql")
    except QueryError as error:
        if not re.search(REFUSED, error.what):
            raise
        return
    parts = [union] if union.joined is None else [part.query for part in union.joined.parts]
    first = next((p.standing.first for p in parts if p.standing is not None), None)
    assert first is not None, query.ours
    assert choose_emit(union) is Emit.CHANGES
    if check_query(union, catalog, disprove=False).bound is None:
        return  # equal rows differ in what may be any value
    apart = " AND ".join(f"x.{c} IS NOT NULL" for c in key)
    known = apart if first.single is not None else "TRUE"
    duck = query.duck.replace(KNOWN, known)
    duck = re.sub(r"NOW\(\)", "(SELECT now FROM clock)", duck)
    compare(replace(query, duck=duck), union, random, catalog, data)


def make_late(random: Random, key: tuple[str, ...]) -> Stacked:
    """The latest rows of each key, and what nothing has ended, all some time later: as they are,
    with conditions, and in groups."""
    delay = f"NOW() - INTERVAL '{random.randint(1, 3)}' MICROSECOND"
    other = delay if random.random() < 0.8 else "NOW() - INTERVAL '4' MICROSECOND"
    equal = " AND ".join(f"y.{c} = x.{c}" for c in key)
    parts = ", ".join(key)
    there = " AND ".join(f"x.{c} IS NOT NULL" for c in key)
    where = [random.choice(["x.a > -1", "x.g IS NOT NULL", "x.h = 0"])]
    if random.random() < 0.2:
        inner = f"SELECT 1 FROM t AS y WHERE {equal} AND y.ts > x.ts AND y.ts <= {other}"
        source, where = "s AS x", [f"x.ts <= {delay}", there, f"NOT EXISTS ({inner})"]
    else:
        inner = f"SELECT * FROM s AS x WHERE ts <= {delay} AND {there} QUALIFY RANK() OVER "
        source = f"({inner}(PARTITION BY {parts} ORDER BY ts DESC) = 1) AS x"
        where += [f"x.ts <= {other}"] if random.random() < 0.2 else []
    grouped = ""
    if random.random() < 0.5:
        shown = random.sample(["x.g", "x.h"], k=random.choice([0, 1]))
        grouped = f" GROUP BY {', '.join(shown)}" if shown else ""
        shown += [c.format(w="x.") for c in random.sample(CALLS, k=2)]
        grouped += random.choice(["", "", " HAVING COUNT(*) > 1", " HAVING MAX(x.a) < 1"])
    else:
        shown = [f"x.{c}" for c in random.sample("abgh", k=2)]
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    text = f"SELECT {listed} FROM {source} WHERE {' AND '.join(where)}{grouped}"
    apart = " AND ".join(f"{n} IS NOT NULL" for n in names)
    ended = "EXISTS" in text and not grouped  # of what is selected, rows with NULL are none
    return Stacked(text, f"SELECT * FROM ({text}) AS told WHERE {apart if ended else True}", names)


def check_late(seed: int) -> None:
    random = Random(seed)
    catalog, key = make_world(random)
    query = make_late(random, key)
    data = make_rows(random, key)
    if "t AS y" not in query.ours:
        data = {**data, "t": (data["t"][0], [])}  # its times are none of the query's
    try:
        union = parse_sql(query.ours, catalog, name="q", file="q.sql")
    except QueryError as error:
        if not re.search(r"latest row of each key|never final|NOW\(\) beside", error.what):
            raise
        return
    assert union.standing is not None, query.ours
    duck = re.sub(r"NOW\(\)", "(SELECT now FROM clock)", query.duck)
    compare(replace(query, duck=duck), union, random, catalog, data)


@budget(0.1)
@given(seed=SEEDS)
def test_what_is_around_the_first_rows_is_duckdbs(seed: int) -> None:
    check(seed)


@budget(0.1)
@given(seed=SEEDS)
def test_what_stands_some_time_later_is_duckdbs(seed: int) -> None:
    check_late(seed)
