"""SPARQL's funnels: groups by a bucket of the time of a row, of what several OPTIONALs found beside
it within some time, and of those beside which there is something, or nothing: as DuckDB."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

import ontoweir
from ontoweir.errors import QueryError
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_earlier_in_buckets import (
    PREFIXES,
    WIDTHS,
    compare,
    plain,
    write_project,
)


def _near(random: Random, of: str, other: str) -> tuple[str, str]:
    """How near one time is to another, in SPARQL and in SQL."""
    far, later = random.randint(1, 40), random.random() < 0.6
    first, last = (of, other) if later else (other, of)
    sql = {"?t": "x.ts", "?u": "y.ts", "?v": "z.ts", "?w": "w.ts"}
    within = f'?{last[1:]} >= {first} && {last} - {first} <= "PT{far}M"^^xsd:dayTimeDuration'
    a, b = sql[first], sql[last]
    return within, f"{b} >= {a} AND {b} <= {a} + INTERVAL {far} MINUTE"


def draw_funnel(random: Random) -> tuple[str, str]:
    """A query of SPARQL, and the same of DuckDB."""
    tables = [random.choice(["arrival", "departure"]) for _ in range(4)]
    one, two, three, four = (t.title() for t in tables)
    inner = random.random() < 0.3
    near, sql_near = _near(random, "?t", "?u")
    sparql = f"GRAPH ?t {{ ?a a :{one} ; :of ?k ; :at ?s ; :delay ?d }} "
    second = f"GRAPH ?u {{ ?b a :{two} ; :of ?k ; :delay ?e }} FILTER({near}) "
    sql = f"FROM {tables[0]} x {'' if inner else 'LEFT '}JOIN {tables[1]} y ON "
    sql += f"y.trip = x.trip AND {sql_near} "
    sparql += second if inner else f"OPTIONAL {{ {second} }} "
    of = random.choice(["?t", "?u"]) if inner else "?t"
    near, sql_near = _near(random, of, "?v")
    sparql += f"OPTIONAL {{ GRAPH ?v {{ ?c a :{three} ; :of ?k ; :delay ?f }} FILTER({near}) }} "
    sql += f"LEFT JOIN {tables[2]} z ON z.trip = x.trip AND {sql_near} "
    sql += "WHERE x.trip NOT LIKE 'end of %' "
    if random.random() < 0.4:
        word = random.choice(["EXISTS", "NOT EXISTS"])
        near, sql_near = _near(random, "?t", "?w")
        sparql += f"FILTER {word} {{ GRAPH ?w {{ ?x a :{four} ; :of ?k }} FILTER({near}) }} "
        sql += f"AND {word} (SELECT 1 FROM {tables[3]} w WHERE w.trip = x.trip AND {sql_near}) "
    width, cut = random.choice([w for w in WIDTHS if w[0] is not None])
    third = "CASE WHEN z.trip IS NOT NULL THEN (z.trip, z.ts) END"
    asked, counted = random.choice(
        [
            ("COUNT(*)", "count(*)"),
            ("COUNT(?b)", "count(y.trip)"),
            ("COUNT(DISTINCT ?c)", f"count(DISTINCT {third})"),
            ("COUNT(?f)", "count(z.delay)"),
            ("MAX(COALESCE(?e, 0))", "max(coalesce(y.delay, 0))"),
            ("SUM(COALESCE(?f, 1))", "sum(coalesce(z.delay, 1))"),
        ]
    )
    head = f"SELECT ?s ?h ({asked} AS ?n) (COUNT(?c) AS ?m)"
    return (
        f"{head} {{ {sparql} }} GROUP BY ?s (ow:tumble(?t, {width}) AS ?h)",
        f"SELECT x.stop, {cut.format('x.ts')}, {counted}, count(z.trip) {sql} GROUP BY ALL",
    )


def run(seed: int, folder: Path) -> str:
    """Compare the funnel of a seed with DuckDB."""
    random = Random(seed)
    database, (sparql, sql) = write_project(folder, random), draw_funnel(random)
    return compare(folder, database, sparql, sql) or "bounded"


def test_all_are_bounded_and_answered(tmp_path: Path) -> None:
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert run(seed, folder) == "bounded"


@given(seed=SEEDS)
@budget(0.3)
def test_random_funnels_are_duckdbs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)))


def test_without_a_limit_of_time_they_are_refused(tmp_path: Path) -> None:
    write_project(tmp_path, Random(0)).close()
    query = """SELECT ?h (COUNT(?b) AS ?n) (COUNT(?c) AS ?m) { GRAPH ?t { ?a a :Arrival ; :of ?k }
      OPTIONAL { GRAPH ?u { ?b a :Departure ; :of ?k } FILTER(?u >= ?t) }
      OPTIONAL { GRAPH ?v { ?c a :Departure ; :of ?k } FILTER(?v >= ?t) }
    } GROUP BY (ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?h)"""
    with pytest.raises(QueryError, match="is never final"):
        ontoweir.open_project(tmp_path).check(PREFIXES + query)


@pytest.mark.parametrize("minutes", [1, 2, 3])
def test_what_is_absent_may_be_over_between_two_times_of_the_row(
    minutes: int, tmp_path: Path
) -> None:
    """Departures are at even minutes, arrivals at any: a bucket is of the departure's time."""
    database = write_project(tmp_path, Random(1))
    query = f"""SELECT ?s ?h (COUNT(*) AS ?n) {{ GRAPH ?t {{ ?a a :Departure ; :of ?k ; :at ?s }}
      FILTER NOT EXISTS {{ GRAPH ?w {{ ?x a :Arrival ; :of ?k }}
        FILTER(?w >= ?t && ?w - ?t <= "PT{minutes}M"^^xsd:dayTimeDuration) }}
    }} GROUP BY ?s (ow:tumble(?t, "PT7M"^^xsd:dayTimeDuration) AS ?h)"""
    sql = f"""SELECT stop, time_bucket(INTERVAL 7 MINUTE, ts, TIMESTAMP '1970-01-01'), count(*)
      FROM departure x WHERE trip NOT LIKE 'end of %' AND NOT EXISTS (SELECT 1 FROM arrival w WHERE
      w.trip = x.trip AND w.ts >= x.ts AND w.ts <= x.ts + INTERVAL {minutes} MINUTE) GROUP BY ALL"""
    told = ontoweir.open_project(tmp_path).replay(PREFIXES + query).to_arrow().to_pylist()
    found = {(row["s"], plain(row["h"]), row["n"]) for row in told}
    assert found == set(database.execute(sql).fetchall())
