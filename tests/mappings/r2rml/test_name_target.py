"""What a target that is wrong could be about: never less than what was meant."""

import re
from pathlib import Path

import pytest

from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.r2rml.name_target import name_target
from ontoweir.mappings.r2rml.parse_obda_target import TargetRefusal, parse_obda_target
from ontoweir.project.project import load_project

E = "http://e/"
PREFIXES = {
    "": E,
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}


@pytest.mark.parametrize(
    ("target", "names"),
    [
        (":s/{id} a :C :p {x} .", "C p"),
        (":s/{id} a :C ; :p {x} ; :q", "C p q"),
        (":s/{id} a :C ; :D ; :p {x}", "C D p"),
        (":s/{id} :p {x} , :q {y}", "p q"),
        (":s/{id} :p [ :q {x} ; :r {y} ] .", "p q r"),
        (":s/{id} :p ( {x} 5 ) .", None),
        (":s/{id} :p {x}^^ :q :C .", "C p q"),
        (":s/{id} :p _:b ; :q {y}^^xsd:int", "p q http://www.w3.org/2001/XMLSchema#int"),
        ("GRAPH :g/{id} { :s/{id} a :S . } :t/{id} :r 6 ; . . .", "S r"),
    ],
)
def test_what_can_be_read_limits_it(target: str, names: str | None) -> None:
    found = name_target(target, PREFIXES)
    if names is None:
        assert found is None
        return
    assert found is not None
    assert found[0] == {n if ":" in n else E + n for n in names.split()}
    assert not found[1]


@pytest.mark.parametrize(
    "target",
    [
        "",
        "{x} .",
        ":s/{id} a Sensor .",
        ":s/{id} speed {x} ; a :C .",
        ':s/{id} :p "abc ; :q {x} .',
        ":s/{id} a :C/{x} ; :p 5 .",
        ":s/{id} a :C , :D/{x} ; [",
        ":s/{id} a {x} ; :p .",
        ":s/{id} rdf:type {x} ; :p .",
        ":s/{id} unknown:type {x} .",
        ":s/{id} :p/{x} 5 .",
        ":s/{id} a , :E ; :p 5 .",
        ":s/{id} a ; :p {x} .",
        ":s/{id} {x} :p .",
        ":c {x} {y} {z} .",
        ":s/{id} :p {x}^^:q/{y} .",
        ":s/{id} :p {x ; :q y} ; .",
        ":s/{id} <http://e/a b> {x} .",
        "<<:a :b :c>> :p 5 .",
    ],
)
def test_what_cannot_be_read_could_be_anything(target: str) -> None:
    assert name_target(target, PREFIXES) is None


def test_of_an_unknown_prefix_the_end_is_known() -> None:
    for target in (":s/{id} ex:p {x}", ":s/{id} a ex:p", ":s/{id} :q 5 ; <p> {x}"):
        found = name_target(target, PREFIXES)
        assert found is not None
        assert found[1] == {"p"}
    assert name_target("ex:s/{id} :p {x} .", PREFIXES) == (frozenset({E + "p"}), frozenset())


def _joins(place: int) -> bool:
    """Whether two words are one without what is between them."""
    return all(c.isalnum() or c == ":" for c in MEANT[place - 1 : place + 2 : 2])


MEANT = (
    ':s/{id} a :C , :D ; :p {x}^^xsd:int , "a {x}"@en ; rdf:type :F ; :q :o/{y} . '
    "GRAPH :g { :t/{id} :r 5 }"
)


def test_a_character_less_hides_no_property() -> None:
    """Every character is left out in turn, but those of the names themselves. What is triples no
    more could still be about all that was meant."""
    wrong = limited = 0
    names = [E + name for name in "CDFpqr"]
    for place, character in enumerate(MEANT):
        if character.isalpha() or (character == " " and _joins(place)):
            continue
        target = MEANT[:place] + MEANT[place + 1 :]
        try:
            parse_obda_target(target, PREFIXES)
        except TargetRefusal:
            wrong += 1
            found = name_target(target, PREFIXES)
            if found is not None:
                limited += 1
                missing = [iri for iri in names if iri not in found[0]]
                assert [iri for iri in missing if not iri.endswith(tuple(found[1]))] == [], target
    assert wrong > 20
    assert limited > 8


