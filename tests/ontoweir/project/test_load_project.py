"""The project file: overrides, and that every wrong thing is refused at its line."""

import os
from decimal import Decimal
from pathlib import Path

import pytest

from ontoweir.errors import CatalogError, UsageError
from ontoweir.mappings.model.catalog import DecimalType, IntType, Reference
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.project.project import load_project

TOML = """\
[project]
queries = ["q/*.rq"]

[streams.traffic]
source = { format = "parquet", path = "data/traffic" }
timestamp = { column = "ts", unit = "5 minutes" }
max_per_timestamp = 449
keys = [["id", "ts"]]
references = [{ columns = ["id"], relation = "sensor", to = ["id"] }]
[streams.traffic.columns]
id = "int"
count = { type = "int", min = 0, max = 200 }
road = { type = "string", enum = ["A", "B"] }
speed = { type = "decimal(5,1)", max = 99.5 }

[relations.sensor]
source = { view = "SELECT 1 AS id" }
keys = [["id"]]
max_rows = 10
columns = { id = "int" }
"""


def write(folder: Path, text: str = TOML) -> Path:
    (folder / "ontoweir.toml").write_text(text)
    (folder / "q").mkdir(exist_ok=True)
    for name in ("b", "a"):
        (folder / "q" / f"{name}.rq").write_text("")
    return folder


def test_reads_a_project(tmp_path: Path) -> None:
    project = load_project(write(tmp_path), environ={})
    assert [p.name for p in project.queries] == ["a.rq", "b.rq"]
    traffic = project.catalog.streams["traffic"]
    assert (traffic.step_us, traffic.max_per_timestamp) == (300_000_000, 449)
    assert traffic.data.path == str(tmp_path / "data/traffic")
    assert traffic.references == (Reference(("id",), "sensor", ("id",)),)
    assert [c.type for c in traffic.columns[::3]] == [IntType(), DecimalType(5, 1)]
    assert traffic.columns[3].maximum == Decimal("99.5")
    assert project.catalog.relations["sensor"].data.view == "SELECT 1 AS id"
    assert load_project(tmp_path / "ontoweir.toml", environ={}) == project


def test_set_wins_over_environment_over_file(tmp_path: Path) -> None:
    write(tmp_path)
    environ = {
        "ONTOWEIR_STREAMS__TRAFFIC__MAX_PER_TIMESTAMP": "5",
        "ONTOWEIR_STREAMS__TRAFFIC__SOURCE__PATH": "here",
        "ONTOWEIR_HOME": "/opt",
    }
    traffic = load_project(tmp_path, environ=environ).catalog.streams["traffic"]
    assert (traffic.max_per_timestamp, traffic.data.path) == (5, os.path.abspath("here"))
    overrides = ["streams.traffic.max_per_timestamp=7", "streams.traffic.source.path=/x.parquet"]
    traffic = load_project(tmp_path, overrides=overrides, environ=environ).catalog.streams[
        "traffic"
    ]
    assert (traffic.max_per_timestamp, traffic.data.path) == (7, "/x.parquet")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("[project]", "[project", 1, "not TOML"),
        ("[project]", "[projects]", 1, "did you mean 'project'"),
        ("queries =", "querys =", 2, "did you mean 'queries'"),
        ("q/*.rq", "q/c.rq", 2, "no file"),
        ("max_per_timestamp = 449", "max_per_timestamp = -1", 7, "1 or more"),
        ("max_per_timestamp = 449", 'max_per_timestamp = "x"', 7, "whole number"),
        ("max_per_timestamp", "max_per_timestmp", 7, "did you mean 'max_per_timestamp'"),
        ('"5 minutes"', '"5 parsecs"', 6, "not a positive duration"),
        ('"5 minutes"', '"0 minutes"', 6, "not a positive duration"),
        ('"5 minutes"', '"5 minutes", idle = "soon"', 6, "not a positive duration"),
        ('"5 minutes"', '"5 minutes", start = "soon"', 6, "not a timestamp of this stream"),
        ('"5 minutes"', '"5 minutes", start = "2014-08-01T00:01:00"', 6, "whole number of steps"),
        ('"5 minutes"', '"5 minutes", start = 5', 6, "not a timestamp of this stream"),
        ('timestamp = { column = "ts", unit = "5 minutes" }', "", 4, "no timestamp"),
        ('["id", "ts"]', '["idd", "ts"]', 8, "did you mean 'id'"),
        ('relation = "sensor"', 'relation = "senser"', 9, "did you mean 'sensor'"),
        ('relation = "sensor"', 'relation = "traffic"', 9, "references the stream"),
        ('to = ["id"]', 'to = ["no"]', 9, "unknown column 'no'"),
        ('to = ["id"]', 'to = ["id", "id"]', 9, "1 columns reference 2"),
        ('id = "int"\ncount', 'id = "integr"\ncount', 11, "did you mean 'integer'"),
        ("min = 0", "min = 201", 12, "above max"),
        ("min = 0", 'min = "a"', 12, "the column is int"),
        ('["A", "B"]', "[1]", 13, "the column is string"),
        ('["A", "B"]', "[]", 13, "at least one"),
        ("[relations.sensor]", "[relations.traffic]", 16, "both a stream and a relation"),
        ('view = "SELECT 1 AS id"', 'view = "x", path = "y"', 17, "takes the place"),
        ("max_rows = 10", "max_rows = -1", 19, "0 or more"),
    ],
)
def test_wrong_projects_are_refused_at_their_line(
    old: str, new: str, line: int, message: str, tmp_path: Path
) -> None:
    assert old in TOML
    with pytest.raises(CatalogError) as caught:
        load_project(write(tmp_path, TOML.replace(old, new, 1)), environ={})
    assert message in str(caught.value)
    assert caught.value.source is not None
    assert caught.value.source.line == line


