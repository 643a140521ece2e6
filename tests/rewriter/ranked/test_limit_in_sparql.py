"""ORDER BY … LIMIT n of groups in SPARQL: the same as in SQL, and what is refused."""

from pathlib import Path

import pytest

import ontoweir as ow
from ontoweir.cli import main
from ontoweir.rewriter.ranked.split_limit import split_limit

HEAD = """PREFIX : <http://rooms.example/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?sensor (COUNT(*) AS ?faults) WHERE {
  GRAPH ?t { ?r :state "FAULT" ; :madeBy ?sensor }
  FILTER(?t > NOW() - "PT30M"^^xsd:dayTimeDuration)
}
"""
GROUPED = HEAD + "GROUP BY ?sensor ORDER BY DESC(?faults) ?sensor LIMIT 3"
SQL = (
    "SELECT sensor, COUNT(*) AS faults FROM reading WHERE state = 'FAULT' AND "
    "ts > NOW() - INTERVAL '30' MINUTE GROUP BY sensor ORDER BY faults DESC, sensor LIMIT 3"
)


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> "ow.OpenProject":
    folder: Path = tmp_path_factory.mktemp("limit") / "rooms"
    assert main(["init", str(folder)]) == 0
    return ow.open(folder)


@pytest.mark.parametrize("part", ["LIMIT 3", "LIMIT 2 OFFSET 1", "OFFSET 1 LIMIT 2"])
def test_equals_sql(rooms: "ow.OpenProject", part: str) -> None:
    told = rooms.replay(GROUPED.replace("LIMIT 3", part), engine="driver").to_arrow().to_pylist()
    sql = "LIMIT 2 OFFSET 1" if "OFFSET" in part else part
    rows = rooms.replay(SQL.replace("LIMIT 3", sql), engine="driver").to_arrow().to_pylist()
    rows = [{**r, "sensor": f"http://rooms.example/sensor/{r['sensor']}"} for r in rows]
    names = ("sensor", "faults", "op", "at")
    of, made = (sorted(tuple(row[n] for n in names) for row in table) for table in (rows, told))
    assert of == made
    assert len(of) > 10


@pytest.mark.parametrize(
    ("rest", "what"),
    [
        ("GROUP BY ?sensor ORDER BY DESC(?faults + 1) ?sensor LIMIT 3", "ORDER BY"),
        ("GROUP BY ?sensor ORDER BY DESC(?faults) ?sensor", "ORDER BY"),
    ],
)
def test_refused(rooms: "ow.OpenProject", rest: str, what: str) -> None:
    with pytest.raises(ow.OntoweirError, match=what):
        rooms.check(HEAD + rest)


def test_equal_groups_follow_each_other_by_what_tells_them_apart(rooms: "ow.OpenProject") -> None:
    tied = rooms.check(HEAD + "GROUP BY ?sensor ORDER BY DESC(?faults) LIMIT 3")
    whole = rooms.check(HEAD + "GROUP BY ?sensor ORDER BY DESC(?faults) ?sensor LIMIT 3")
    assert tied.union.aggregation == whole.union.aggregation
    said = ("rows that are equal in ORDER BY DESC(?faults) follow each other by ?sensor",)
    assert (tied.union.ties, whole.union.ties) == (said, ())


def test_only_what_follows_the_pattern_is_split() -> None:
    inner = "SELECT ?s WHERE { { SELECT ?s WHERE { ?s ?p ?o } GROUP BY ?s ORDER BY ?s LIMIT 3 } }"
    assert split_limit(inner) is None
    found = split_limit(GROUPED)
    assert found is not None
    assert (found.order, found.least, found.limit) == ((("faults", True), ("sensor", False)), 1, 3)