OBDA = """\
[PrefixDeclaration]
: http://e/

[MappingDeclaration] @collection [[
mappingId one
target :s/{id} a :C ;
  :p {id} .
source SELECT id
  FROM sensor

mappingId two
target :s/{id} :q {id} ; :r :o/{id} .
source SELECT id FROM sensor

mappingId three
target :s/{id} :u {id} .
source SELECT id FROM sensor
]]
"""


def _catalog(folder: Path) -> Catalog:
    (folder / "ontoweir.toml").write_text(
        '[project]\n[relations.sensor]\nsource = { format = "csv", path = "s.csv" }\n'
        'columns = { id = "int" }\n'
    )
    return load_project(folder, environ={}).catalog


@pytest.mark.parametrize("how", ["characters", "lines", "words"])
def test_nothing_of_a_file_is_lost_without_a_word(how: str, tmp_path: Path) -> None:
    """A part of a file is left out in turn: each class and property is mapped as before, or told
    of as one that a refused mapping could concern."""
    catalog, file = _catalog(tmp_path), tmp_path / "m.obda"

    def count(text: str) -> tuple[dict[str, int], list[str]]:
        file.write_text(text)
        found = load_mappings([file], catalog, partial=True)
        held = {E + n: 0 for n in "Cpqru"}
        for assertion in found.assertions:
            held[assertion.predicate] = held.get(assertion.predicate, 0) + 1
        concerned = [iri for iri in held if any(r.concerns(iri) for r in found.refused)]
        return held, concerned

    whole, none = count(OBDA)
    assert none == []
    hidden = limited = 0
    for first, last in _parts(OBDA, how):
        left_out = OBDA[first:last]
        if first < OBDA.index("@collection") or left_out in "Cpqru":
            continue  # other names are meant
        held, concerned = count(OBDA[:first] + OBDA[last:])
        for iri, number in whole.items():
            if held[iri] < number and iri not in concerned and f":{iri[-1]}" not in left_out:
                hidden += 1
        limited += 0 < len(concerned) < len(whole)
    assert hidden == 0
    assert limited > 2


def _parts(text: str, how: str) -> list[tuple[int, int]]:
    pattern = {"characters": r"(?s).", "lines": r"[^\n]+\n", "words": r"\S+"}[how]
    return [m.span() for m in re.finditer(pattern, text)]


@pytest.mark.parametrize(
    ("old", "new", "concerned"),
    [
        ("mappingId two", "mapingId two", "Cpqru"),  # it is taken for a part of the first
        ("mappingId two", "; mappingId two", "Cpqru"),
        ("target :s/{id} :q", "targt :s/{id} :q", "Cpqru"),
        ("{id} ; :r", "{id ; :r", "Cpqru"),
        (":r :o/{id}", ":r [ :o {id} ]", "qr"),
        (":r :o/{id}", ":r _:b", "qr"),
        (":r :o/{id}", "ex:r :o/{id}", "qr"),
        ("mappingId two", "mappingId one", "qr"),
        ("{id} ; :r :o/{id}", "{nope} ; :r :o/{id}", "qr"),
        ("{id} ; :r :o/{id}", "{id ; :r :o} ; :u 5", "Cpqru"),  # a column of that name?
    ],
)
def test_a_wrong_mapping_concerns_what_it_could_be_about(
    old: str, new: str, concerned: str, tmp_path: Path
) -> None:
    file = tmp_path / "m.obda"
    assert OBDA.count(old) == 1
    file.write_text(OBDA.replace(old, new))
    found = load_mappings([file], _catalog(tmp_path), partial=True)
    named = {n for n in "Cpqru" if any(r.concerns(E + n) for r in found.refused)}
    assert named == set(concerned)
    assert all(r.error.source is not None and r.error.source.line for r in found.refused)
    assert {r.id for r in found.refused} <= {"one", "two"}


def test_a_file_whose_only_mapping_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "m.obda"
    first = OBDA.index("mappingId two")
    file.write_text(OBDA[:first].replace(":p {id}", ":p") + "]]\n")
    (refused,) = load_mappings([file], _catalog(tmp_path), partial=True).refused
    assert refused.id == "one"
    assert refused.concerns(E + "p")
    assert not refused.concerns(E + "q")