def test_missing_project_and_bad_override(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no project file"):
        load_project(tmp_path / "none", environ={})
    with pytest.raises(UsageError, match="has no value"):
        load_project(write(tmp_path), overrides=["streams.traffic"], environ={})
    with pytest.raises(CatalogError, match="unknown key") as caught:
        load_project(tmp_path, overrides=["streams.traffic.nope=1"], environ={})
    assert "--set" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("5 minutes", 300_000_000),
        ("1 microsecond", 1),
        ("day", 86_400_000_000),
        ("PT1H30M", 5_400_000_000),
        ("0.5 seconds", 500_000),
        ("0.1 microseconds", None),
        ("PT", None),
        ("3660000 days", 316_224_000_000_000_000),
        ("3660001 days", None),  # longer than any two timestamps are apart
        ("soon", None),
    ],
)
def test_durations(text: str, us: int | None) -> None:
    assert parse_duration(text) == us


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["q/a.sql"], "two queries are called 'a': a.rq and a.sql"),
        (["q/more/b.rq"], "two queries are called 'b': b.rq and more/b.rq"),
        (["q/more/b.md", "q/a.sql.bak", "q/A.sql", "q/c.sql"], None),  # none of them, or others
    ],
)
def test_two_queries_of_one_name(tmp_path: Path, files: list[str], said: str | None) -> None:
    write(tmp_path, TOML.replace('"q/*.rq"', '"q/*.rq", "q/*.sql", "q/**/*.rq", "q/a.rq"'))
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("")
    if said is None:
        found = {p.name for p in load_project(tmp_path, environ={}).queries}
        assert found == {"a.rq", "b.rq", "A.sql", "c.sql"}
        return
    with pytest.raises(CatalogError) as caught:
        load_project(tmp_path, environ={})
    assert str(caught.value) == (
        f"{tmp_path}/ontoweir.toml:2: {said}; a query is called as its file is, without the "
        "ending; rename one of the files"
    )


def test_a_folder_that_looks_like_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "p [1]").mkdir()
    project = load_project(write(tmp_path / "p [1]"), environ={})
    assert [p.name for p in project.queries] == ["a.rq", "b.rq"]
