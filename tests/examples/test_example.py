"""The example is what it says it is: verdicts, use of the ontology, answers over its history."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from tests.examples.answers import HERE, count, expected, open_answers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERDICTS = {
    # query: (semantics, tier, needs the ontology)
    "average-speed-of-each-road-by-the-hour": ("bag", "window-bounded", False),
    "congestion-cleared-within-30-minutes": ("bag", "window-bounded", True),
    "congestion-not-cleared-within-30-minutes": ("bag", "window-bounded", True),
    "each-jam-with-its-beginning-and-end": ("bag", "window-bounded", True),
    "every-congested-reading-with-every-fast-one-after-it": ("bag", "unbounded", True),
    "every-fast-reading-after-a-congested-one-on-the-same-road": ("bag", "tree-bounded", True),
    "every-reading-above-130": ("bag", "stateless", False),
    "fast-readings-after-a-heavy-load-then-gridlock-in-town": ("bag", "tree-bounded", False),
    "fast-readings-on-roads-gridlocked-in-the-first-days": ("bag", "jointly-bounded", False),
    "fast-readings-with-a-gridlock-and-a-heavy-load-before": ("bag", "tree-bounded", False),
    "heavy-loads-with-the-jam-that-followed": ("bag", "window-bounded", True),
    "how-full-was-the-gridlock-before-load-and-speed": ("bag", "conditionally-bounded", False),
    "how-much-congestion-before-each-fast-reading": ("bag", "tree-bounded", True),
    "how-often-congestion-got-worse": ("bag", "unbounded", True),
    "latest-speed-of-each-sensor": ("bag", "conditionally-bounded", False),
    "minutes-of-congestion-on-each-road-by-the-hour": ("bag", "window-bounded", True),
    "readings-both-fast-and-congested": ("bag", "unsatisfiable", False),
    "roads-congested-in-the-last-ten-minutes": ("set", "window-bounded", True),
    "roads-congested-then-slow-within-30-minutes": ("set", "tree-bounded", True),
    "roads-gridlocked-then-heavily-loaded-and-fast": ("set", "jointly-bounded", False),
    "roads-jammed-then-fast-then-jammed-again": ("set", "tree-bounded", False),
    "roads-where-congestion-got-worse": ("set", "tree-bounded", True),
    "roads-where-the-same-time-was-measured-again": ("set", "unbounded", False),
    "roads-where-the-same-time-was-measured-again-within-an-hour": (
        "set",
        "window-bounded",
        False,
    ),
    "sensors-congested-again-after-an-hour": ("set", "conditionally-bounded", True),
    "sensors-fast-after-congestion": ("bag", "conditionally-bounded", True),
    "sensors-gridlocked-then-heavily-loaded-and-fast": ("bag", "jointly-bounded", False),
    "sensors-silent-while-their-road-is-busy": ("set", "stateless", False),
    "sensors-that-ever-reported-a-disturbance": ("set", "conditionally-bounded", True),
    "two-sensors-of-one-road-congested-at-once": ("bag", "stateless", True),
    "what-is-measured-on-each-road": ("bag", "conditionally-bounded", False),
}
BOUNDED = [q for q, (_, tier, _) in VERDICTS.items() if tier != "unbounded"]


@pytest.fixture(scope="module")
def example(root: Path) -> Path:
    """The example's folder."""
    return root / "examples" / "traffic"


@pytest.fixture(scope="module")
def workspace(example: Path) -> Workspace:
    """The example as it stands; a warning is a failure."""

    def refuse(message: str) -> None:
        raise AssertionError(message)

    return Workspace(load_project(example, environ={}), on_warning=refuse)


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict(workspace: Workspace, name: str) -> None:
    verdict = workspace.check(workspace.compile(name))
    semantics = "set" if verdict.union.distinct else "bag"
    assert (semantics, str(verdict.tier)) == VERDICTS[name][:2]
    assert (verdict.plans is not None) == (name in BOUNDED)
    if name in BOUNDED:
        assert verdict.bound is not None
        assert verdict.bound.rows is not None
    else:
        assert verdict.witness is not None


def test_every_query_is_in_the_table(workspace: Workspace) -> None:
    assert set(workspace.query_names()) == VERDICTS.keys()


def test_every_tier_is_shown_in_both_semantics(workspace: Workspace) -> None:
    shown = {tier for _, tier, _ in VERDICTS.values()}
    assert shown == {str(t) for t in Tier} - {"undecided"}
    for semantics in ("bag", "set"):
        tiers = {t for s, t, _ in VERDICTS.values() if s == semantics}
        assert {"stateless", "tree-bounded", "conditionally-bounded", "unbounded"} <= tiers


@pytest.mark.parametrize("name", VERDICTS)
def test_comment_says_the_verdict(example: Path, name: str) -> None:
    """The comment above a query is a question, then its verdict with the reason."""
    text = (example / "queries" / f"{name}.rq").read_text(encoding="utf-8")
    comment = " ".join(line[1:].strip() for line in text.splitlines() if line.startswith("#"))
    tier = VERDICTS[name][1]
    assert "?" in comment
    assert ("UNBOUNDED" in comment) == (tier == "unbounded")
    assert bool(re.search(r"Bounded on (one|two) conditions?", comment)) == (
        tier == "conditionally-bounded"
    )
    assert ("Unsatisfiable" in comment) == (tier == "unsatisfiable")
    assert ("Bounded by its window only" in comment) == (tier == "window-bounded")


