"""Individuals that only axioms make, where a pattern is partly in GRAPH and partly outside, and in
groups whose aggregates do not depend on how often a match is found; and what is computed in windows
and in mappings: answers counted by hand."""

from collections import Counter
from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import make_job
from tests.runtime.in_process import replay_here
from tests.sparql_counts.case import Branch, Case, Map, Query, Row, Table
from tests.sparql_counts.write_case import write_case

ALARM = Table(
    "s",
    (("id", "int"), ("n", "int"), ("bed", "int"), ("a", "string")),
    stream=True,
    keys=(("id",),),
    ranges=(("n", 0, 9),),
)
MAPS = (
    Map(
        "s",
        'rr:template "http://e/{id}"',
        ("A",),
        (("n", 'rr:column "n"'), ("P", 'rr:template "http://e/bed/{bed}"')),
    ),
)
AXIOMS = (
    ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :P ; owl:someValuesFrom :B ] .",
    ":B rdfs:subClassOf :C , [ a owl:Restriction ; owl:onProperty :Q ; owl:someValuesFrom :D ] .",
)
ROWS: dict[str, tuple[Row, ...]] = {
    "s": ((0, 1, 5, 7, "y"), (0, 2, 6, None, "z"), (1, 3, 6, None, None), (2, 4, 7, 8, "Z"))
}
WINDOW = 'FILTER(?t > NOW() - "PT1H"^^xsd:dayTimeDuration)'
LONGER = 'FILTER(?u > NOW() - "PT2H"^^xsd:dayTimeDuration)'
"""Another window: what is in either comes and goes by itself."""
GROUPS = 'GROUP BY (ow:tumble(?t, "PT5M"^^xsd:dayTimeDuration) AS ?hour)'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # outside of GRAPH is what is known of the individual inside: Q is of B, which P leads to
        ("DISTINCT ?n { GRAPH ?t { ?x :n ?n ; :P ?y } ?y a :C }", {5: 1, 6: 1, 7: 1}),
        ("DISTINCT ?n { GRAPH ?t { ?x :n ?n ; :P ?y } ?y :Q ?z . ?z a :D }", {5: 1, 6: 1, 7: 1}),
        (
            "DISTINCT ?n { GRAPH ?t { ?x :n ?n } ?x :P ?y . GRAPH ?t { ?y a :B } }",
            {5: 1, 6: 1, 7: 1},
        ),
        # of different times nothing is one individual
        ("DISTINCT ?n { GRAPH ?t { ?x :n ?n ; :P ?y } GRAPH ?u { ?y a :C } FILTER(?u > ?t) }", {}),
        # but where they are one
        (
            "DISTINCT ?n { GRAPH ?t { ?x :n ?n ; :P ?y } GRAPH ?u { ?y a :C } FILTER(?u >= ?t) }",
            {5: 1, 6: 1, 7: 1},
        ),
        (
            (
                f"DISTINCT ?n {{ GRAPH ?t {{ ?x :n ?n ; :P ?y }} {WINDOW} GRAPH ?u {{ ?y a :C }} "
                f"{LONGER} }}"
            ),
            {5: 1, 6: 1, 7: 1},
        ),
        # what is computed of several rows is of all matches, too
        (
            (
                "DISTINCT ?n { GRAPH ?t { ?x :n ?v ; :P ?y . ?z :n ?w } GRAPH ?u { ?y a :C } "
                "FILTER(?u >= ?t && ?v < ?w) BIND(?v * 10 + ?w AS ?n) }"
            ),
            {56: 1},
        ),
        # each alarm has a bed, of which two are named
        (f"(COUNT(DISTINCT ?x) AS ?n) {{ GRAPH ?t {{ ?x :P ?y ; a :A }} {WINDOW} }}", {4: 1}),
        (f"(COUNT(DISTINCT ?y) AS ?n) {{ GRAPH ?t {{ ?x :P ?y ; a :A }} {WINDOW} }}", {2: 1}),
        (f"(COUNT(?x) AS ?n) {{ GRAPH ?t {{ ?x :P ?y ; a :A }} {WINDOW} }}", {2: 1}),
        (
            f"?hour (MAX(?v) AS ?n) {{ GRAPH ?t {{ ?x :P ?y ; :n ?v }} }} {GROUPS}",
            {6: 2, 7: 1},
        ),
        (
            f"?hour (SUM(?v) AS ?n) {{ GRAPH ?t {{ ?x :P ?y ; :n ?v }} }} {GROUPS}",
            {5: 1, 7: 1},
        ),
        # of what comes and goes by itself, too
        (
            (
                f"DISTINCT ?n {{ {{ GRAPH ?t {{ ?x :n ?n ; :P ?y }} {WINDOW} }} UNION "
                f"{{ GRAPH ?u {{ ?x :n ?n ; :P <http://e/bed/7> }} {LONGER} }} }}"
            ),
            {5: 1, 6: 1, 7: 1},
        ),
        (
            (
                f"DISTINCT ?n {{ GRAPH ?t {{ ?x :n ?n ; :P ?y }} {WINDOW} "
                f"FILTER NOT EXISTS {{ GRAPH ?u {{ ?x :n 9 }} {LONGER} }} }}"
            ),
            {5: 1, 6: 1, 7: 1},
        ),
        (
            (
                f"DISTINCT ?n {{ GRAPH ?t {{ ?x :n ?n }} {WINDOW} "
                f"FILTER NOT EXISTS {{ GRAPH ?u {{ ?x :P ?y }} {LONGER} }} }}"
            ),
            {},
        ),
        (
            (
                f"DISTINCT (?v * 2 AS ?n) {{ GRAPH ?t {{ ?x :n ?v ; :P ?y }} {WINDOW} "
                f"FILTER EXISTS {{ GRAPH ?u {{ ?x :P ?z }} {LONGER} }} }}"
            ),
            {10: 1, 12: 1, 14: 1},
        ),
        # but what is counted is in the data
        (
            (
                f"DISTINCT (COUNT(*) AS ?n) {{ GRAPH ?t {{ ?x :n ?v ; :P ?y }} {WINDOW} "
                f"FILTER EXISTS {{ GRAPH ?u {{ ?x :n ?z }} {LONGER} }} }}"
            ),
            {2: 1},
        ),
        (
            (
                f"DISTINCT ?n {{ GRAPH ?t {{ ?x :n ?v }} {WINDOW} {{ SELECT ?x (COUNT(*) AS ?n) "
                f"{{ GRAPH ?u {{ ?x :P ?y }} {LONGER} }} GROUP BY ?x }} }}"
            ),
            {1: 1},
        ),
    ],
)
def test_each_has_one(text: str, wanted: dict[int, int], tmp_path: Path) -> None:
    assert _replay(text, MAPS, tmp_path) == Counter(wanted)


