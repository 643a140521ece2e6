"""pyoxigraph's triples are rdflib's, with lines: on every file at hand, and on what is odd."""

from pathlib import Path

import pytest
from rdflib import Graph
from rdflib.compare import isomorphic

from ontoweir.errors import OntoweirError
from ontoweir.ontology.load_ontology import OntologyReading, read_ontology
from ontoweir.ontology.syntax import read_triples as reading
from ontoweir.ontology.syntax.parse_rdf import parse_rdf
from tests.paths import ROOT

BASES = ("file:///dir/o.ttl", "http://ontoweir.invalid/base/")
TURTLE = [
    "<../x> <?q> <#f> .",
    "<> <a/./b> <//h/x> .",
    "<http://a/b/../c> <http://a/./d> <http://a/%7Ex> .",
    "@base <http://b/c/d> . <e> <../f> </g> . @base <x/y> . <z> <> <#> .",
    "BASE <http://b.example>\nPREFIX : <#>\n:a :b <c> .",
    "@prefix p: <ns/> . p:a p: p:b .",
    "PREFIX p: <http://e/> p:a%20b p:c\\,d p:e\\-f .",
    "@base <http://b/c?d#e> . <#x> <y> <?z> .",
    '<a> <b> 01, 1.0, 1.50, 1e3, 1E+03, true, "x"@en-us, "y"@en, 00.10 .',
    "_:a <b> _:c, [ <d> () ; <e> ( 1 _:a ) ] . [ <f> <g> ] .",
    '<a> <b> "\\u00e9\\n\\"", \'q\', """a"b\nc""" .',
    "<HTTP://E/a> <urn:x:y> <mailto:a@b> .",
    "<a b> <c> <d> .",
    "<urn:a> a <b> ; ; <c> <d> ; .",
    "@prefix : <http://e/> . :a.b :c :d. :x :y 1.",
    '<a> <b> "x"@en--ltr .',
    "<a> <b> <<( <c> <d> <e> )>> .",
    "<a> <b> <c> {| <d> <e> |} .",
    "@prefix : <http://e/#> . :a => :b .",
    "@prefix : <http://e/> . { :a :b :c } .",
    "<a> <b> ?x .",
    "<a> <b> <c>",
    '<a> <b> "a"@e .',
]
XML = [
    ("", '<C rdf:about="../x"><p rdf:resource="?q"/><p rdf:resource=""/></C>'),
    ('xml:base="http://b/c?d#e"', '<C rdf:ID="x"><p rdf:resource="?q"/></C>'),
    ("", '<C rdf:about="&f;x"><p xml:lang="en-us">lit &lt; x</p><p rdf:datatype="&e;d">5</p></C>'),
    ("", '<C rdf:nodeID="a"><p rdf:nodeID="b"/><p rdf:parseType="Resource"><q>1</q></p></C>'),
    ("", '<C rdf:about="x"><p rdf:parseType="Collection"><C rdf:about="y"/><C/></p></C>'),
    ("", '<C rdf:about="x"><p rdf:parseType="Literal"> a &amp; <e:b>t</e:b></p></C>'),
    ("", '<rdf:Bag rdf:about="x"><rdf:li>a</rdf:li><rdf:li rdf:resource="file:b"/></rdf:Bag>'),
    ("", '<C rdf:about="x"><p><D><q><E/></q></D></p></C><C rdf:about="é"/>'),
    ("", '<C rdf:ID="x"/><C rdf:ID="x"/>'),
    ("", '<C rdf:about="&undefined;x"/>'),
]
SUFFIXES = {".ttl", ".nt", ".owl", ".rdf"}


def document(attributes: str, body: str) -> bytes:
    entities = '<!ENTITY e "http://e/"> <!ENTITY f "&e;f#">'
    return (
        f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [{entities}]>\n<rdf:RDF xmlns="http://e/" '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/" '
        f"{attributes}>\n{body}\n</rdf:RDF>"
    ).encode()