def test_ontology_has_every_kind_of_axiom(workspace: Workspace) -> None:
    axioms = workspace.tbox.axioms
    assert len(axioms) >= 40
    kinds = {type(a).__name__ for a in axioms}
    assert {"SubConcept", "SubRole", "SubExists", "DisjointConcepts", "DisjointRoles"} <= kinds


@pytest.mark.parametrize("name", VERDICTS)
def test_needs_the_ontology(example: Path, workspace: Workspace, name: str) -> None:
    """Without axioms, the vocabulary alone, other SQL comes out exactly where it should."""
    full = workspace.tbox
    bare = Workspace(load_project(example, environ={}))
    bare.tbox = TBox(
        (),
        classes=full.classes,
        object_properties=full.object_properties,
        data_properties=full.data_properties,
    )
    with_axioms = workspace.compile(name).union.disjuncts
    without = bare.compile(name).union.disjuncts
    shapes = [
        {(frozenset(o.table for o in q.occurrences), frozenset(map(str, q.conditions))) for q in u}
        for u in (with_axioms, without)
    ]
    assert (shapes[0] != shapes[1]) == VERDICTS[name][2]


@pytest.fixture(scope="module")
def made(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three generated days of forty sensors; with this seed every query has answers."""
    folder = tmp_path_factory.mktemp("made")
    spec = importlib.util.spec_from_file_location("generate", example / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate: Any = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = generate
    spec.loader.exec_module(generate)
    generate.generate(folder, sensors=40, days=3, seed=15)
    return folder


def open_project(example: Path, readings: Path, register: Path) -> Workspace:
    overrides = (
        f"streams.traffic.source.path={readings}",
        f"relations.sensor.source.path={register}",
    )
    return Workspace(load_project(example, overrides=overrides, environ={}))


def replay(
    workspace: Workspace, name: str, folder: Path, spark: "SparkSession"
) -> tuple[Any, dict[str, Any]]:
    output = folder / f"{name}.parquet"
    options = ReplayOptions(output=output, progress=False)
    summary = replay_query(workspace, workspace.compile(name), options, spark)
    return count(pq.read_table(output).to_pylist()), summary


def compare(found: Any, wanted: Any) -> None:
    """Equal, row for row; the first differences are shown."""
    assert list((wanted - found).items())[:3] == []
    assert list((found - wanted).items())[:3] == []


@pytest.fixture(scope="module")
def made_answers(made: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_answers(f"{made}/traffic/*.parquet", f"{made}/sensor.csv") as base:
        yield base


@pytest.mark.spark
@pytest.mark.parametrize("name", BOUNDED)
def test_answers_over_generated_data(
    example: Path,
    made: Path,
    made_answers: duckdb.DuckDBPyConnection,
    name: str,
    tmp_path: Path,
    spark: "SparkSession",
) -> None:
    """Equal rows with equal `at` and `multiplicity`: equal answers after every marker."""
    workspace = open_project(example, made / "traffic", made / "sensor.csv")
    found, summary = replay(workspace, name, tmp_path, spark)
    compare(found, expected(made_answers, name))
    assert summary["state_rows_max"] <= summary["bound_rows"]
    assert bool(found) == (name != "readings-both-fast-and-congested")


def test_every_bounded_query_has_hand_written_answers() -> None:
    assert {f.stem for f in (HERE / "expected").glob("*.sql")} == set(BOUNDED)


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of the real month, among them the end of the first days."""
    folder = tmp_path_factory.mktemp("real")
    source = shared / "data" / "citybench" / "traffic_2014_08.parquet"
    duckdb.sql(
        f"COPY (SELECT * FROM read_parquet('{source}') WHERE ts >= '2014-08-02' "
        f"AND ts < '2014-08-05' ORDER BY ts) TO '{folder}/traffic.parquet' (FORMAT parquet)"
    )
    return folder


@pytest.fixture(scope="module")
def real_answers(real: Path, shared: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    register = shared / "data" / "citybench" / "traffic_sensor_static.csv"
    with open_answers(f"{real}/traffic.parquet", str(register)) as base:
        yield base


@pytest.mark.spark
@pytest.mark.shared
@pytest.mark.parametrize("name", BOUNDED)
def test_answers_over_real_data(
    example: Path,
    shared: Path,
    real: Path,
    real_answers: duckdb.DuckDBPyConnection,
    name: str,
    tmp_path: Path,
    spark: "SparkSession",
) -> None:
    """The same over real readings of Aarhus."""
    register = shared / "data" / "citybench" / "traffic_sensor_static.csv"
    workspace = open_project(example, real / "traffic.parquet", register)
    found, summary = replay(workspace, name, tmp_path, spark)
    compare(found, expected(real_answers, name))
    assert summary["state_rows_max"] <= summary["bound_rows"]
