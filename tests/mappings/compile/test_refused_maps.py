"""A triples map that does not say what it is about could be about anything."""

from pathlib import Path

import pytest

from ontoweir.errors import MappingError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.project.project import load_project

CATALOG = (
    '[relations.sensor]\nsource = { format = "csv", path = "s.csv" }\ncolumns = { id = "int" }\n'
)
TURTLE = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://e/> .
<#Good> rr:logicalTable [ rr:tableName "sensor" ] ; rr:subjectMap [ rr:template "http://e/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:column "id" ] ] .
<#Bad> rr:logicalTable [ rr:tableName "sensor" ] ;
    rr:subjectMap [ rr:template "http://e/{id}" SUBJECT ] ;
    rr:predicateObjectMap [ PAIR ] .
"""
OBJECT = 'rr:objectMap [ rr:column "id" ]'


def _concerned(tmp_path: Path, subject: str, pair: str) -> bool:
    """Whether the bad triples map could be about a property that it does not name."""
    (tmp_path / "ontoweir.toml").write_text("[project]\n" + CATALOG)
    text = TURTLE.replace("SUBJECT", subject).replace("PAIR", pair)
    (tmp_path / "m.ttl").write_text(text)
    catalog = load_project(tmp_path, environ={}).catalog
    found = load_mappings([tmp_path / "m.ttl"], catalog, partial=True)
    assert [r.id for r in found.refused] == ["<#Bad>"]
    with pytest.raises(MappingError):
        found.require_all()
    return found.refused[0].concerns("http://e/p")


@pytest.mark.parametrize(
    ("subject", "pair"),
    [
        ("", f'rr:predicate "p" ; {OBJECT}'),
        ("", f"rr:predicate [] ; {OBJECT}"),
        ("", OBJECT),
        ("", 'rr:predicate rr:objectMap ; :p [ rr:column "id" ]'),
        ("", 'rr:predicate <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ; rr:object "C"'),
        ('; rr:class "C"', f"rr:predicate :q ; {OBJECT}"),
    ],
)
def test_what_is_not_said_could_be_anything(subject: str, pair: str, tmp_path: Path) -> None:
    assert _concerned(tmp_path, subject, pair)


@pytest.mark.parametrize(
    ("subject", "pair"),
    [
        ("", 'rr:predicate :q ; rr:objectMap [ rr:column "none" ]'),
        ("; rr:class :C", 'rr:predicate :q ; rr:objectMap [ rr:template "{" ]'),
        ("; rr:template 3", f"rr:predicate :q ; {OBJECT}"),
    ],
)
def test_what_is_said_limits_it(subject: str, pair: str, tmp_path: Path) -> None:
    assert not _concerned(tmp_path, subject, pair)


WHOLE = (
    TURTLE.replace(" SUBJECT", "; rr:class :C")
    .replace("PAIR", "rr:predicate :q ; rr:objectMap [ rr:parentTriplesMap <#Good> ]")
    .replace(":p ; rr:objectMap", ":p , :r ; rr:objectMap")
)


def test_a_mark_less_hides_no_property(tmp_path: Path) -> None:
    """Every mark and every third character is left out in turn: what is mapped no more is told of
    as what a refused triples map could concern."""
    (tmp_path / "ontoweir.toml").write_text("[project]\n" + CATALOG)
    catalog, file = load_project(tmp_path, environ={}).catalog, tmp_path / "m.ttl"
    names = ["http://e/" + n for n in "Cpqr"]
    limited = 0
    for place in range(WHOLE.index("<#Good>"), len(WHOLE)):
        if (WHOLE[place].isalnum() and place % 3) or WHOLE[place - 1 : place + 1] in (
            ":p",
            ":q",
            ":r",
            ":C",
        ):
            continue
        file.write_text(WHOLE[:place] + WHOLE[place + 1 :])
        found = load_mappings([file], catalog, partial=True)
        mapped = {a.predicate for a in found.assertions}
        concerned = {n for n in names if any(r.concerns(n) for r in found.refused)}
        assert set(names) <= mapped | concerned, WHOLE[place - 5 : place + 6]
        limited += 0 < len(concerned) < len(names)
    assert limited > 10
