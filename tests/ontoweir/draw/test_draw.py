"""Graphs: laid out without overlaps, drawn as SVG."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.draw.draw_comparison import draw_comparison
from ontoweir.draw.draw_dependency import draw_dependency
from ontoweir.draw.draw_layout import Edge, GraphNode, Picture, lay_out_graph
from ontoweir.draw.draw_svg import print_svg
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.ontoweir.conftest import Run

CATALOG = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
a = "int"
b = { type = "int", min = 0, max = 9 }
"""


def check_picture(picture: Picture) -> None:
    """No two boxes overlap, and all lie inside."""
    boxes = [*picture.nodes, *picture.labels]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other), (one, other)
    for line in picture.lines:
        for (x, y), (to_x, to_y) in pairwise(line.points):
            for box in boxes if x != to_x else ():  # between rows, and nothing is there
                top, bottom = box.y - box.height / 2, box.y + box.height / 2
                assert not top < (y + to_y) / 2 < bottom
    for box in boxes:
        assert 0 <= box.x - box.width / 2 <= box.x + box.width / 2 <= picture.width
        assert 0 <= box.y - box.height / 2 <= box.y + box.height / 2 <= picture.height


_WORDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40), min_size=1)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[GraphNode], list[Edge]]:
    count = draw(st.integers(1, 6))
    nodes = [GraphNode(str(n), tuple(draw(_WORDS)[:4])) for n in range(count)]
    names = st.sampled_from([n.name for n in nodes])
    edges = draw(
        st.lists(
            st.builds(
                Edge,
                names,
                names,
                _WORDS.map(lambda w: tuple(w[:3])),
                ranked=st.booleans(),
                arrow=st.booleans(),
            ),
            max_size=10,
        )
    )
    return nodes, edges


@given(graphs())
def test_no_label_overlaps_another(graph: tuple[list[GraphNode], list[Edge]]) -> None:
    nodes, edges = graph
    picture = lay_out_graph(nodes, edges)
    check_picture(picture)
    assert len(picture.nodes) == len(nodes)
    assert len(picture.labels) == len(picture.lines) == len(edges)
    assert lay_out_graph(nodes, edges) == picture


def test_what_comes_first_stands_above() -> None:
    nodes = [GraphNode(n, (n,)) for n in "cab"]
    edges = [Edge("a", "b", ("<",)), Edge("b", "c", ("<",)), Edge("a", "c", ("<",))]
    heights = {box.lines[0]: box.y for box in lay_out_graph(nodes, edges).nodes}
    assert heights["a"] < heights["b"] < heights["c"]


def test_arrows_end_outside_the_box_they_point_at(catalog: Catalog) -> None:
    sql = "SELECT x.b FROM s x, s y WHERE x.ts < y.ts AND x.b = y.b"
    picture = draw_dependency(form_of(sql, catalog))
    (line,) = picture.lines
    target = picture.nodes[1]
    assert line.points[-1] == (target.x, target.y - target.height / 2)
    assert line.points[-2][1] < line.points[-1][1]
    (corners,) = re.findall(r'points="([^"]*)"', print_svg(picture, "graph"))
    heights = sorted({float(corner.split(",")[1]) for corner in corners.split()})
    assert heights == [line.points[-1][1] - 7, line.points[-1][1]]


def test_a_cycle_is_drawn_too() -> None:
    nodes = [GraphNode(n, (n,)) for n in "ab"]
    check_picture(lay_out_graph(nodes, [Edge("a", "b", ("1",)), Edge("b", "a", ("2",))]))


@pytest.fixture(scope="module")
def forms(root: Path) -> list[tuple[NormalForm, Catalog]]:
    """Every disjunct of every example query."""
    workspace = Workspace(load_project(root / "examples" / "traffic"))
    unions = [workspace.compile(name).union for name in workspace.query_names()]
    catalogs = [extend_catalog(workspace.project.catalog, union) for union in unions]
    return [
        (normalise_query(q, distinct=union.distinct, catalog=catalog), catalog)
        for union, catalog in zip(unions, catalogs, strict=True)
        for q in union.disjuncts
    ]


