"""Pictures: what they say, that they are sound SVG, and that the one in the docs is of today."""

import re
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.draw.chart_rows import chart_rows
from ontoweir.draw.draw_chart import Chart, Series, draw_chart, draw_chart_file
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.trace.grow_witness import grow_witness
from tests.ontoweir.conftest import Run
from tests.ontoweir.dashboard.conftest import write_lines

UNBOUNDED = "how-often-congestion-got-worse"
BOUNDED = "roads-where-congestion-got-worse"
SVG = "{http://www.w3.org/2000/svg}"

numbers = st.floats(0, 1e15) | st.integers(0, 10**12).map(float) | st.sampled_from([0.0, 1.0])
times = st.integers(0, 4_000_000_000).map(float)


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    clock = draw(st.booleans())
    across = times if clock else numbers
    series = [
        Series(
            draw(st.text(max_size=200)),
            tuple(
                zip(
                    sorted(xs := draw(st.lists(across, max_size=9))),
                    [draw(numbers) for _ in xs],
                    strict=True,
                )
            ),
            draw(st.integers(0, 9)),
            draw(st.booleans()),
            draw(st.booleans()),
        )
        for _ in range(draw(st.integers(0, 4)))
    ]
    return Chart(draw(st.text()), draw(st.text()), "x", "y", tuple(series), times=clock)


@given(charts())
def test_charts_are_sound_and_inside(chart: Chart) -> None:
    drawn = "".join(c for c in draw_chart(chart) if c >= " " or c in "\n\t")
    if any(ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 or ord(c) > 0xFFFD for c in drawn):
        return  # not XML at all; the text is not text
    tree = ET.fromstring(drawn)
    assert tree.find(f"{SVG}title") is not None
    assert tree.find(f"{SVG}desc") is not None
    for circle in tree.iter(f"{SVG}circle"):
        assert 0 <= float(circle.get("cx", "")) <= chart.width
        assert 0 <= float(circle.get("cy", "")) <= chart.height
    for path in tree.iter(f"{SVG}path"):
        assert "nan" not in path.get("d", "")
        assert "inf" not in path.get("d", "")
    ticks = [t.text for t in tree.iter(f"{SVG}text") if "end" in (t.get("class") or "").split()]
    assert len(ticks) <= 12
    assert len(set(ticks)) == len(ticks)


def test_more_is_higher_and_later_is_further() -> None:
    points = ((0.0, 0.0), (1.0, 5.0), (2.0, 600.0))
    for most in (600.0, 60_000.0):  # linear, logarithmic
        line = Series("a", points, dots=True)
        limit = Series("b", ((0.0, most), (2.0, most)), 1, dashed=True)
        tree = ET.fromstring(draw_chart(Chart("t", "d", "x", "y", (line, limit))))
        places = [
            (float(c.get("cx", "")), float(c.get("cy", ""))) for c in tree.iter(f"{SVG}circle")
        ]
        assert [x for x, _ in places] == sorted({x for x, _ in places})
        assert [y for _, y in places] == sorted({y for _, y in places}, reverse=True)


def test_a_file_is_whole_and_fetches_nothing() -> None:
    text = draw_chart_file(Chart("<a>", "&", "x", "y", (Series("<b>", ((1.0, 1.0),)),)))
    tree = ET.fromstring(text)
    assert tree.findtext(f"{SVG}title") == "<a>"
    assert "prefers-color-scheme: dark" in text
    assert "url(" not in text
    assert "href" not in text


def test_a_counterexample_forces_the_state_up(example: Path) -> None:
    workspace = Workspace(load_project(example))
    growth = grow_witness(workspace, workspace.compile(UNBOUNDED), 5)
    assert growth.needed == (1, 2, 3, 4, 5)
    assert growth.repaired is not None
    assert growth.repaired.actions == ("select DISTINCT: whether there is a match, not how many",)
    assert growth.repaired.bound == 12
    assert growth.repaired.kept[2:] == growth.repaired.kept[1:-1]  # flat
    assert max(growth.repaired.kept) < 5


def test_the_picture_in_the_docs_is_of_today(
    run: Run, example: Path, root: Path, tmp_path: Path
) -> None:
    output = tmp_path / "witness.svg"
    ran = run("plot", "--show", "witness", example, "--query", UNBOUNDED, "--output", output)
    assert (ran.code, ran.out, ran.err) == (0, f"{output}: witness of {UNBOUNDED}\n", "")
    made = output.read_text(encoding="utf-8")
    shown = root / "docs" / "witness.svg"
    assert made == shown.read_text(encoding="utf-8"), f"write {output} to {shown}"
    assert "docs/witness.svg" in (root / "README.md").read_text(encoding="utf-8")


