"""In a notebook: what is returned is short, and shown as HTML; what takes long shows how far it is.

A kernel runs the cells, as Jupyter's do.
"""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ontoweir import open_project
from ontoweir.api import answers as api_answers
from ontoweir.api.verdicts import Verdicts
from ontoweir.checker.verdict.show_verdict import show_verdict_html
from ontoweir.cli import main
from ontoweir.errors import OntoweirWarning, UsageError
from ontoweir.progress.notebook import NotebookText, html_bar, html_table, in_notebook
from tests.paths import TRAFFIC
from tests.waiting import HANG_TIMEOUT

UNBOUNDED = "how-often-congestion-got-worse"


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """A client of a kernel."""
    if not all(map(importlib.util.find_spec, ("ipykernel", "jupyter_client"))):
        pytest.skip("NOT TESTED: ipykernel is not installed")
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(HANG_TIMEOUT, kernel_name="python3")
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _run(client: Any, code: str) -> list[dict[str, Any]]:
    """What a cell shows, piece by piece: by MIME type."""
    found: list[dict[str, Any]] = []

    def see(message: dict[str, Any]) -> None:
        content = message["content"]
        if "data" in content:
            found.append(content["data"])
        elif message["msg_type"] == "error":
            raise AssertionError(content)

    client.execute_interactive(code, output_hook=see)
    return found


def test_cells(kernel: Any, tmp_path: Path) -> None:
    assert main(["init", str(tmp_path / "rooms"), "-q"]) == 0
    _run(kernel, "import ontoweir")
    _run(kernel, f"project = ontoweir.open_project({str(tmp_path / 'rooms')!r})")
    (shown,) = _run(kernel, "project")
    assert shown["text/plain"].startswith("OpenProject(")
    (shown,) = _run(kernel, "project.explain('hot-readings')")
    assert "hot-readings" in shown["text/html"]
    assert "hot-readings" in shown["text/plain"]
    assert "\\n" not in shown["text/plain"]
    (shown,) = _run(kernel, "project.check('hot-readings')")
    assert len(shown["text/plain"]) < 200
    assert "hot-readings" in shown["text/html"]
    *bars, shown = _run(kernel, "project.replay('hot-readings')")
    assert bars
    assert all("<progress" in bar["text/html"] for bar in bars)
    assert len(shown["text/plain"]) < 200
    assert "<table>" in shown["text/html"]
    (shown,) = _run(kernel, "project.replay('hot-readings', progress=False)")
    assert "<table>" in shown["text/html"]


def test_what_is_returned_is_short() -> None:
    assert not in_notebook()
    project = open_project(TRAFFIC)
    assert len(repr(project)) < 200
    for name in project.queries:
        verdict = project.check(name)
        assert len(repr(verdict)) < 200
        assert name in repr(verdict)
        assert str(verdict.tier) in show_verdict_html(verdict)
        assert len(show_verdict_html(verdict)) < 10_000
    assert "OW203" in show_verdict_html(project.check(UNBOUNDED))


def test_all_verdicts_are_shown_and_reasons_are_folded() -> None:
    project = open_project(TRAFFIC)
    verdicts = project.check()
    assert isinstance(verdicts, Verdicts)
    shown = verdicts._repr_html_()
    for name in project.queries:
        assert f"<b>{name}</b>" in shown
    _, _, below = shown.partition(f"<b>{UNBOUNDED}</b>")
    folded = below[below.index("<details>") : below.index("</details>")]
    assert "<summary>because</summary>" in folded
    assert "├─" in folded
    assert "<details open" not in shown


def test_answers_are_plotted(tmp_path: Path) -> None:
    rows = [f"2026-03-01T{n:02}:00:00Z,{'ab'[n % 2]},{n}.5" for n in range(24)]
    (tmp_path / "s.csv").write_text("ts,room,x\n" + "\n".join(rows) + "\n")
    assert main(["init", str(tmp_path / "p"), "--from", str(tmp_path / "s.csv"), "-q"]) == 0
    project = open_project(tmp_path / "p")
    answers = project.replay("SELECT ts, room, x FROM s")
    picture = answers.plot()
    assert picture.startswith("<svg")
    assert picture == answers.plot("x")
    assert picture._repr_html_().startswith('<img alt="a chart" src="data:image/svg+xml;base64,')
    assert len(repr(picture)) < 100
    chart = answers.to_altair("x").to_dict()
    assert chart["encoding"]["x"]["scale"] == {"type": "utc"}
    points = chart["data"]["values"]
    assert len(points) == 24
    assert points[0] == {"time": 1772323200000, "value": 0.5, "line": "a"}
    for other, value in ((answers, "room"), (project.replay("SELECT room FROM s"), None)):
        with pytest.raises(UsageError, match="has no answer with a time and a number"):
            other.plot(value)
        with pytest.raises(UsageError, match="has no answer with a time and a number"):
            other.to_altair(value)


