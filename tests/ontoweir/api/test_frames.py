"""Tables of Python as streams and relations: the same answers as from files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import ontoweir as ow

CATALOG = """\
[streams.reading]
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
references = [{ columns = ["room"], relation = "rooms", to = ["name"] }]
[streams.reading.columns]
room = "string"
celsius = { type = "decimal(4,1)", min = -50, max = 99 }
[relations.rooms]
keys = [["name"]]
columns = { name = "string", floor = "int" }
"""
MAPPINGS = """\
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <urn:x:> .
<#r> rr:logicalTable [ rr:tableName "reading" ] ;
  rr:subjectMap [ rr:template "urn:x:room/{room}" ] ;
  rr:predicateObjectMap [ rr:predicate :celsius ; rr:objectMap [ rr:column "celsius" ] ] .
<#f> rr:logicalTable [ rr:tableName "rooms" ] ;
  rr:subjectMap [ rr:template "urn:x:room/{name}" ] ;
  rr:predicateObjectMap [ rr:predicate :floor ; rr:objectMap [ rr:column "floor" ] ] .
"""
QUERY = """\
PREFIX : <urn:x:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?room ?floor ?was ?is WHERE {
  ?room :floor ?floor .
  GRAPH ?t { ?room :celsius ?was }
  GRAPH ?u { ?room :celsius ?is }
  FILTER(?t < ?u && ?u - ?t <= "PT5S"^^xsd:dayTimeDuration && ?is > ?was)
}
"""
READINGS = pa.table(
    {
        "room": ["a", "b", "a", "b", "a", "x"],
        "celsius": [20.5, 19.0, 21.5, 19.5, 30.0, 1.0],
        # in no order
        "ts": pa.array([1, 2, 3, 30, 5, 6], pa.int64()).cast(pa.timestamp("s")),
    }
)
ROOMS = pa.table({"name": ["a", "b"], "floor": [1, 2]})

pytestmark = pytest.mark.filterwarnings("ignore::ontoweir.OntoweirWarning")  # of the room x


def _pandas(table: pa.Table) -> Any:
    pytest.importorskip("pandas")
    return table.to_pandas()


def _polars(table: pa.Table) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


MAKERS: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "reader": lambda table: table.to_reader(),
    "dataset": ds.dataset,
    "pandas": _pandas,
    "polars": _polars,
    "lazy": lambda table: _polars(table).lazy(),
    "duckdb": lambda table: duckdb.from_arrow(table),
    "columns": lambda table: table.to_pydict(),
    "rows": lambda table: table.to_pylist(),
}


def _build(sources: dict[str, Any], catalog: str = CATALOG) -> "ow.OpenProject":
    return ow.build_project(
        mappings=MAPPINGS,
        catalog=catalog,
        queries={"warmer": QUERY},
        sources=sources,
        warn=lambda text: None,
    )


@pytest.mark.parametrize("maker", MAKERS)
def test_rows_of_every_kind_of_table(maker: str) -> None:
    make = MAKERS[maker]
    project = _build({"reading": make(READINGS), "rooms": make(ROOMS)})
    answers = project.replay("warmer", engine="driver").to_arrow().to_pylist()
    found = sorted((r["room"], r["floor"], float(r["was"]), float(r["is"])) for r in answers)
    # duckdb over the same rows is the oracle
    readings, rooms = READINGS, ROOMS  # duckdb finds them by these names
    wanted = duckdb.execute(
        "SELECT 'urn:x:room/' || x.room, floor, x.celsius, y.celsius FROM readings x, readings y, "
        "rooms WHERE x.room = y.room AND name = x.room AND y.celsius > x.celsius AND y.ts > x.ts "
        "AND y.ts <= x.ts + INTERVAL 5 SECOND"
    ).fetchall()
    assert (len(readings), len(rooms)) == (6, 2)
    assert found == sorted(wanted) != []


def test_the_data_is_checked(tmp_path: Path) -> None:
    project = _build({"reading": READINGS, "rooms": ROOMS})
    rooms, readings = project.check_data()
    assert rooms.violations == ()
    (stray,) = readings.violations
    assert stray.reason == "reading.room is not in rooms.name"
    assert stray.examples[0].values["room"] == "x"
    assert project.check_data(sample=2)[1].violations == ()


def test_all_queries_are_checked_at_once() -> None:
    project = _build({"reading": READINGS, "rooms": ROOMS})
    (verdict,) = project.check().values()
    assert not isinstance(verdict, ow.OntoweirError)
    assert verdict.name == project.check("warmer").name


def test_an_open_project_takes_tables_too(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(
        CATALOG.replace("[relations.rooms]\n", '[relations.rooms]\nsource = { format = "csv", '
        'path = "rooms.csv", options = { header = "true" } }\n').replace(
            "[streams.reading]\n",
            '[streams.reading]\nsource = { format = "parquet", path = "nothing" }\n',
        )
        + '[project]\nmappings = ["m.ttl"]\nqueries = ["*.rq"]\n'
    )  # fmt: skip
    (tmp_path / "m.ttl").write_text(MAPPINGS)
    (tmp_path / "warmer.rq").write_text(QUERY)
    (tmp_path / "rooms.csv").write_text("name,floor\na,1\nb,2\n")
    project = ow.open(tmp_path, sources={"reading": READINGS}, warn=lambda text: None)
    answers = project.replay("warmer", engine="driver")
    assert len(answers) == len(answers.to_rdf()) == 3


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (7, "the source of reading is an int; a source is a frame of pandas"),
        ([{"ts": 1}, {"ts": "x"}], "the rows of reading cannot be read"),
    ],
)
def test_what_is_no_table_is_refused(source: object, told: str) -> None:
    with pytest.raises(ow.OntoweirError, match=told):
        _build({"reading": source, "rooms": ROOMS})


def test_a_table_that_is_not_declared_is_refused() -> None:
    with pytest.raises(ow.OntoweirError, match="sources names 'room'"):
        _build({"reading": READINGS, "room": ROOMS})


def test_an_error_of_a_table_names_it_and_no_file() -> None:
    project = _build({"reading": READINGS.drop_columns("celsius"), "rooms": ROOMS})
    with pytest.raises(ow.OntoweirError) as raised:
        project.replay(QUERY, engine="driver")
    assert str(raised.value).startswith("sources: reading: there is no column 'celsius'; ")


def test_an_index_of_pandas_without_a_name_is_called_as_in_csv() -> None:
    """What a frame with such an index gives to Arrow, and one that has a column of that name."""
    names = {"ts": "__index_level_0__"}
    readings = READINGS.rename_columns([names.get(n, n) for n in READINGS.column_names])
    catalog = CATALOG.replace('column = "ts"', 'column = "_c0"')
    project = _build({"reading": readings, "rooms": ROOMS}, catalog)
    assert len(project.replay("warmer", engine="driver")) == 3
    twice = _build({"reading": readings.append_column("_c0", readings["celsius"]), "rooms": ROOMS})
    with pytest.raises(ow.OntoweirError, match="the data has room, celsius, __index_level_0__"):
        twice.replay("warmer", engine="driver")
