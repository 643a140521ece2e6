"""A query that fails alike over many tables: the first reasons, and how many more."""

import json
from pathlib import Path

import pytest

from ontoweir.checker.decide import check_query
from tests.ontoweir.conftest import Run


@pytest.mark.parametrize("count", [4, 12])
def test_reasons_of_many_tables(run: Run, tmp_path: Path, count: int) -> None:
    toml = ['[project]\nontology = ["o.ttl"]\nmappings = ["m.ttl"]\nqueries = ["q.rq"]']
    maps = ["@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@base <http://x/> ."]
    for n in range(count):
        toml.append(
            f'[streams.s{n}]\nsource = {{ format = "csv", path = "s{n}.csv" }}\n'
            'timestamp = { column = "ts", unit = "1 second" }\nmax_per_timestamp = 1\n'
            'keys = [["ts"]]\ncolumns = { v = "int", k = { type = "int", min = 0, max = 1 } }'
        )
        maps.append(
            f'<S{n}> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "s{n}" ] ; rr:subjectMap '
            f'[ rr:template "http://x/s{n}/{{ts}}/{{v}}" ] ; rr:predicateObjectMap [ rr:predicate '
            f'<p> ; rr:objectMap [ rr:column "v" ] ], [ rr:predicate <of> ; rr:objectMap '
            f'[ rr:template "http://x/{{k}}/t{n}" ] ] .'
        )
    (tmp_path / "ontoweir.toml").write_text("\n".join(toml))
    (tmp_path / "m.ttl").write_text("\n".join(maps))
    (tmp_path / "o.ttl").write_text("")
    (tmp_path / "q.rq").write_text(
        "PREFIX : <http://x/>\n"
        "SELECT ?a { GRAPH ?s { ?a :p ?v ; :of ?t } GRAPH ?e { ?b :p ?w ; :of ?t } "
        "FILTER(?s < ?e && ?v < ?w) }"
    )
    few, every = (run("check", tmp_path, *more).out for more in ((), ("--verbose",)))
    found = every.count("\n  OW20")
    assert found == 3 * count
    if count == 4:
        assert few.count("\n  OW20") == found
    else:
        assert few.count("is compared with") < every.count("is compared with")
        assert f"so it is for {count - 3} more: <S3>, <S4>, <S5>, … (--verbose shows" in few


def write_fleet(tmp_path: Path, count: int, key: str, query: str) -> None:
    """A project of streams under one class, with keys of a type, and one query."""
    catalog = ['[project]\nontology = ["o.ttl"]\nmappings = ["m.ttl"]\nqueries = ["*.rq"]\n']
    terms = ["@prefix : <http://x/#> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"]
    maps = ["@prefix : <http://x/#> .\n@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@base <m/> .\n"]
    for n in range(count):
        catalog.append(
            f'[streams.s{n}]\nsource = {{ format = "csv", path = "s{n}.csv" }}\n'
            'timestamp = { column = "ts", unit = "1 second" }\nmax_per_timestamp = 4\n'
            'keys = [["k", "ts"]]\n'
            f'columns = {{ k = {key}, v = "double" }}\n'
        )
        terms.append(f":C{n} rdfs:subClassOf :Reading .\n")
        maps.append(
            f'<S{n}> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "s{n}" ] ; rr:subjectMap '
            f'[ rr:template "http://x/{n}/{{k}}/{{ts}}" ; rr:class :C{n} ] ; '
            'rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] , '
            '[ rr:predicate :k ; rr:objectMap [ rr:column "k" ] ] .\n'
        )
    (tmp_path / "ontoweir.toml").write_text("\n".join(catalog))
    (tmp_path / "o.ttl").write_text("".join(terms))
    (tmp_path / "m.ttl").write_text("".join(maps))
    (tmp_path / "q.rq").write_text(f"PREFIX : <http://x/#>\n{query}")


def test_columns_of_many_tables_that_one_value_is_made_from(run: Run, tmp_path: Path) -> None:
    count = 40
    query = (
        "SELECT ?k { GRAPH ?t { ?r a :Reading ; :k ?k ; :v ?v }\n"
        "  GRAPH ?u { ?q a :Reading ; :k ?k ; :v ?w } FILTER(?t < ?u && ?v < ?w) }\n"
    )
    write_fleet(tmp_path, count, '{ type = "int", min = 0, max = 3 }', query)
    few, every = (run("check", tmp_path, *more).out for more in ([], ["--verbose"]))
    assert "is made from several columns; each must be bounded" in few
    for text, tables in ((few, 3), (every, count)):
        assert text.count("^ no finite domain") == tables
        assert text.count("─ s0.v is a double: ") == text.count("─ s2.v is a double: ") == 2
        assert text.count(".v is a double: ") == 2 * tables
    assert few.count(f"so it is for {count - 3} more (--verbose shows them)") == 2
    assert "so it is for" not in every


def test_groups_of_the_latest_rows_do_not_try_all_pairs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    monkeypatch.setattr(check_query, "refute_standing", lambda *_, **__: tried.append(1))
    query = (
        "SELECT ?k (AVG(?v) AS ?m) { GRAPH ?t { ?r a :Reading ; :k ?k ; :v ?v }\n"
        "  FILTER NOT EXISTS { GRAPH ?u { ?q a :Reading ; :k ?k } FILTER(?u > ?t) } } GROUP BY ?k"
    )
    write_fleet(tmp_path, 12, '"string"', query)
    (verdict,) = json.loads(run("check", tmp_path, "--format", "json", "--cache", "off").out)
    assert verdict["verdict"] == "unbounded"
    assert not tried
    # nor has each of the streams the reasons of all
    assert {len(d["because"]) for d in verdict["disjuncts"]} == {1}
    said = {d["because"][0]["message"].partition(",")[0] for d in verdict["disjuncts"]}
    assert len(said) == 12
