"""The pages in headless Chromium: no error in the console, nothing wider than a phone, live; and
axe-core finds nothing in them."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.dashboard.serve import serve_dashboard
from ontoweir.dashboard.site import Site
from tests.ontoweir.dashboard.conftest import Record, write_lines

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
QUERY = "roads-where-congestion-got-worse"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


CUT = """() => {
  document.querySelectorAll('details').forEach(d => d.open = true);
  return [...document.querySelectorAll('main *')]
    .filter(e => !(e.parentElement.closest('svg')) && e.offsetParent !== null)
    .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(e => e.tagName + ' ' + (e.textContent || '').slice(0, 40));
}"""
"""What is wider than the page, also where it could be scrolled to."""
OPEN = "document.querySelectorAll('details').forEach(d => d.open = true)"
SMALL = """[project]
queries = []
[streams.s]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 1
columns = { v = "int" }
"""


@pytest.fixture
def url(site: Site) -> Iterator[str]:
    """A dashboard that answers on a port of this machine."""
    with serve_dashboard(replace(site, host="127.0.0.1"), 0) as (found, _):
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser that waits as long as it takes."""
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=0)
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens an empty page, with a width and whatever else a context takes."""
    with ExitStack() as opened:

        def make(width: int, **more: str) -> Any:
            context = browser.new_context(viewport={"width": width, "height": 844}, **more)
            opened.callback(context.close)
            context.set_default_timeout(0)
            return context.new_page()

        yield make


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_pages_in_a_browser(
    open_page: Callable[..., Any],
    url: str,
    project: Path,
    tmp_path: Path,
    record: Record,
    scheme: str,
    width: int,
) -> None:
    lines = [record(n, {QUERY: (n, 84)}) for n in range(5)]
    metrics = project / "out/answers/metrics.jsonl"
    write_lines(metrics, lines)
    told: list[str] = []
    page = open_page(width, color_scheme=scheme)
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in ("", f"query?name={QUERY}", "mappings", f"playground?query={QUERY}"):
        page.goto(f"{url}{path}")
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(wide), path
        assert (page.locator("h1").count(), page.locator("main").count()) == (1, 1), path
        if width == 390:
            assert page.evaluate(CUT) == [], path
        page.screenshot(path=str(tmp_path / "page.png"), full_page=True)
    page.get_by_role("button", name="Check").click()
    page.locator(".verdict", has_text="tree-bounded").first.wait_for()
    page.goto(f"{url}query?name={QUERY}")
    page.get_by_text("4", exact=True).first.wait_for()
    write_lines(metrics, [*lines, record(7, {QUERY: (77, 84)})])
    page.locator("[data-field=state_rows]", has_text="77").wait_for()  # without a reload
    assert "at most 77" in page.locator("[data-chart=state] desc").inner_html()
    assert page.get_by_text("live at").is_visible()
    assert told == []
    assert {a for a in asked if not a.startswith(url)} == set()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    open_page: Callable[..., Any], url: str, project: Path, record: Record, scheme: str
) -> None:
    """WCAG 2.2 AA and good practice, with all that is folded opened."""
    metrics = project / "out/answers/metrics.jsonl"
    write_lines(metrics, [record(n, {QUERY: (n, 84)}) for n in range(5)])
    write_answer(project, 0, mean=0.5)
    page = open_page(1200, color_scheme=scheme)
    unbounded = "how-often-congestion-got-worse"
    for path in (
        "",
        f"query?name={QUERY}",
        f"query?name={unbounded}",
        f"answers?name={QUERY}",
        f"rejects?name={QUERY}",
        f"compare?name={QUERY}&name={unbounded}",
        "mappings",
        f"playground?query={QUERY}",
    ):
        page.goto(f"{url}{path}")
        page.evaluate(OPEN)
        found = axe.Axe().run(page).response["violations"]
        assert [(path, v["id"], v["nodes"][0]["html"][:80]) for v in found] == []
    page.set_content("<html lang=en><title>t</title><main><h1>h</h1><img src=a.png></main>")
    assert [v["id"] for v in axe.Axe().run(page).response["violations"]] == ["image-alt"]


def write_answer(project: Path, number: int, **more: float) -> None:
    """A file of one answer, as a run writes it."""
    folder = project / "out/answers" / QUERY
    folder.mkdir(parents=True, exist_ok=True)
    at = pa.array([datetime(2014, 8, 1, number)], pa.timestamp("us", "UTC"))
    roads = pa.array([f"http://traffic.example/road/{number}"])
    numbers = {name: pa.array([value]) for name, value in more.items()}
    rows = pa.table({"road": roads, "readings": pa.array([7 + number]), **numbers, "at": at})
    pq.write_table(rows, folder / f"part-{number:012d}.parquet")


def test_the_column_of_the_chart_is_chosen_by_keyboard(
    open_page: Callable[..., Any], url: str, project: Path
) -> None:
    for number in range(3):
        write_answer(project, number, mean=number / 2)
    page = open_page(390)
    page.goto(f"{url}answers?name={QUERY}")
    drawn = page.locator("[data-rowchart] desc")
    assert drawn.inner_html().startswith("mean of 3 answers")  # not the whole number before it
    page.get_by_label("Chart of").focus()
    page.keyboard.type("readings")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**chart=readings**")
    assert drawn.inner_html().startswith("readings of 3 answers")
    write_answer(project, 3, mean=1.5)
    page.locator("[data-rowchart] desc", has_text="readings of 4 answers").wait_for(
        state="attached"
    )
    page.locator("thead a").first.click()
    page.wait_for_url("**sort=**")
    assert drawn.inner_html().startswith("readings of 4 answers")  # an order keeps the choice


def test_queries_beside_each_other_are_live(
    open_page: Callable[..., Any], url: str, project: Path, record: Record
) -> None:
    other = "every-reading-above-130"
    metrics = project / "out/answers/metrics.jsonl"
    lines = [record(n, {QUERY: (n, 84), other: (1, None)}) for n in range(5)]
    write_lines(metrics, lines)
    told: list[str] = []
    page = open_page(1200)
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(f"{url}compare?name={QUERY}&name={other}")
    page.locator(f"[data-query={QUERY}] [data-field=state_rows]", has_text="4").wait_for()
    page.evaluate("document.body.dataset.same = 'page'")
    write_lines(metrics, [*lines, record(7, {QUERY: (77, 84), other: (2, None)})])
    page.locator(f"[data-query={QUERY}] [data-field=state_rows]", has_text="77").wait_for()
    page.locator(f"[data-query={other}] [data-field=state_rows]", has_text="2").wait_for()
    drawn = page.locator(f"[data-query={QUERY}] [data-chart] desc").inner_html()
    assert "at most 77" in drawn
    assert page.evaluate("document.body.dataset.same") == "page"
    assert told == []


@pytest.mark.parametrize("width", [1200, 390])
def test_answers_appear_without_a_reload(
    open_page: Callable[..., Any], url: str, project: Path, width: int
) -> None:
    write_answer(project, 0)
    told: list[str] = []
    page = open_page(width)
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(f"{url}answers?name={QUERY}")
    page.get_by_text("rows are added as they come").wait_for()
    assert page.locator("[data-unit]").inner_text() == "row"
    write_answer(project, 1)
    page.locator("table.rows tbody tr").nth(1).wait_for()
    assert page.locator("table.rows tbody tr").first.inner_text().split()[1] == "8"
    assert page.locator("[data-count]").inner_text() == "2"
    assert page.locator("[data-unit]").inner_text() == "rows"
    if width == 390:
        assert page.evaluate(CUT.replace("main *", "main > *, form *")) == []
    assert told == []


def test_on_a_phone_answers_are_not_cut(
    open_page: Callable[..., Any], url: str, project: Path
) -> None:
    """Each value is beside the name of its column, also in rows that come; no word is broken."""
    write_answer(project, 0, mean=94.69767441860465)
    page = open_page(390)
    page.goto(f"{url}answers?name={QUERY}")
    page.get_by_text("rows are added as they come").wait_for()
    assert page.evaluate(CUT) == []
    write_answer(project, 1, mean=67.18478260869566)
    page.locator("table.rows tbody tr").nth(1).wait_for()
    for row in page.locator("table.rows tbody tr").all():
        cell = row.locator("td[data-label=mean]")
        assert cell.count() == 1
        label = cell.evaluate("e => getComputedStyle(e, '::before').content")
        assert label.startswith('"mean')
        assert cell.evaluate("e => e.getClientRects().length") == 1
        assert cell.bounding_box()["height"] < 30  # one line
    assert page.evaluate(CUT) == []


def test_numbers_are_below_each_other(
    open_page: Callable[..., Any], url: str, project: Path
) -> None:
    write_answer(project, 0, mean=0.5)
    page = open_page(1200)
    page.goto(f"{url}answers?name={QUERY}")
    page.get_by_text("rows are added as they come").wait_for()
    write_answer(project, 1, mean=10.25)
    page.locator("table.rows tbody tr").nth(1).wait_for()
    for place in ("th", "td"):
        for name in ("readings", "mean"):
            cell = page.locator(f"table.rows {place}[data-label={name}]").first
            assert cell.count() == 1
            assert cell.evaluate("e => getComputedStyle(e).textAlign") == "right"


def test_bars_are_thin_and_choices_in_columns(
    open_page: Callable[..., Any], url: str, project: Path, record: Record
) -> None:
    write_lines(project / "out/answers/metrics.jsonl", [record(1, {QUERY: (40, 84)})])
    page = open_page(390)
    page.goto(url)
    assert page.locator("svg.bar").first.bounding_box()["height"] < 10
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{url}compare")
    boxes = [b.bounding_box() for b in page.locator("fieldset.choices input").all()]
    assert len(boxes) > 20
    assert 1 < len({round(b["x"]) for b in boxes}) <= 4


def test_a_large_screen_is_used(open_page: Callable[..., Any], url: str) -> None:
    page = open_page(3840)
    page.goto(url)
    assert page.locator("main").bounding_box()["width"] > 1900
    page.set_viewport_size({"width": 1920, "height": 1080})
    assert page.locator("main").bounding_box()["width"] < 1400


def test_an_answer_before_the_connection_is_shown(
    open_page: Callable[..., Any], url: str, project: Path
) -> None:
    """It came when the page was made, and the server did not know yet of whom to tell it."""
    write_answer(project, 0)
    page = open_page(1200)

    def connect(route: Any) -> None:
        write_answer(project, 1)
        route.continue_()

    page.route("**/answers/events*", connect)
    page.goto(f"{url}answers?name={QUERY}")
    page.locator("table.rows tbody tr").nth(1).wait_for()


@pytest.mark.parametrize("width", [800, 1000, 1100, 1280])
def test_the_overview_is_not_cut(
    open_page: Callable[..., Any], url: str, project: Path, record: Record, width: int
) -> None:
    """All columns are seen at once, the last timestamp and the lag too."""
    last = record(5, {QUERY: (1_234_567, 1_234_567)})
    totals = {"tuples": 123_456_789, "results": 1_234_567, "rejected": 0, "late": 0}
    last |= {"rejects": {}, "totals": totals, "tuples_per_second": 1_234_567.0}
    write_lines(project / "out/answers/metrics.jsonl", [last])
    page = open_page(width)
    page.goto(url)
    page.locator(".verdict", has_text="conditionally-bounded").first.wait_for()
    holder = "document.querySelector('.wide')"
    assert page.evaluate(f"{holder}.scrollWidth <= {holder}.clientWidth")
    page.goto(f"{url}query?name={QUERY}")
    rejects = page.locator("[data-table=rejects] tbody")
    page.get_by_text("live at").wait_for()  # drawn again by the script
    assert rejects.inner_text().strip() == "none"


def test_a_report_is_not_cut(open_page: Callable[..., Any], tmp_path: Path, root: Path) -> None:
    page_file = tmp_path / "report.html"
    example = root / "examples" / "traffic"
    assert main(["report", str(example), "--output", str(page_file), "-q"]) == 0
    page = open_page(390)
    page.goto(page_file.as_uri())
    assert (page.locator("h1").count(), page.locator("main").count()) == (1, 1)
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("width", [1200, 390])
def test_a_slider_goes_through_answers(
    open_page: Callable[..., Any], tmp_path: Path, width: int
) -> None:
    rows = "".join(f"2026-01-05 08:{n:02}:00,{n}\n" for n in range(30))
    (tmp_path / "s.csv").write_text(f"ts,v\n{rows}")
    (tmp_path / "ontoweir.toml").write_text(SMALL)
    told: list[str] = []
    page = open_page(width)
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    out = tmp_path / "out"
    with serve_dashboard(Site(tmp_path, out, out, out, host="127.0.0.1"), 0) as (url, _):
        page.goto(f"{url}playground")
        page.get_by_label("SQL over the catalog").check()
        page.get_by_label("The query").fill(
            "SELECT v FROM s WHERE ts > NOW() - INTERVAL '3' MINUTE"
        )
        page.get_by_role("button", name="Step through its answers").click()
        page.get_by_text("Time 1 of 30").wait_for()
        page.get_by_role("slider").fill("7")
        page.get_by_text("Time 8 of 30").wait_for()
        page.locator("#step:focus").wait_for()  # again
        page.keyboard.press("ArrowRight")
        page.get_by_text("Time 9 of 30").wait_for()
        page.get_by_role("button", name="next").click()
        page.get_by_text("Time 10 of 30").wait_for()
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(wide)
        page.screenshot(path=str(tmp_path / "page.png"), full_page=True)
    assert told == []
