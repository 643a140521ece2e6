"""What comes from the cache is what would be read, and is read again whenever anything differs."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from ontoweir.cache import open_cache as opening
from ontoweir.cache.open_cache import Cache
from ontoweir.errors import OntologyError, OntoweirError
from ontoweir.mappings.compile import load_mappings
from ontoweir.ontology.axioms import NamedClass
from ontoweir.pipeline.known import read_cached
from ontoweir.pipeline.known.known_inputs import Recalled, recall_inputs
from ontoweir.pipeline.known.read_cached import read_ontology_cached
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project

ONTOLOGY = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://e/o> a owl:Ontology ; owl:imports <http://e/a> , <http://e/b> .
:A rdfs:subClassOf :B , [ owl:onProperty :p ; owl:someValuesFrom :C ] . :C owl:disjointWith :A .
:p a owl:ObjectProperty , owl:TransitiveProperty , owl:ReflexiveProperty ; rdfs:subPropertyOf :q .
:v a owl:DatatypeProperty ; rdfs:range <http://www.w3.org/2001/XMLSchema#int> .
:a a :A ; :p :b ; :v 5 , "x"@en . :Reading a owl:Class .
"""
IMPORTED = "<http://e/C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/D> .\n"
CATALOG = (
    '<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">'
    '<uri name="http://e/b" uri="b.ttl"/></catalog>'
)
MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .
:M rr:logicalTable [ rr:sqlQuery '''
    SELECT id, v, ts, CASE WHEN v * 1.8 > 50 THEN ts END AS k, v / 2 AS h
    FROM s WHERE v > 1.5 AND id <> 7 AND (id % 2 = 0) = (v < 9)''' ] ;
  rr:subjectMap [ rr:template "http://e/{id}" ; rr:class :Readings ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] ;
  rr:predicateObjectMap [ rr:predicate :k ; rr:objectMap [ rr:column "k" ] ] ;
  rr:predicateObjectMap [ rr:predicate :h ; rr:objectMap [ rr:column "h" ] ] ;
  rr:predicateObjectMap [ rr:predicate :p ; rr:object <http://e/x> ] .
"""
PROJECT = """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = []
[project.imports]
"http://e/a" = "a.ttl"
[streams.s]
source = { format = "csv", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
id = "int"
v = { type = "decimal(5,2)", min = 0 }
"""
FILES = {"o.ttl": ONTOLOGY, "a.ttl": IMPORTED, "m.ttl": MAPPING, "ontoweir.toml": PROJECT}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was read, not taken from the cache."""
    done: list[str] = []

    def note(module: ModuleType, name: str) -> None:
        work: Callable[..., object] = vars(module)[name]

        def noted(*arguments: object, **options: object) -> object:
            done.append(name)
            return work(*arguments, **options)

        monkeypatch.setattr(module, name, noted)

    note(read_cached, "read_ontology")
    note(load_mappings, "load_mappings")
    return done


def read(project: Path, cache: Cache | None, *, strict: bool = False) -> object:
    """All that a workspace reads and says of it."""
    said: list[str] = []
    workspace = Workspace(load_project(project), strict, partial=True, on_warning=said.append)
    workspace.cache = cache
    try:
        tbox, mappings = workspace.tbox, workspace.mappings
    except OntoweirError as error:
        return str(error)
    below = tbox.subconcepts(NamedClass("http://e/B"))
    shown = repr((tbox.axioms, tbox.facts, sorted(below, key=repr)))
    return tbox, shown, mappings, repr(mappings), said


def test_the_second_time_nothing_is_read_and_all_is_the_same(
    project: Path, cache: Cache, reads: list[str]
) -> None:
    plain = read(project, None)
    first = read(project, cache)
    assert len(reads) == 4
    assert read(project, cache) == first == plain
    assert len(reads) == 4
    assert "outside OWL 2 QL" in str(plain)
    assert "no file for the import http://e/b" in str(plain)
    assert "did you mean http://e/Reading?" in str(plain)


def recall(project: Path, cache: Cache, *, strict: bool = False) -> Recalled | None:
    return recall_inputs(load_project(project), strict=strict, partial=True, cache=cache)


def test_what_is_read_of_is_known_without_reading(
    project: Path, cache: Cache, reads: list[str]
) -> None:
    assert recall(project, cache) is None
    said: list[str] = []
    workspace = Workspace(load_project(project), partial=True, on_warning=said.append, cache=cache)
    assert workspace.mappings.assertions
    known = recall(project, cache)
    assert known == Recalled(workspace.inputs, tuple(said))
    assert len(said) > 2
    assert len(reads) == 2
    assert recall(project, cache, strict=True) is None
    for name in ("sources", "warnings"):  # neither is enough by itself
        for file in cache.folder.glob(f"{name}-*"):
            whole = file.read_bytes()
            file.write_bytes(whole[:-9])
            assert recall(project, cache) is None
            file.write_bytes(whole)
    assert recall(project, cache) == known


BOTH = ["read_ontology", "load_mappings"]
CHANGES = {
    "the ontology": ("o.ttl", ONTOLOGY + ":X rdfs:subClassOf :A .\n", BOTH),
    "a line in it": ("o.ttl", "\n" + ONTOLOGY, BOTH),
    "an import": ("a.ttl", IMPORTED * 2 + "\n", BOTH),
    "a catalog that was not there": ("catalog-v001.xml", CATALOG, BOTH),
    "the mapping": ("m.ttl", "\n" + MAPPING, ["load_mappings"]),
    "a type": ("ontoweir.toml", PROJECT.replace("5,2", "6,3"), ["load_mappings"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_read_again(
    name: str, project: Path, cache: Cache, reads: list[str]
) -> None:
    file, text, again = CHANGES[name]
    read(project, cache)
    (project / "b.ttl").write_text(IMPORTED)
    (project / file).write_text(text)
    reads.clear()
    assert recall(project, cache) is None
    changed = read(project, cache)
    assert reads == again
    assert recall(project, cache) is not None
    assert changed == read(project, None)
    for other in {"ontoweir.toml", "m.ttl", "o.ttl", "a.ttl"} - {file}:
        assert (project / other).read_text() == FILES[other]


def test_a_file_that_vanishes_is_missed(project: Path, cache: Cache) -> None:
    (project / "b.ttl").write_text(IMPORTED)
    (project / "catalog-v001.xml").write_text(CATALOG)
    read(project, cache)
    (project / "b.ttl").unlink()
    assert recall(project, cache) is None
    assert "there is no file" in str(read(project, cache))


def test_errors_are_not_kept(project: Path, cache: Cache) -> None:
    read(project, cache)
    for _ in range(2):
        with pytest.raises(OntologyError, match="no file for the import"):
            read_ontology_cached([project / "o.ttl"], {}, strict=True, cache=cache)
    (project / "m.ttl").write_text(MAPPING.replace('"v"', '"w"'))
    first, second, plain = (read(project, c) for c in (cache, cache, None))
    assert recall(project, cache) is None
    told = []
    for one in (first, second, plain):  # errors are compared by what they say, sets as sets
        assert isinstance(one, tuple)
        told.append((*one[:2], *one[3:]))
    assert told[0] == told[1] == told[2]
    assert "MappingError" in str(plain)


def test_another_program_reads_again(
    project: Path, cache: Cache, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read(project, cache)
    monkeypatch.setattr(opening, "digest_program", lambda: "another")
    read(project, cache)
    assert len(reads) == 4


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    project: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = vars(read_cached)["read_ontology"]

    def meddle(*arguments: object, touch: Callable[[Path], None], **options: object) -> object:
        def change(path: Path) -> None:
            touch(path)
            (project / "o.ttl").write_text(ONTOLOGY.replace(":B ,", ":E ,"))

        return work(*arguments, touch=change, **options)

    with monkeypatch.context() as patched:
        patched.setattr(read_cached, "read_ontology", meddle)
        assert "http://e/E" in str(read(project, cache))
    (project / "o.ttl").write_text(ONTOLOGY)
    assert read(project, cache) == read(project, None)


def test_a_damaged_cache_is_written_again(project: Path, cache: Cache, reads: list[str]) -> None:
    plain = read(project, cache)
    for file in cache.folder.iterdir():
        file.write_bytes(file.read_bytes()[:-9])
    assert read(project, cache) == plain
    assert len(reads) == 4
    assert read(project, cache) == plain
    assert len(reads) == 4


@pytest.mark.shared
def test_every_ontology_of_the_suites_comes_back(shared: Path, cache: Cache) -> None:
    files = sorted((shared / "suites").rglob("*.owl"))
    assert len(files) > 5
    for file in files:
        first, _ = read_ontology_cached([file], {}, strict=False, cache=cache)
        assert read_ontology_cached([file], {}, strict=False, cache=cache)[0] == first