def test_matches_in_a_window_are_counted_where_a_filter_computes(tmp_path: Path) -> None:
    """Nothing but COUNT(*) is selected, which reads no variable."""
    where = f"GRAPH ?t {{ ?x :n ?v FILTER(ABS(?v) > 5) }} {WINDOW}"
    assert _replay(f"(COUNT(*) AS ?n) {{ {where} }}", MAPS, tmp_path) == Counter([3])


def test_a_query_computes_what_a_mapping_does(tmp_path: Path) -> None:
    """SQL's UPPER and SPARQL's UCASE differ, and are two columns."""
    maps = (
        Map("s", 'rr:template "http://e/{id}"', (), (("v", 'rr:column "a"'), MAPS[0].objects[0])),
        Map(
            "SELECT id, UPPER(a) AS u FROM s",
            'rr:template "http://e/{id}"',
            (),
            (("v", 'rr:column "u"'),),
        ),
    )
    text = "DISTINCT ?n ?w ?t { GRAPH ?t { ?x :n ?n ; :v ?v } BIND(UCASE(?v) AS ?w) }"
    assert _replay(text, maps, tmp_path) == Counter([5, 6, 7])


def test_groups_of_a_time_are_final_beside_what_is_optional(tmp_path: Path) -> None:
    """As they are without it: they are bounded."""
    where = "GRAPH ?t { ?x :n ?v } OPTIONAL { GRAPH ?t { ?x :P ?y } }"
    text = f"?t (COUNT(*) AS ?n) (COUNT(?y) AS ?named) {{ {where} }} GROUP BY ?t"
    assert _replay(text, MAPS, tmp_path) == Counter([2, 1, 1])


def _replay(text: str, maps: tuple[Map, ...], tmp_path: Path) -> Counter[int]:
    """What ?n is in the answers that hold at the end."""
    asked = Query(("?n",), (Branch((), ("?x :n ?n",)),))
    write_case(Case((ALARM,), maps, asked, ROWS, AXIOMS), tmp_path)
    prefixes = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
    prefixes += "PREFIX ow: <urn:ontoweir:>\n"
    (tmp_path / "q.rq").write_text(f"{prefixes}SELECT {text}", encoding="utf-8")
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = workspace.compile("q")
    verdict = check_query(compiled.union, workspace.project.catalog, disprove=False)
    if not verdict.plans:
        return Counter()
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    with pytest.MonkeyPatch.context() as patch:
        rows, _ = replay_here(patch, job, tmp_path / "answers.parquet", ranges=1)
    found: Counter[int] = Counter()
    for row in rows:
        found[row["n"]] += (-1 if row.get("op") == "-" else 1) * row.get("multiplicity", 1)
    return +found
