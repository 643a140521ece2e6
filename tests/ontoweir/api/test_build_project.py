"""Projects of what is in memory: graphs, texts, dictionaries; errors say <ontology> and so on."""

import gc
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ontoweir
from ontoweir.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "rooms"]) == 0
    return tmp_path / "rooms"


def texts(rooms: Path) -> dict[str, Any]:
    catalog = (rooms / "ontoweir.toml").read_text()
    before, _, rest = catalog.partition("[project]")
    return {
        "ontology": (rooms / "rooms.ttl").read_text(),
        "mappings": (rooms / "rooms.r2rml.ttl").read_text(),
        "catalog": before + rest[rest.index("[streams") :],
        "queries": {f.stem: f.read_text() for f in (rooms / "queries").glob("*.rq")},
        "folder": rooms,
    }


def sql(project: ontoweir.OpenProject, name: str) -> list[str]:
    """The SQL of a query, without the places that its mappings come from."""
    return [x for x in project.rewrite(name).splitlines() if not x.lstrip().startswith("--")]


def test_texts_graphs_paths_and_dictionaries_say_the_same(rooms: Path) -> None:
    from rdflib import Graph

    given = texts(rooms)
    wanted = ontoweir.open_project(rooms)
    kinds: list[dict[str, Any]] = [
        {},
        {"ontology": rooms / "rooms.ttl", "mappings": [str(rooms / "rooms.r2rml.ttl")]},
        {
            "ontology": [Graph().parse(rooms / "rooms.ttl")],
            "mappings": Graph().parse(rooms / "rooms.r2rml.ttl"),
            "catalog": tomllib.loads(given["catalog"]),
        },
    ]
    for kind in kinds:
        project = ontoweir.build_project(**{**given, **kind})
        assert set(project.queries) == set(wanted.queries)
        for name in wanted.queries:
            assert sql(project, name) == sql(wanted, name)
            assert "/ontoweir-" not in project.rewrite(name)
            mine, theirs = project.check(name), wanted.check(name)
            assert (mine.tier, mine.bound) == (theirs.tier, theirs.bound)


def refused(given: dict[str, Any]) -> str:
    """What is said of a project that is wrong."""
    try:
        project = ontoweir.build_project(**given)
        project.check(project.queries[0])
    except ontoweir.OntoweirError as error:
        return str(error)
    raise AssertionError("it is not refused")


WRONG: list[tuple[str, Any, str]] = [
    ("ontology", "@prefix x\n<a>", "<ontology>:1: broken Turtle"),
    ("mappings", "\n\na b\n", "<mappings>:3: not Turtle"),
    ("catalog", "[streams.x]\nfoo = 1", "<catalog>:2: unknown key"),
    ("catalog", "[streams.x\n", "<catalog>:1: not TOML"),
    ("catalog", "[project]\n", "<catalog>: the catalog has a section [project]"),
    ("catalog", {"streams": {"x": {"foo": 1}}}, "<catalog>: unknown key"),
    ("catalog", {"streams": {"x": {"foo": {1}}}}, "<catalog>: the catalog has a set"),
    ("queries", {"bad": "SELECT"}, "<query bad>:1: syntax error"),
    ("queries", {"a/b": "SELECT"}, "cannot be called"),
    ("ontology", [3], "<ontology>: ontology is an int"),
]


@pytest.mark.parametrize(("part", "value", "said"), WRONG)
def test_places_are_the_users(rooms: Path, part: str, value: Any, said: str) -> None:
    message = refused({**texts(rooms), part: value})
    assert said in message
    assert "/ontoweir-" not in message


def list_left(rooms: Path) -> list[str]:
    """What of wrong projects is left in the folder of temporary files when they are gone."""
    left = []
    for part, value, said in WRONG:
        refused({**texts(rooms), part: value})
        gc.collect()
        left += [said for _ in Path(tempfile.gettempdir()).glob("ontoweir-*")]
    return left


def test_folders_end_with_their_projects(rooms: Path, tmp_path: Path) -> None:
    """In a process of their own: in that of the tests other threads make such folders, too, and
    while one of them collects garbage, nobody else does."""
    code = (
        "from pathlib import Path; from tests.ontoweir.api.test_build_project import list_left; "
        f"print(list_left(Path({str(rooms)!r})))"
    )
    made = tmp_path / "temporary"
    made.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "TMPDIR": str(made)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"
    assert not list(made.glob("ontoweir-*"))


def test_what_is_explained_names_no_temporary_file(rooms: Path) -> None:
    project = ontoweir.build_project(**texts(rooms))
    for name in project.queries:
        assert "/ontoweir-" not in project.explain(name)
    given = texts(rooms)
    given["catalog"] = given["catalog"].replace("max_rows = 8", "").replace("max = 60", "max = 61")
    project = ontoweir.build_project(**given)
    told = project.explain("rooms-hot-then-cold")
    assert "/ontoweir-" not in told


def test_all_in_memory(rooms: Path, spark: "SparkSession") -> None:
    """Graphs, a dictionary without sources, DataFrames: not a file of the user's is read."""
    given = texts(rooms)
    catalog = tomllib.loads(given["catalog"])
    sources: dict[str, Any] = {}
    for section, name in (("streams", "reading"), ("relations", "sensor")):
        del catalog[section][name]["source"]
        sources[name] = spark.read.csv(str(rooms / "data" / f"{name}.csv"), header=True)
    project = ontoweir.build_project(
        **{**given, "catalog": catalog, "folder": rooms / "elsewhere"}, sources=sources
    )
    wanted = ontoweir.open_project(rooms, spark=spark)
    for name in wanted.queries:
        assert project.replay(name).to_arrow().equals(wanted.replay(name).to_arrow())
    assert project.spark is spark