def require_same(data: bytes, base: str, *, xml: bool) -> bool:
    """Whether pyoxigraph parses a document; if so, it makes the same graph as rdflib."""
    parsed = parse_rdf(data, base, xml=xml)
    if parsed is None:
        return False
    ours, theirs = Graph(), Graph()
    for s, p, o, _ in parsed.triples:
        ours.add((s, p, o))
    theirs.parse(data=data, format="xml" if xml else "turtle", publicID=base)
    assert isomorphic(ours, theirs)
    return True


@pytest.mark.parametrize("base", BASES)
def test_odd_turtle_is_read_as_by_rdflib(base: str) -> None:
    assert sum(require_same(text.encode(), base, xml=False) for text in TURTLE) >= 10


def test_odd_rdf_xml_is_read_as_by_rdflib() -> None:
    assert sum(require_same(document(*parts), BASES[0], xml=True) for parts in XML) >= 5


@pytest.mark.parametrize(
    "text", ["<a> <b> ?x .", '<a> <b> "x"@en--ltr .', "<a> <b> <c> {| <d> <e> |} ."]
)
def test_what_turtle_has_not_is_left_to_rdflib(text: str) -> None:
    assert parse_rdf(text.encode(), BASES[0], xml=False) is None


def test_every_triple_has_the_line_of_its_object() -> None:
    text = (
        "@prefix : <http://e/> .\n:a :b :c ,\n   :d ;\n  :e [ :f :g ;\n   :h ( 1\n 2 ) ] ;\n"
        '  :i """x\ny""" .\n\n# a comment\n:j :k "' + "l" * 5000 + '" .\n:m :n :o .'
    )
    parsed = parse_rdf(text.encode(), BASES[0], xml=False)
    assert parsed is not None
    triples = parsed.triples
    lines = {(str(s)[-1] if "e/" in str(s) else "_", str(p)[-1]): n for s, p, _, n in triples}
    assert lines["a", "b"] == 3  # of :c it is 2
    assert [n for _, p, _, n in triples if str(p).endswith("/b")] == [2, 3]
    assert (lines["_", "f"], lines["_", "h"], lines["a", "e"]) == (4, 5, 6)
    assert (lines["a", "i"], lines["j", "k"], lines["m", "n"]) == (8, 11, 12)


def files(root: Path) -> list[Path]:
    return sorted(f for f in root.rglob("*") if f.suffix in SUFFIXES and f.is_file())


def read(file: Path) -> OntologyReading | str:
    try:
        return read_ontology([file])
    except OntoweirError as error:
        return str(error)


def compare(roots: list[Path], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many files pyoxigraph reads; all mean the same, whoever parses them."""
    found = [f for root in roots for f in files(root)]
    fast = [read(f) for f in found]
    monkeypatch.setattr(reading, "parse_rdf", lambda *_, **__: None)
    count = 0
    for file, ours in zip(found, fast, strict=True):
        theirs = read(file)
        if isinstance(ours, str) or isinstance(theirs, str):
            assert ours == theirs
            continue
        assert without_places(ours) == without_places(theirs), file
        count += 1
    return count


def without_places(reading: OntologyReading) -> object:
    """What was read, in order, as text without lines: rdflib says where the next token is."""
    tbox = reading.tbox
    said = [
        (type(a).__name__, a.because.text, *(getattr(a, n) for n in a.__slots__ if n != "because"))
        for a in (*tbox.axioms, *tbox.facts)
    ]
    vocabulary = tbox.classes, tbox.object_properties, tbox.data_properties
    return said, vocabulary, [(x.axiom, x.rule) for x in reading.left_out]


def test_every_ontology_of_the_repository_is_read_as_by_rdflib(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert compare([ROOT / "examples", ROOT / "tests"], monkeypatch) >= 4


@pytest.mark.shared
def test_every_ontology_of_the_suites_is_read_as_by_rdflib(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compare([shared / "suites"], monkeypatch) >= 100