def test_every_example_is_legible(forms: list[tuple[NormalForm, Catalog]]) -> None:
    assert len(forms) > 30
    for form, catalog in forms:
        check_picture(draw_dependency(form))
        compared = draw_comparison(form, catalog)
        if compared is not None:
            check_picture(compared)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    file = tmp_path_factory.mktemp("draw") / "ontoweir.toml"
    file.write_text(CATALOG, encoding="utf-8")
    return load_project(file, environ={}).catalog


def form_of(sql: str, catalog: Catalog) -> NormalForm:
    (query,) = parse_sql(sql, catalog, name="case", file="case.sql").disjuncts
    return normalise_query(query, distinct=True, catalog=catalog)


def test_lags_are_written_at_the_edges(catalog: Catalog) -> None:
    sql = """SELECT x.b FROM s x, s y, s z WHERE x.ts < y.ts AND x.b = y.b
             AND y.ts <= x.ts + INTERVAL 9 SECONDS AND z.ts = y.ts AND x.a < z.a"""
    found = {box.lines for box in draw_dependency(form_of(sql, catalog)).labels}
    assert ("later by 1..9 steps", "b = b") in found
    assert ("later by 1..9 steps", "a < a") in found
    assert ("at the same time",) in found


def test_an_unbounded_comparison_over_an_unbounded_lag_stands_out(catalog: Catalog) -> None:
    sql = "SELECT x.b FROM s x, s y WHERE x.ts < y.ts AND x.{0} = y.{0}"
    (red,) = draw_dependency(form_of(sql.format("a"), catalog)).labels
    assert (red.lines, red.style) == (("later by 1..∞ steps", "a = a"), "unbounded")
    (plain,) = draw_dependency(form_of(sql.format("b"), catalog)).labels
    assert plain.style == ""


def test_implied_comparisons_are_dashed_and_references_marked(catalog: Catalog) -> None:
    sql = """SELECT 1 AS one FROM s x, s y, s z WHERE x.ts < y.ts AND y.ts < z.ts
             AND x.a < y.a AND y.a < z.a AND x.a < z.a"""
    picture = draw_comparison(form_of(sql, catalog), catalog)
    assert picture is not None
    assert sorted(line.style for line in picture.lines) == ["", "", "implied"]
    marks = {box.lines[0]: box.lines[2:] for box in picture.nodes}
    assert marks == {
        "x.a": ("in MinRef(x)",),
        "y.a": ("in MaxRef(y)", "in MinRef(y)"),
        "z.a": ("in MaxRef(z)",),
    }


def test_constants_are_terms(catalog: Catalog) -> None:
    picture = draw_comparison(
        form_of("SELECT x.b FROM s x WHERE x.a > 3 AND x.b <> 4", catalog), catalog
    )
    assert picture is not None
    assert {box.lines[0] for box in picture.nodes} == {"x.a", "x.b", "3", "4"}
    assert {box.lines for box in picture.labels} == {("<",), ("≠",)}


def test_nothing_compared_is_no_graph(catalog: Catalog) -> None:
    assert draw_comparison(form_of("SELECT x.b FROM s x", catalog), catalog) is None


def test_the_file_is_svg_that_stands_alone(run: Run, example: Path, tmp_path: Path) -> None:
    output = tmp_path / "graph.svg"
    query = "how-often-congestion-got-worse"
    ran = run("rewrite", example, "--query", query, "--show", "graph", "--output", output)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    tree = ET.fromstring(output.read_text(encoding="utf-8"))
    name = "{http://www.w3.org/2000/svg}"
    assert tree.tag == f"{name}svg"
    texts = {text.text for text in tree.iter(f"{name}text")}
    assert {"SQL 4: streams, the earlier above", "avg_measured_time < avg_measured_time"} <= texts
    assert tree.find(f"{name}style") is not None


@pytest.mark.parametrize("wrong", [("--show", "graph"), ("--show", "sql", "--output", "x.svg")])
def test_a_graph_needs_a_file(run: Run, example: Path, wrong: tuple[str, ...]) -> None:
    ran = run("rewrite", example, "--query", "every-reading-above-130", *wrong)
    assert ran.code == 2
    assert "write --show graph --output FILE.svg" in ran.err
