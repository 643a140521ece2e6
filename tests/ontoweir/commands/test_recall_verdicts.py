"""`check` prints the same whether it recalls verdicts or decides, and decides what has changed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ontoweir.cache import open_cache as opening
from ontoweir.commands.common import keep_verdicts as keeping
from tests.ontoweir.conftest import Ran, Run

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
