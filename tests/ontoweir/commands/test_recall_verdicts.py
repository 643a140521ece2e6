"""`check` prints the same whether it recalls verdicts or decides, and decides what has changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from ontoweir.cache import open_cache as opening
from ontoweir.cli import make_parser
from ontoweir.commands.common import keep_verdicts as keeping
from ontoweir.commands.design import check as checking
from ontoweir.rewriter.model.watch_time import Watch
from tests.ontoweir.conftest import Ran, Run
from tests.paths import ROOT

QUERIES = (
    "every-reading-above-130",
    "sensors-silent-while-their-road-is-busy",
    "sensors-fast-after-congestion",
)


@pytest.fixture
def cached(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project, and a cache of its own."""
    for file in (project / "queries").iterdir():
        if file.stem not in QUERIES:
            file.unlink()
    assert len(list((project / "queries").iterdir())) == len(QUERIES)
    monkeypatch.setenv(opening.VARIABLE, str(tmp_path / "cache"))
    return project


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that were decided."""
    names: list[str] = []
    work = vars(keeping)["decide_each"]

    def decide(
        workspace: object, left: Sequence[str], *arguments: object, **more: object
    ) -> object:
        names.extend(left)
        return work(workspace, left, *arguments, **more)

    monkeypatch.setattr(keeping, "decide_each", decide)
    return names


def check(run: Run, project: Path, *more: str) -> Ran:
    return run("check", project, *more)


@pytest.mark.parametrize("form", ["text", "json", "html", "sarif"])
def test_the_same_is_printed_without_a_cache_with_a_new_one_and_with_an_old_one(
    form: str, run: Run, cached: Path, decided: list[str]
) -> None:
    plain, first, second, again = (
        check(run, cached, "--format", form, "--cache", cache)
        for cache in ("off", str(cached.parent / "cache"), str(cached.parent / "cache"), "off")
    )
    assert plain == first == second == again
    assert len(decided) == (9 if form in ("text", "json") else 0)


WARNED = """
<#Odd> rr:logicalTable [ rr:tableName "traffic" ] ;
  rr:subjectMap [ rr:template "http://odd.example/a^b/{id}" ; rr:class <http://odd.example/C> ] .
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_where_all_is_known_nothing_is_read(
    form: str, run: Run, cached: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warnings are said again: of the ontology, of mappings, of queries."""
    with (cached / "traffic.r2rml.ttl").open("a") as file:
        file.write(WARNED)
    with (cached / "traffic.ttl").open("a") as file:
        file.write("<http://odd.example/p> a owl:ObjectProperty, owl:TransitiveProperty .\n")
    query = "SELECT ?x WHERE { GRAPH ?t { ?x <http://odd.example/p> ?y } }"
    (cached / "queries" / "odd.rq").write_text(query)
    first = check(run, cached, "--format", form)
    assert "is not allowed in one" in first.err
    assert "OWL 2 QL has no TransitiveObjectProperty" in first.err
    assert "nothing is mapped to http://odd.example/p" in first.err

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("something is read")

    with monkeypatch.context() as patched:
        patched.setattr(checking, "open_workspace", refuse)
        assert check(run, cached, "--format", form) == first
        assert check(run, cached, "--format", form, "--fail-on", "stateless").code == 1
        for more in (
            ("--query", QUERIES[0]),
            ("--strict",),
            ("--verbose",),
            ("--set", "project.counts=matches"),
        ):
            with pytest.raises(AssertionError, match="is read"):
                checking._check_all(make_parser().parse_args(["check", str(cached), *more]))
    assert check(run, cached, "--format", form, "--cache", "off") == first


def test_verbose_verdicts_and_those_of_arrival_are_others(
    run: Run, cached: Path, decided: list[str]
) -> None:
    check(run, cached)
    for more in (
        ("--verbose",),
        ("--model", "arrival"),
        ("--format", "json"),
        ("--time-limit", "9"),
    ):
        plain = check(run, cached, *more, "--cache", "off")
        decided.clear()
        assert check(run, cached, *more).out == plain.out
        assert len(decided) == 3
        assert check(run, cached, *more).out == plain.out
        assert len(decided) == 3


def replace(old: str, new: str, file: str, project: Path) -> None:
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new, 1))


ONE = f"queries/{QUERIES[0]}.rq"
CHANGES = {
    "a declaration": ("ontoweir.toml", "max_per_timestamp = ", "max_per_timestamp = 1", 3),
    "a comment in the project file": ("ontoweir.toml", "[project]", "# new\n[project]", 3),
    "a comment behind a line of it": ("ontoweir.toml", "[project]", "[project] # new", 3),
    "the mapping": ("traffic.r2rml.ttl", "@prefix rr:", "\n@prefix rr:", 3),
    "the ontology": ("traffic.ttl", "@prefix owl:", "\n@prefix owl:", 3),
    "a query": (ONE, "130", "131", 1),
    "a comment in a query": (ONE, "SELECT", "# new\nSELECT", 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_decided_again(
    name: str, run: Run, cached: Path, decided: list[str]
) -> None:
    file, old, new, count = CHANGES[name]
    check(run, cached)
    decided.clear()
    replace(old, new, file, cached)
    changed = check(run, cached)
    assert len(decided) == count
    assert changed == check(run, cached) == check(run, cached, "--cache", "off")


def test_another_program_decides_again(
    run: Run, cached: Path, decided: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(run, cached)
    monkeypatch.setattr(opening, "digest_program", lambda: "another")
    check(run, cached)
    assert len(decided) == 6


def test_an_override_decides_again(run: Run, cached: Path, decided: list[str]) -> None:
    check(run, cached)
    check(run, cached, "--set", "streams.traffic.max_per_timestamp=7")
    check(run, cached, "--set", "project.counts=matches")
    assert len(decided) == 9


def test_a_refusal_is_not_kept(run: Run, cached: Path, decided: list[str]) -> None:
    replace("SELECT", "SELECT nonsense", ONE, cached)
    first = check(run, cached)
    decided.clear()
    assert check(run, cached) == first
    assert decided == [QUERIES[0]]
    assert first.code == 2


def test_what_more_time_could_change_is_not_kept(
    run: Run, cached: Path, decided: list[str]
) -> None:
    check(run, cached, "--time-limit", "0.000001")
    decided.clear()
    check(run, cached, "--time-limit", "0.000001")
    assert len(decided) == 3


def test_a_query_that_changes_while_it_is_decided_is_not_kept(
    run: Run, cached: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = vars(keeping)["decide_each"]

    def meddle(*arguments: object, **more: object) -> object:
        replace("SELECT", "SELECT DISTINCT", ONE, cached)
        return work(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(keeping, "decide_each", meddle)
        check(run, cached)
    replace("SELECT DISTINCT", "SELECT", ONE, cached)
    assert check(run, cached).out == check(run, cached, "--cache", "off").out


def test_a_damaged_verdict_is_decided_again(run: Run, cached: Path, decided: list[str]) -> None:
    first = check(run, cached)
    for file in (cached.parent / "cache").glob("verdict-*"):
        file.write_bytes(b"0" * 64 + b"\n[]")
    assert check(run, cached) == first
    assert len(decided) == 6


def test_what_is_decided_is_kept_though_the_search_for_repairs_stopped(
    run: Run, cached: Path, decided: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end is said in a warning, again too; another limit is another search."""

    def stop(workspace: object, compiled: object, watch: Watch, **more: object) -> tuple[()]:
        watch.stopped = True
        return ()

    monkeypatch.setattr("ontoweir.pipeline.repair_query.repair_query", stop)
    name = "how-often-congestion-got-worse"
    text = (ROOT / "examples/traffic/queries" / f"{name}.rq").read_text()
    (cached / "queries" / f"{name}.rq").write_text(text)
    first, again = (check(run, cached, "--query", name) for _ in range(2))
    assert first == again
    assert "the search for repairs stopped after 3 s" in again.err
    assert decided == [name]
    check(run, cached, "--query", name, "--time-limit", "9")
    assert decided == [name, name]
