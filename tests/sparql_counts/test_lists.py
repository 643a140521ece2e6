"""GROUP_CONCAT of buckets of time and of windows that slide: the texts that rdflib finds, in order
by their code points."""

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

import ontoweir
from ontoweir.errors import QueryError
from tests.sparql_counts.ask_rdflib import ask_rdflib, translate_query
from tests.sparql_counts.case import Case
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.test_asked_sparql import MAPS, RELATION, ROWS, STREAM, read_question
from tests.sparql_counts.write_case import write_case, write_query

BUCKET = ' (ow:tumble(?t, "PT10M"^^xsd:dayTimeDuration) AS ?h)'
PATTERN = "GRAPH ?t { ?x :a ?a ; :n ?n }"


def _replay(folder: Path, call: str, group: str) -> dict[tuple[str, ...], str]:
    """The lists of each group and bucket."""
    asked = read_question(f"?x ?a ?t | {PATTERN}")
    write_case(Case((STREAM, RELATION), MAPS, asked, ROWS), folder)
    text = write_query(asked)
    text = text.replace("SELECT ?x ?a ?t", f"SELECT {group} ?h ({call} AS ?l)")
    text = (
        "PREFIX ow: <urn:ontoweir:>\n" * ("ow:" not in text) + text + f"\nGROUP BY {group}{BUCKET}"
    )
    (folder / "q.rq").write_text(text, encoding="utf-8")
    table = ontoweir.open_project(folder).replay("q").to_arrow()
    names = [n for n in (group.strip("?"), "h") if n]
    return {tuple(str(row[n]) for n in names): row["l"] for row in table.to_pylist()}


def _expect(folder: Path) -> dict[tuple[str, str], list[str]]:
    """The texts of each ?x and bucket of ten minutes, each as often as rdflib finds it."""
    asked = translate_query(write_query(read_question(f"?x ?a ?t | {PATTERN}")))
    found = list(ask_rdflib(asked, Project(folder).read_graphs()))[-1][1]
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (x, a, t), count in found.items():
        at = datetime.fromtimestamp(int(t) // 600 * 600, UTC)
        texts[x, at.isoformat()[:16]].extend([a] * count)
    return texts


@pytest.mark.parametrize(
    ("call", "between", "once"),
    [
        ("GROUP_CONCAT(?a)", " ", False),
        ('GROUP_CONCAT(?a ; separator=", ")', ", ", False),
        ('GROUP_CONCAT(DISTINCT ?a ; separator="|")', "|", True),
    ],
)
def test_lists_are_rdflibs(call: str, between: str, once: bool, tmp_path: Path) -> None:
    found = {
        (x, h[:16].replace(" ", "T")): v for (x, h), v in _replay(tmp_path, call, "?x").items()
    }
    wanted = _expect(tmp_path)
    assert found
    for key, text in found.items():
        texts = sorted(set(wanted[key]) if once else wanted[key])
        assert text == between.join(texts)


def test_lists_of_windows_are_rdflibs_at_every_change(tmp_path: Path) -> None:
    asked = read_question(f"?x ?a ?t | {PATTERN}")
    write_case(Case((STREAM, RELATION), MAPS, asked, ROWS), tmp_path)
    window = f'{PATTERN} FILTER(?t > NOW() - "PT10M"^^xsd:dayTimeDuration)'
    text = write_query(asked).replace(PATTERN, window)
    text = text.replace("SELECT ?x ?a ?t", 'SELECT ?x (GROUP_CONCAT(?a ; separator="|") AS ?l)')
    (tmp_path / "q.rq").write_text(f"{text}\nGROUP BY ?x", encoding="utf-8")
    rows = ontoweir.open_project(tmp_path).replay("q").to_arrow().to_pylist()
    asked_rdflib = translate_query(write_query(asked))
    found = list(ask_rdflib(asked_rdflib, Project(tmp_path).read_graphs()))[-1][1]
    held: dict[str, str] = {}
    assert rows
    for place, row in enumerate(rows):
        if row["op"] == "+":
            held[row["x"]] = row["l"]
        elif held.get(row["x"]) == row["l"]:
            del held[row["x"]]
        if place + 1 < len(rows) and rows[place + 1]["at"] == row["at"]:
            continue
        now = row["at"].replace(tzinfo=UTC).timestamp()
        texts: dict[str, list[str]] = defaultdict(list)
        for (x, a, t), count in found.items():
            if now - 600 < int(t) <= now:
                texts[x].extend([a] * count)
        assert held == {x: "|".join(sorted(mine)) for x, mine in texts.items()}


def test_a_list_without_a_bucket_is_refused(tmp_path: Path) -> None:
    asked = read_question(f"?x (GROUP_CONCAT(?a) AS ?l) | {PATTERN} | ?x")
    write_case(Case((STREAM, RELATION), MAPS, asked, ROWS), tmp_path)
    (tmp_path / "q.rq").write_text(write_query(asked), encoding="utf-8")
    with pytest.raises(QueryError, match="without a bucket of time"):
        ontoweir.open_project(tmp_path).replay("q")