def test_graphs_are_those_of_rewrite(run: Run, example: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    asked = (example, "--query", BOUNDED, "--output")
    assert run("plot", "--show", "graph", *asked, one).code == 0
    assert run("rewrite", "--show", "graph", *asked, other).code == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("kind", ["state", "throughput"])
def test_a_replay_is_drawn(run: Run, project: Path, tmp_path: Path, kind: str) -> None:
    import subprocess
    import sys

    command = [sys.executable, str(project / "generate.py"), "--output", str(project / "data")]
    subprocess.run([*command, "--days", "1", "--sensors", "30"], check=True, capture_output=True)
    output = tmp_path / "picture.svg"
    ran = run("plot", "--show", kind, project, "--query", BOUNDED, "--output", output)
    assert (ran.code, ran.err) == (0, "")
    tree = ET.parse(output).getroot()
    told = tree.findtext(f"{SVG}desc") or ""
    if kind == "state":
        assert "The bound is 60 = " in told or "The bound is " in told
        names = [t.text for t in tree.iter(f"{SVG}text")]
        assert any(n is not None and n.startswith("bound: ") for n in names)
    else:
        assert told.startswith("Tuples that a replay in one process takes in per second")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["picture.svg", project.name]


def test_answers_are_drawn_over_time(run: Run, project: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    command = [sys.executable, str(project / "generate.py"), "--output", str(project / "data")]
    subprocess.run([*command, "--days", "1", "--sensors", "30"], check=True, capture_output=True)
    output = tmp_path / "picture.svg"

    def draw(query: str, *more: str) -> tuple[int, str]:
        ran = run("plot", "--show", "answers", project, "--query", query, "--output", output, *more)
        return ran.code, ran.err

    assert draw("average-speed-of-each-road-by-the-hour") == (0, "")
    tree = ET.parse(output).getroot()
    told = tree.findtext(f"{SVG}desc") or ""
    assert told.startswith("average of ")
    assert told.endswith("answers over hour; a line for each road.")
    names = [t.text or "" for t in tree.iter(f"{SVG}text")]
    assert "Randersvej" in names
    assert draw("average-speed-of-each-road-by-the-hour", "--column", "readings") == (0, "")
    code, told = draw("average-speed-of-each-road-by-the-hour", "--column", "road")
    assert code == 2
    assert "has no column of numbers called road" in told
    assert "--column average or readings" in told
    code, told = draw("sensors-that-ever-reported-a-disturbance")
    assert code == 2
    assert "select a number" in told
    code, told = draw("average-speed-of-each-road-by-the-hour", "--to", "2001-01-01")
    assert code == 2


def test_one_moment_has_a_label() -> None:
    """A run of one micro-batch."""
    one = Chart("t", "d", "time", "rows", (Series("s", ((1_772_323_201.4, 3.0),)),), times=True)
    assert ">00:00:01<" in draw_chart(one)


def test_values_below_zero_are_above_the_axis() -> None:
    points = ((0.0, -5.0), (1.0, 5.0))
    drawn = draw_chart(Chart("t", "d", "x", "y", (Series("s", points),)))
    heights = [float(y) for y in re.findall(r'y1="([0-9.]+)" y2="\1"', drawn)]
    path = re.search(r'd="M [0-9.]+ ([0-9.]+) L', drawn)
    assert path is not None
    assert min(heights) < float(path[1]) <= max(heights)


def test_a_run_is_drawn(run: Run, example: Path, tmp_path: Path) -> None:
    record = {
        "batch": 1,
        "time": "2026-11-21T19:00:00",
        "tuples_per_second": 10.0,
        "totals": {"tuples": 5},
        "queries": {BOUNDED: {"state_rows": 7, "bound_rows": 84, "synopses": []}},
    }
    write_lines(tmp_path / "metrics.jsonl", [record, record | {"time": "2026-11-21T19:01:00"}])
    output = tmp_path / "picture.svg"
    asked = (example, "--output", output, "--metrics", tmp_path)
    assert run("plot", "--show", "state", *asked, "--query", BOUNDED).code == 0
    assert "at most 7 of those shown" in output.read_text(encoding="utf-8")
    assert run("plot", "--show", "throughput", *asked, "--query", BOUNDED).code == 0
    ran = run("plot", "--show", "state", *asked, "--query", UNBOUNDED)
    assert ran.code == 2
    assert "no micro-batch of how-often-congestion-got-worse is recorded" in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("state", "--size", "3"), "--size does not go with --show state"),
        (("witness", "--metrics", "x"), "--metrics does not go with --show witness"),
        (("graph", "--from", "2014-08-01"), "--from does not go with --show graph"),
        (
            ("state", "--metrics", "x", "--to", "2014-08-01"),
            "--to does not go with --show state and",
        ),
        (("witness", "--size", "65"), "--size 65 is not between 1 and 64"),
        (("witness", "--size", "0"), "--size 0 is not between 1 and 64"),
        (("state", "--strict"), "how-often-congestion-got-worse is unbounded"),
        (("pie",), "invalid choice"),
    ],
)
def test_what_cannot_be_drawn(
    run: Run, example: Path, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    output = tmp_path / "picture.svg"
    ran = run("plot", "--show", *arguments, "--query", UNBOUNDED, "--output", output, example)
    assert ran.code == 2
    assert told in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not output.exists()


def test_a_bounded_query_has_no_counterexample(run: Run, example: Path, tmp_path: Path) -> None:
    output = tmp_path / "picture.svg"
    ran = run("plot", "--show", "witness", example, "--query", BOUNDED, "--output", output)
    assert ran.code == 2
    assert "is bounded: it has no counterexample" in ran.err


def test_events_that_are_each_called_otherwise_are_one_line() -> None:
    """Of earthquakes with places; of sensors there is a line for each."""
    hours = [datetime(2026, 1, 1, n) for n in range(12)]
    rows = {"t": hours, "quake": [f"http://q/{n}" for n in range(12)], "mag": [4.5] * 12}
    places = [f"{n // 2} km off" for n in range(12)]
    chart = chart_rows(pa.table({**rows, "place": places, "kind": ["a", "b"] * 6}), "q", "mag")
    assert chart is not None
    assert [(line.name, len(line.points)) for line in chart.series] == [("a", 6), ("b", 6)]
    alone = chart_rows(pa.table(rows), "q", "mag")
    assert alone is not None
    assert [(line.name, len(line.points)) for line in alone.series] == [("mag", 12)]
    said = chart_rows(pa.table(rows), "q", "mag", groups=["quake"])
    assert said is not None
    assert len(said.series) > 1
