"""T-mappings: the hierarchy in the mappings, and nothing twice."""

from dataclasses import replace
from pathlib import Path

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import MappingAssertion, MappingSet, TemplateMap
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import Because, Exists, NamedClass, Role, SubConcept, SubRole, TBox
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import ClassAtom, ConjunctiveQuery, PropertyAtom, Variable
from ontoweir.rewriter.tmappings.compile_tmappings import compile_tmappings
from ontoweir.rewriter.unfold.unfold_query import unfold_query

TOML = """
[streams.a]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "5 minutes" }
keys = [["x", "ts"]]
references = [{ columns = ["x"], relation = "b", to = ["x"] }]
[streams.a.columns]
x = "int"
y = { type = "int", min = 0, max = 9 }
k = { type = "string", enum = ["p", "q"] }
[relations.b]
source = { format = "csv", path = "b" }
keys = [["x"]]
columns = { x = "int", z = "double" }
"""
HEAD = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://ex.org/> .
"""
EX = "http://ex.org/"


def triples_map(name: str, table: str, template: str, *more: str) -> str:
    logical = f'rr:sqlQuery "{table}"' if " " in table else f'rr:tableName "{table}"'
    return (
        f"<#{name}> rr:logicalTable [ {logical} ] ;\n  rr:subjectMap [ rr:template "
        f'"http://ex.org/{template}" ]' + "".join(f" ;\n  {m}" for m in more) + " .\n"
    )


def cls(name: str) -> str:
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    return f"rr:predicateObjectMap [ rr:predicate {rdf_type} ; rr:object :{name} ]"


def prop(name: str, template: str) -> str:
    return (
        f"rr:predicateObjectMap [ rr:predicate :{name} ; "
        f'rr:objectMap [ rr:template "http://ex.org/{template}" ] ]'
    )


def value(name: str, column: str) -> str:
    return f'rr:predicateObjectMap [ rr:predicate :{name} ; rr:objectMap [ rr:column "{column}" ] ]'


def load(folder: Path, *maps: str) -> tuple[Catalog, MappingSet]:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(HEAD + "".join(maps))
    catalog = load_project(folder, environ={}).catalog
    return catalog, load_mappings([folder / "m.ttl"], catalog)


def why(text: str) -> Because:
    return Because(text)


TBOX = TBox(
    axioms=(
        SubConcept(NamedClass(EX + "Sub"), NamedClass(EX + "C"), why("Sub<C")),
        SubConcept(Exists(Role(EX + "p")), NamedClass(EX + "C"), why("dom p")),
        SubConcept(Exists(Role(EX + "p", True)), NamedClass(EX + "D"), why("ran p")),
        SubRole(Role(EX + "p"), Role(EX + "super"), why("p<super")),
        SubRole(Role(EX + "p"), Role(EX + "inv", True), why("p<inv-")),
    )
)


def of_class(folder: Path, name: str, *maps: str) -> tuple[MappingAssertion, ...]:
    catalog, mappings = load(folder, *maps)
    return compile_tmappings(mappings, TBOX, catalog, predicates=[EX + name]).classes_of(EX + name)


def test_direct_and_by_domain_is_one(tmp_path: Path) -> None:
    found = of_class(tmp_path, "C", triples_map("M", "a", "r/{x}", cls("C"), prop("p", "s/{x}")))
    assert [a.because for a in found] == [()]


def test_domain_not_contained_is_two(tmp_path: Path) -> None:
    # y may be NULL in the property's rows only: p's rows are contained in C's, not C's in p's.
    only_p = triples_map("M", "a", "r/{x}", prop("p", "s/{y}"))
    (assertion,) = of_class(tmp_path, "C", only_p)
    assert [b.text for b in assertion.because] == ["dom p"]
    other = triples_map("N", "b", "q/{x}", cls("C"))
    assert len(of_class(tmp_path, "C", only_p, other)) == 2


def test_more_conditions_are_contained(tmp_path: Path) -> None:
    weak = triples_map("W", "a", "r/{x}", cls("C"))
    strong = triples_map("S", "SELECT x FROM a WHERE y > 3", "r/{x}", cls("Sub"))
    for maps in ((weak, strong), (strong, weak)):
        assert [a.id for a in of_class(tmp_path, "C", *maps)] == ["<#W>"]
    stronger = triples_map("T", "SELECT x FROM a WHERE y >= 5", "r/{x}", cls("Sub"))
    assert [a.id for a in of_class(tmp_path, "C", stronger, strong)] == ["<#S>"]
    other = triples_map("O", "SELECT x FROM a WHERE y < 9", "r/{x}", cls("Sub"))
    assert len(of_class(tmp_path, "C", other, strong)) == 2


def test_foreign_key_contains_a_stream_in_a_relation(tmp_path: Path) -> None:
    stream = triples_map("A", "a", "s/{x}", cls("Sub"))
    static = triples_map("B", "b", "s/{x}", cls("C"))
    assert [a.id for a in of_class(tmp_path, "C", stream, static)] == ["<#B>"]
    # y references nothing
    other = triples_map("A", "a", "s/{y}", cls("Sub"))
    assert len(of_class(tmp_path, "C", other, static)) == 2


def test_range_takes_iris_only(tmp_path: Path) -> None:
    (assertion,) = of_class(tmp_path, "D", triples_map("M", "a", "r/{x}", prop("p", "s/{y}")))
    assert isinstance(assertion.subject, TemplateMap)
    assert assertion.subject.parts[0] == EX + "s/"
    assert of_class(tmp_path, "D", triples_map("M", "a", "r/{x}", value("p", "y"))) == ()


def test_subroles_and_inverses(tmp_path: Path) -> None:
    catalog, mappings = load(tmp_path, triples_map("M", "a", "r/{x}", prop("p", "s/{y}")))
    compiled = compile_tmappings(mappings, TBOX, catalog)
    (up,) = compiled.properties_of(EX + "super")
    (turned,) = compiled.properties_of(EX + "inv")
    assert (up.subject, up.object) == (turned.object, turned.subject)
    assert compile_tmappings(compiled, TBOX, catalog) is compiled


X, Y, T = Variable("x"), Variable("y"), Variable("t")


def unfold(folder: Path, ucq: list[ConjunctiveQuery], *maps: str) -> int:
    catalog, mappings = load(folder, *maps)
    return len(unfold_query(ucq, mappings, catalog, TBOX).disjuncts)


@pytest.mark.parametrize(("distinct", "count"), [(False, 1), (True, 1)])
def test_duplicates_made_by_axioms_are_one(distinct: bool, count: int, tmp_path: Path) -> None:
    maps = triples_map("M", "a", "r/{x}", cls("C"), prop("p", "s/{x}"))
    direct = ConjunctiveQuery("q", (X,), (ClassAtom(EX + "C", X, T),), (), distinct)
    by_axiom = ConjunctiveQuery(
        "q", (X,), (PropertyAtom(EX + "p", X, Y, T),), (), distinct, axioms=(("dom p", None),)
    )
    assert unfold(tmp_path, [direct, by_axiom], maps) == count


@pytest.mark.parametrize(("distinct", "count"), [(False, 2), (True, 1)])
def test_equal_branches_of_the_user_count_twice(distinct: bool, count: int, tmp_path: Path) -> None:
    branch = [
        ConjunctiveQuery("q", (X,), (ClassAtom(EX + "C", X, T),), (), distinct) for _ in range(2)
    ]
    maps = triples_map("M", "a", "r/{x}", cls("C"))
    assert unfold(tmp_path, branch, maps) == count


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("y > 9", 0),
        ("y >= 9", 1),
        ("y < 0", 0),
        ("k = 'r'", 0),
        ("k = 'p'", 1),
        ("k <> 'p' AND k <> 'q'", 0),
        ("k <> 'p'", 1),
        ("y = 3 AND y = 4", 0),
        ("y = 3 AND y < 4", 1),
        ("y > 3 AND y < 3", 0),
    ],
)
def test_domains_prune(where: str, count: int, tmp_path: Path) -> None:
    query = ConjunctiveQuery("q", (X,), (ClassAtom(EX + "C", X, T),), (), False)
    maps = triples_map("M", f"SELECT x FROM a WHERE {where}", "r/{x}", cls("C"))
    assert unfold(tmp_path, [query], maps) == count


def test_what_always_holds_is_matched_by_static_rows_alone(tmp_path: Path) -> None:
    maps = triples_map("M", "a", "r/{x}", cls("C"))
    always = ConjunctiveQuery("q", (X,), (ClassAtom(EX + "C", X, always=True),), (), False)
    assert unfold(tmp_path, [always], maps) == 0


def test_what_has_held_is_matched_by_streams_too(tmp_path: Path) -> None:
    maps = triples_map("M", "a", "r/{x}", cls("C"))
    query = ConjunctiveQuery("q", (X,), (ClassAtom(EX + "C", X),), (), True)
    assert unfold(tmp_path, [query], maps) == 1
    with pytest.raises(QueryError, match="counted outside GRAPH"):
        unfold(tmp_path, [replace(query, distinct=False)], maps)
