"""`check --format html` and `report`: one page, nothing from outside, everything escaped."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

UNBOUNDED = "how-often-congestion-got-worse"
BOUNDED = "roads-jammed-then-fast-then-jammed-again"
_VOID = {"meta", "link", "br", "hr", "img", "input", "rect", "path", "polygon"}
_OPTIONAL = {"th", "td", "tr"}


class _Page(HTMLParser):
    """Elements by name, checked for balance; text; attributes that fetch or run something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.fetched: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        if tag not in _VOID and tag not in _OPTIONAL:
            self.open.append(tag)
        for name, value in attrs:
            inside = name == "href" and (value or "").startswith("#")
            if (name in ("src", "href", "action", "data") and not inside) or name.startswith("on"):
                self.fetched.append(f"{name}={value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _OPTIONAL:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> _Page:
    page = _Page(text)
    assert page.open == []
    assert page.fetched == []
    assert not {"script", "iframe", "img", "link", "object", "embed"} & set(page.names)
    assert "url(" not in text
    assert "@import" not in text
    return page


def test_the_page_of_the_example(run: Run, example: Path) -> None:
    ran = run("check", example, "--format", "html")
    assert (ran.code, ran.err) == (0, "")
    page = read(ran.out)
    assert ran.out.startswith("<!DOCTYPE html>")
    for file in (example / "queries").glob("*.rq"):
        assert file.stem in page.text
    assert page.names.count("section") == len(list((example / "queries").glob("*.rq")))


def test_an_unbounded_query_is_explained(run: Run, example: Path) -> None:
    text = run("check", example, "--query", UNBOUNDED, "--format", "html").out
    page = read(text)
    assert "OW203" in page.text
    assert "nothing bounds the lag from traffic_1 to traffic_2" in page.text
    assert "A counterexample with 4 tuples" in page.text
    assert "<mark>?seconds1 &lt; ?seconds2</mark>" in text
    assert "in MaxRef(traffic_2)" in page.text
    assert "details" in page.names


def test_a_bounded_query_shows_its_plan(run: Run, example: Path) -> None:
    page = read(run("check", example, "--query", BOUNDED, "--format", "html").out)
    assert "Why what is kept is finite" in page.text
    assert "matches of traffic_1, traffic_2: [sensor_1.POINT_1_STREET] -> present" in page.text
    assert "SELECT DISTINCT" in page.text
    assert "svg" in page.names
    assert "A counterexample" not in page.text


def test_what_users_write_is_escaped(run: Run, project: Path) -> None:
    attack = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"
    file = project / "queries" / f"{UNBOUNDED}.rq"
    file.write_text(f"# {attack}\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    (project / "queries" / "a<b>&c.rq").write_text(
        "PREFIX : <http://traffic.example/ns#>\n"
        'SELECT ?r WHERE { GRAPH ?t { ?r :status ?s } FILTER(?s = "<b>\\"</b>") }\n'
    )
    both = ("--query", UNBOUNDED, "--query", "a<b>&c")
    page = read(run("check", project, *both, "--format", "html").out)
    assert attack in page.text
    assert "a<b>&c" in page.text


def test_report_writes_one_file(run: Run, example: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    ran = run("report", example, "--query", BOUNDED, "--output", output)
    assert (ran.code, ran.out, ran.err) == (0, f"{output}: a page of 1 query\n", "")
    page = run("check", example, "--query", BOUNDED, "--format", "html").out
    assert output.read_text(encoding="utf-8") == page
    assert list(tmp_path.iterdir()) == [output]


def test_repairs_are_shown(run: Run, example: Path) -> None:
    page = read(run("check", example, "--query", UNBOUNDED, "--format", "html").out)
    assert "Repairs" in page.text
    assert "select DISTINCT: whether there is a match, not how many → tree-bounded" in page.text
    assert "- SELECT ?road\n+ SELECT DISTINCT ?road" in page.text
    bounded = read(run("check", example, "--query", BOUNDED, "--format", "html").out)
    assert "Repairs" not in bounded.text


def test_a_wrong_query_leaves_the_old_page(run: Run, project: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    output.write_text("old")
    (project / "queries" / "broken.rq").write_text("SELECT")
    ran = run("report", project, "--query", BOUNDED, "--query", "broken", "--output", output)
    assert ran.code == 2
    assert output.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir() if p != project] == ["report.html"]


def test_a_page_is_replaced_as_a_whole(
    run: Run, example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "report.html"
    output.write_text("old")

    def refuse(*_: object) -> None:
        assert output.read_text() == "old"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    ran = run("report", example, "--query", BOUNDED, "--output", output)
    assert ran.code == 3
    assert "No space left on device" in ran.err
    assert output.read_text() == "old"
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("command", ["report", "graph"])
def test_a_folder_that_is_missing_is_named(
    run: Run, example: Path, tmp_path: Path, command: str
) -> None:
    output = tmp_path / "nowhere" / "file"
    show = ("rewrite", "--show", "graph") if command == "graph" else ("report",)
    ran = run(*show, example, "--query", BOUNDED, "--output", output)
    assert ran.code == 2
    assert ran.err.startswith(f"--output: cannot write {output}; there is no folder ")
    assert len(ran.err.splitlines()) == 1
