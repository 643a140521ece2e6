"""Small files that say much are refused at once, and files with entities for prefixes are read."""

from pathlib import Path

import pytest
from rdflib import Literal

from ontoweir.errors import OntologyError
from ontoweir.ontology.syntax.check_expansion import check_expansion
from ontoweir.ontology.syntax.read_triples import read_triples

ROOT = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:e="http://e/">'
)


def _laughs(first: str, levels: int = 9) -> str:
    made = [f'<!ENTITY b0 "{first}">']
    made += [f'<!ENTITY b{n + 1} "{f"&b{n};" * 10}">' for n in range(levels)]
    return f'<?xml version="1.0"?><!DOCTYPE x [{"".join(made)}]>'


def _thing(inner: str, about: str = "http://e/a") -> str:
    return f'{ROOT}<rdf:Description rdf:about="{about}">{inner}</rdf:Description></rdf:RDF>'


HOSTILE = {
    "text": _laughs("ha ha ha ha ha ha") + _thing("<e:p>&b9;</e:p>"),
    "XML literal": _laughs("ha") + _thing('<e:p rdf:parseType="Literal">&b9;</e:p>'),
    "attribute": _laughs("ha ha ha ha ha ha") + _thing("", about="http://e/&b9;"),
    "elements": _laughs("<e:p>1</e:p>") + _thing("&b9;"),
    "nothing": _laughs("") + _thing("<e:p>&b9;</e:p>"),
    "one, often": f'<!DOCTYPE x [<!ENTITY b "{"h" * 100_000}">]>'
    + _thing("<e:p>&b;</e:p>" * 1_000),
    "OWL/XML": _laughs("ha ha ha ha ha ha").replace("DOCTYPE x", "DOCTYPE Ontology")
    + '<Ontology xmlns="http://www.w3.org/2002/07/owl#"><Annotation><Literal>&b9;</Literal>'
    "</Annotation></Ontology>",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", HOSTILE)
def test_what_makes_much_of_little_is_refused(name: str, encoding: str, tmp_path: Path) -> None:
    data = HOSTILE[name].encode(encoding)
    with pytest.raises(OntologyError, match="many times as long") as caught:
        check_expansion(data, "o.owl")
    assert caught.value.source is not None
    assert caught.value.source.line == 1
    if encoding == "utf-8":
        file = tmp_path / "o.owl"
        file.write_bytes(data)
        with pytest.raises(OntologyError, match="many times as long"):
            read_triples(file)


def test_prefixes_and_small_jokes_are_read(tmp_path: Path) -> None:
    file = tmp_path / "o.owl"
    prefix = '<!DOCTYPE rdf:RDF [<!ENTITY e "http://e/"><!ENTITY owl "http://www.w3.org/owl#">]>'
    classes = "".join(f'<owl:Class rdf:about="&e;C{n}"/>' for n in range(3_000))
    file.write_text(f"{prefix}{ROOT}{classes}</rdf:RDF>")
    assert len(read_triples(file).rows) == 3_000
    file.write_text(_laughs("ha", 3) + _thing("<e:p>&b3;</e:p>"))
    assert read_triples(file).rows[0][2] == Literal("ha" * 1_000)


def test_a_large_file_without_entities_is_not_counted() -> None:
    check_expansion(_thing("<e:p>x</e:p>").encode(), "o.owl")
    check_expansion(b"<a>", "o.owl")  # what is broken is its reader's
    check_expansion(b"\xff\xfe<", "o.owl")
    check_expansion(b'<?xml version="1.0" encoding="nonsense"?><a/>', "o.owl")
