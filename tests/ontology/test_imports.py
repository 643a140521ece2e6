"""owl:imports leads to local files, each read once, and never to a network."""

import socket
from pathlib import Path

import pytest

from ontoweir.errors import OntologyError
from ontoweir.ontology.load_ontology import OntologyReading, read_ontology
from ontoweir.ontology.tbox import NamedClass

TURTLE = """@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
CATALOG = """<?xml version="1.0"?>
<catalog prefer="public" xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
%s
</catalog>
"""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a socket fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a network access")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def write(folder: Path, name: str, body: str, *, iri: str = "", imports: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    header = f"<{iri}> a owl:Ontology .\n" if iri else "\n"
    wanted = f"<{iri or 'http://e/top'}> owl:imports <{imports}> .\n" if imports else "\n"
    path.write_text(TURTLE + header + wanted + body)
    return path


def read(
    *paths: Path, imports: dict[str, Path] | None = None, strict: bool = False
) -> tuple[OntologyReading, list[str]]:
    warnings: list[str] = []
    made = read_ontology(paths, imports=imports or {}, strict=strict)
    made.warn(warnings.append)
    return made, warnings


def names(reading: OntologyReading) -> list[str]:
    return [Path(f.file).name for f in reading.files]


def below_b(reading: OntologyReading) -> bool:
    found = reading.tbox.subconcepts(NamedClass("http://e/B"))
    return NamedClass("http://e/A") in dict(found)


AXIOM = ":A rdfs:subClassOf :B ."


def test_a_file_that_is_read_anyway_is_found_by_its_iri(tmp_path: Path) -> None:
    top = write(tmp_path, "top.ttl", "", imports="http://e/units")
    units = write(tmp_path, "units.ttl", AXIOM, iri="http://e/units")
    made, warnings = read(top, units)
    assert warnings == []
    assert names(made) == ["top.ttl", "units.ttl"]


def test_and_by_its_version(tmp_path: Path) -> None:
    top = write(tmp_path, "top.ttl", "", imports="http://e/units/2")
    version = "<http://e/units> owl:versionIRI <http://e/units/2> ."
    units = write(tmp_path, "units.ttl", version, iri="http://e/units")
    assert read(top, units)[1] == []


def test_the_project_names_a_file(tmp_path: Path) -> None:
    top = write(tmp_path, "top.ttl", "", imports="http://e/units")
    units = write(tmp_path, "u.ttl", AXIOM)
    made, warnings = read(top, imports={"http://e/units": units})
    assert warnings == []
    assert below_b(made)
    assert made.files[1].imported_by is not None
    assert str(made.files[1].imported_by) == f"{top}:5"


@pytest.mark.parametrize(
    "entry",
    [
        '<uri name="http://e/units" uri="u.ttl"/>',
        '<group xml:base="sub/"><uri name="http://e/units" uri="../u.ttl"/></group>',
        '<uri id="x" name="duplicate:http://e/units" uri="./u.ttl"/>',
        '<uri name="http://e/units" uri="u.ttl"/><uri name="http://e/units" uri="none.ttl"/>',
        '<public publicId="x" uri="y"/><uri name="http://e/units" uri="u%2Ettl"/>',
    ],
)
def test_a_catalog_beside_the_file(tmp_path: Path, entry: str) -> None:
    top = write(tmp_path, "top.ttl", "", imports="http://e/units")
    write(tmp_path, "u.ttl", AXIOM)
    (tmp_path / "catalog-v001.xml").write_text(CATALOG % entry)
    made, warnings = read(top)
    assert warnings == []
    assert below_b(made)


def test_the_project_comes_before_the_catalog(tmp_path: Path) -> None:
    top = write(tmp_path, "top.ttl", "", imports="http://e/units")
    first, _ = write(tmp_path, "first.ttl", AXIOM), write(tmp_path, "second.ttl", "")
    entry = '<uri name="http://e/units" uri="second.ttl"/>'
    (tmp_path / "catalog-v001.xml").write_text(CATALOG % entry)
    assert names(read(top, imports={"http://e/units": first})[0]) == ["top.ttl", "first.ttl"]
    assert names(read(top)[0]) == ["top.ttl", "second.ttl"]


def test_a_relative_import_is_a_file(tmp_path: Path) -> None:
    top = write(tmp_path, "top.ttl", "", imports="sub/u.ttl")
    write(tmp_path, "sub/u.ttl", AXIOM)
    made, warnings = read(top)
    assert warnings == []
    assert below_b(made)


def test_imports_are_transitive_and_may_be_cyclic(tmp_path: Path) -> None:
    a = write(tmp_path, "a.ttl", ":A rdfs:subClassOf :M .", iri="http://e/a", imports="b.ttl")
    write(tmp_path, "b.ttl", "", iri="http://e/b", imports="c.ttl")
    write(tmp_path, "c.ttl", ":M rdfs:subClassOf :B .", iri="http://e/c", imports="http://e/a")
    made, warnings = read(a)
    assert warnings == []
    assert names(made) == ["a.ttl", "b.ttl", "c.ttl"]
    assert below_b(made)


FORMATS = {
    "u.nt": "<http://e/A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/B> .\n"
    "<http://e/u> <http://www.w3.org/2002/07/owl#imports> <http://e/top> .\n",
    "u.ofn": "Prefix(:=<http://e/>)\nOntology(<http://e/u> Import(<http://e/top>)\n"
    "SubClassOf(:A :B))",
    "u.owx": '<?xml version="1.0"?><Ontology xmlns="http://www.w3.org/2002/07/owl#" '
    'ontologyIRI="http://e/u"><Import>http://e/top</Import>'
    '<SubClassOf><Class IRI="/A"/><Class IRI="http://e/B"/></SubClassOf></Ontology>',
    "u.owl": '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    ' xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"'
    ' xmlns:owl="http://www.w3.org/2002/07/owl#"><owl:Ontology rdf:about="http://e/u">'
    '<owl:imports rdf:resource="http://e/top"/></owl:Ontology>'
    '<owl:Class rdf:about="http://e/A"><rdfs:subClassOf rdf:resource="http://e/B"/></owl:Class>'
    "</rdf:RDF>",
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_imports_and_is_imported(tmp_path: Path, name: str) -> None:
    top = write(tmp_path, "top.ttl", "", iri="http://e/top", imports=name)
    (tmp_path / name).write_text(FORMATS[name])
    for first in (top, tmp_path / name):
        made, warnings = read(first, imports={"http://e/top": top}, strict=True)
        assert warnings == []
        assert below_b(made)
        assert len(made.files) == 2


@pytest.mark.parametrize(
    ("target", "entry"),
    [
        ("http://e/units", ""),
        ("none.ttl", ""),
        ("http://e/units", '<uri name="http://e/units" uri="http://elsewhere/u.ttl"/>'),
        ("ftp://[/units", ""),
    ],
)
def test_what_is_not_here_is_a_warning(tmp_path: Path, target: str, entry: str) -> None:
    top = write(tmp_path, "top.ttl", AXIOM, imports=target)
    (tmp_path / "catalog-v001.xml").write_text(CATALOG % entry)
    made, warnings = read(top)
    assert below_b(made)
    assert len(warnings) == 1
    assert warnings[0].startswith(f"{top}:5: no file for the import ")
    assert "[project.imports]" in warnings[0]
    assert [x.source.line for x in made.left_out] == [5]
    with pytest.raises(OntologyError, match="no file for the import"):
        read(top, strict=True)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CATALOG % '<uri name="http://e/units"/>', 3),
        (CATALOG % '<nextCatalog catalog="http://e/c.xml"/>', 3),
        (CATALOG % '<uri name="http://e/units" uri="none.ttl"/>', 3),
        (CATALOG % '\n<uri name="http://e/units" uri="http://[/"/>', 4),
        (CATALOG % "</group>", 3),
        ("<html/>", 1),
        ("", 1),
    ],
)
def test_a_broken_catalog_is_an_error_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    top = write(tmp_path, "top.ttl", "", imports="http://e/units")
    file = tmp_path / "catalog-v001.xml"
    file.write_text(text)
    with pytest.raises(OntologyError) as caught:
        read(top)
    assert str(caught.value.source) == f"{file}:{line}"


def test_a_catalog_is_not_read_without_need(tmp_path: Path) -> None:
    (tmp_path / "catalog-v001.xml").write_text("no catalog")
    assert read(write(tmp_path, "top.ttl", AXIOM))[1] == []


ENTITIES = """<?xml version="1.0"?>
<!DOCTYPE x [ <!ENTITY secret SYSTEM "%s"> ]>
"""


@pytest.mark.parametrize("name", ["u.owx", "u.owl"])
def test_external_entities_are_not_read(tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("http://e/secret")
    for target in (secret.as_uri(), "http://e/secret.dtd"):
        text = FORMATS[name].replace('<?xml version="1.0"?>', ENTITIES % target)
        (tmp_path / name).write_text(text.replace("http://e/top", "&secret;"))
        try:
            made, warnings = read(tmp_path / name)
        except OntologyError:
            continue
        assert not any("e/secret" in w for w in warnings)
        assert names(made) == [name]
