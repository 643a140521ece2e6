"""What people ask in SPARQL of streams of several units of time with a register whose keys are
texts (parcels.rq, random_parcels.py): each question is answered as rdflib answers it at every time,
or refused with what to write instead."""

import re
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.pipeline.compiling import compile_joined
from ontoweir.pipeline.compiling.compile_solutions import compile_moment
from ontoweir.rewriter.model.spj import SpjUnion
from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.parcels import compare_text, make_parcels, write_parcels
from tests.sparql_counts.random_parcels import QueryDrawer


def read_questions(path: Path) -> list[tuple[str, str]]:
    """Questions of a file, one a line: as what each is refused ("": it is not), and itself."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        (before.removeprefix("# refused: ") if before.startswith("# refused: ") else "", line)
        for before, line in zip(["", *lines], lines, strict=False)
        if line and not line.startswith("#")
    ]


QUESTIONS = read_questions(Path(__file__).with_name("parcels.rq"))
WINDOW = re.compile(r"W\((\w+),(\d+)\)")


def list_names(query: str) -> list[str]:
    """The columns that a SELECT shows."""
    head = query[: query.index("{")]
    named = re.findall(r"AS \?(\w+)\)", head)
    plain = re.sub(r"\([^()]*(\([^()]*(\([^()]*\))?[^()]*\)[^()]*)*AS \?\w+\)", " # ", head)
    made = iter(named)
    return [
        next(made) if word == "#" else word[1:]
        for word in plain.split()
        if word == "#" or word.startswith("?")
    ]


def ask(query: str, seed: int, folder: Path) -> str:
    """What came of a query over rows of a seed."""
    random = Random(seed)
    case = make_parcels(random)
    write_parcels(case, folder)
    text = WINDOW.sub(r'FILTER(?\1 > NOW() - "PT\2M"^^xsd:dayTimeDuration)', query)
    return compare_text(text, list_names(query), case, folder, random)


@pytest.mark.many(3)
@pytest.mark.parametrize(("said", "query"), QUESTIONS, ids=[line for _, line in QUESTIONS])
def test_it_is_answered_or_refused(said: str, query: str, tmp_path: Path) -> None:
    told = ask(query, 1 + len(query) % 3, tmp_path)
    if said:
        assert told.startswith("refused: ")
        assert said in told
    else:
        assert told.endswith((": with answers", ": without")), told


def run(seed: int, folder: Path) -> str:
    """What came of the query of a seed, which is drawn."""
    random = Random(seed)
    case = make_parcels(random)
    write_parcels(case, folder)
    query, names = QueryDrawer(random).draw()
    if "GRAPH" not in query:
        return "of no stream"
    return compare_text(query, names, case, folder, random)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        told[run(seed, folder).partition(": ")[2]] += 1
    assert told["with answers"] > 1, told


@given(seed=SEEDS)
@budget(0.15)
def test_random_questions_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)).partition(": ")[0])


SO_FAR = "SELECT ?{k} ({call} AS ?n) {{ GRAPH ?t {{ {rows} }} }} GROUP BY ?{k}"
BESIDE = (
    "SELECT ?{k} ?n {{ {{ {all} }} {{ SELECT ?{k} (COUNT(*) AS ?m) {{ {now} }} GROUP BY ?{k} }} }}"
)


@pytest.mark.parametrize(
    ("key", "call", "rows", "told"),
    [
        ("d", "COUNT(*)", "?s :at ?d", "changes: with answers"),
        ("d", "MAX(?w)", "?s :at ?d ; :weight ?w", "changes: with answers"),
        ("k", "COUNT(*)", "?s :kind ?k", "undecided"),  # which may be any text
        ("d", "MAX(?k)", "?s :at ?d ; :kind ?k", "undecided"),
    ],
)
def test_groups_of_all_rows_so_far_are_of_few_values(
    key: str, call: str, rows: str, told: str, tmp_path: Path
) -> None:
    every = SO_FAR.format(k=key, call=call, rows=rows)
    now = f"GRAPH ?u {{ {rows.replace('?s', '?r').replace('?w', '?x')} }} W(u,20)"
    assert ask(BESIDE.format(k=key, all=every, now=now), 1, tmp_path) == told


SIDE = "SELECT ?d (COUNT(*) AS ?{n}) {{ GRAPH ?{t} {{ ?s :at ?d }} W({t},20) }} GROUP BY ?d"


@pytest.mark.parametrize("needed", [True, False])
def test_the_first_time_of_the_streams_is_compiled_once(
    needed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides of a UNION ask for it, as each has no value for what the other one counts; where
    nothing asks it is not compiled."""
    asked: list[object] = []

    def count(*given: Any) -> SpjUnion:
        asked.append(given)
        return compile_moment(*given)

    monkeypatch.setattr(compile_joined, "compile_moment", count)
    if needed:
        sides = (SIDE.format(n=n, t=t) for n, t in ("nt", "mu"))
        query = f"SELECT ?d ?n ?m {{ {' UNION '.join(f'{{ {s} }}' for s in sides)} }}"
    else:
        every = SO_FAR.format(k="d", call="COUNT(*)", rows="?s :at ?d")
        query = BESIDE.format(k="d", all=every, now="GRAPH ?u { ?r :at ?d } W(u,20)")
    assert ask(query, 1, tmp_path) == "changes: with answers"
    assert len(asked) == needed