def test_what_has_a_colour_is_read_on_light_and_dark_pages(tmp_path: Path) -> None:
    """Notebooks have themes: who sets a colour of letters sets what is behind them, too."""
    rows = [f"2026-03-01T{n:02}:00:00Z,{n}.5" for n in range(24)]
    (tmp_path / "s.csv").write_text("ts,x\n" + "\n".join(rows) + "\n")
    assert main(["init", str(tmp_path / "p"), "--from", str(tmp_path / "s.csv"), "-q"]) == 0
    with (tmp_path / "s.csv").open("a") as more:
        more.write("tomorrow,7\n")
    project = open_project(tmp_path / "p")
    with pytest.warns(OntoweirWarning, match="1 of 25 tuples"):
        answers = project.replay("SELECT ts, x FROM s")
    shown = answers._repr_html_()
    assert "1 of 25 tuples" in shown
    verdicts = open_project(TRAFFIC).check()
    assert isinstance(verdicts, Verdicts)
    shown += verdicts._repr_html_()
    styles = re.findall('style="([^"]*color[^"]*)"', shown)
    assert len(styles) > len(verdicts)
    for style in styles:
        said = dict(one.split(": ") for one in style.split("; "))
        dark, light = sorted(_luminance(said[name]) for name in ("color", "background"))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, style  # as WCAG 2 has it


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_times_are_shown_in_one_way(tmp_path: Path) -> None:
    """The column of a time has a zone, `at` has none: both are UTC."""
    (tmp_path / "s.csv").write_text("ts,x\n2026-03-01T10:00:00Z,1\n2026-03-01T11:00:00Z,2\n")
    assert main(["init", str(tmp_path / "p"), "--from", str(tmp_path / "s.csv"), "-q"]) == 0
    answers = open_project(tmp_path / "p").replay("SELECT ts, x FROM s")
    shown = answers._repr_html_()
    assert "<th>ts (UTC)</th><th>x</th><th>at (UTC)</th>" in shown
    assert shown.count("<td>2026-03-01 10:00:00</td>") == 2
    assert [str(kind) for kind in answers.to_arrow().schema.types] == [
        "timestamp[us, tz=UTC]",
        "int64",
        "timestamp[us]",
    ]


def test_without_altair_there_is_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_answers, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"altair is not installed; .* or use plot\(\)"):
        api_answers._require("altair", "plot()")


def test_text_stays_text() -> None:
    shown = NotebookText("a <b>\nc")
    assert shown == "a <b>\nc"
    assert shown.splitlines() == ["a <b>", "c"]
    assert shown._repr_html_() == '<pre style="white-space: pre-wrap">a &lt;b&gt;\nc</pre>'
    assert html_table(["<a>"], [[None], ["<"]]).count("&lt;") == 2
    assert "max" not in html_bar("x", 0, None, "")
    assert 'value="5" max="5"' in html_bar("x", 7, 5, "")


def test_a_decision_shows_how_far_it_is(kernel: Any) -> None:
    shown = _run(
        kernel,
        """
from ontoweir.progress.progress import FINISHED, Progress
from ontoweir.progress.show_decision import DecisionBar
times = iter(range(9))
progress = DecisionBar(clock=lambda: next(times))
for done in range(3):
    progress(Progress("deciding", done, 4))
progress(FINISHED)
""",
    )
    assert "deciding" in shown[0]["text/html"]
    assert "<progress" in shown[0]["text/html"]


def test_an_error_is_the_user_s_line_and_what_is_wrong(kernel: Any, tmp_path: Path) -> None:
    """Not the lines of this program that led to it, which say nothing to whoever wrote the cell."""
    assert main(["init", str(tmp_path / "rooms"), "-q"]) == 0
    shown: list[str] = []

    def see(message: dict[str, Any]) -> None:
        if message["msg_type"] == "error":
            shown.extend(message["content"]["traceback"])

    cell = (
        "import ontoweir\n"
        f"project = ontoweir.open_project({str(tmp_path / 'rooms')!r})\n"
        "def ask(name):\n"
        "    return project.check(name)\n"
        "ask('nope')\n"
    )
    kernel.execute_interactive(cell, output_hook=see)
    told = (
        f"UsageError: {tmp_path}/rooms/ontoweir.toml:10: unknown query 'nope'; it is none of the 3 "
        "that queries in [project] names; use one of: hot-readings, how-often-each-sensor-failed, "
        "rooms-hot-then-cold"
    )
    assert "\n".join(shown).splitlines() == ["line 4: return project.check(name)", told]
