"""Plain SPARQL is parsed into the tree that rdflib makes; what is not plain is left to rdflib."""

import random

import pytest
import rdflib

from ontoweir.errors import QueryError
from ontoweir.rewriter.parsing.parse_plain import parse_plain
from ontoweir.rewriter.parsing.parse_sparql import name_aggregates, parse_by_rdflib
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node
from tests.paths import TRAFFIC

_LEFT = ("MEDIAN", "SAMPLE")  # which parse_sparql has rdflib parse as others
FILES = sorted((TRAFFIC / "queries").glob("*.rq"))
TEXTS = [file.read_text(encoding="utf-8") for file in FILES]
QUERIES = [t for t in TEXTS if not any(word in t for word in _LEFT)]
HEAD = "BASE <http://b/> PREFIX : <http://x/> PREFIX x-1: <http://y/>\n"
PLAIN = (
    "SELECT * { ?x a :A, x-1:B ; :p 1 , 1.50 ;; x-1:q 0.5e3 ; . _:b1 :p <rel> . }",
    'SELECT REDUCED ?x FROM :g FROM NAMED <h> { ?x :p "a"@en-GB, \'b\', "1"^^x-1:int, true }',
    "SELECT ?x WHERE { ?x ^:p/(:q|a)/:r*|:s+|:t? ?y . ?y ?z 01 }",
    "SELECT ?x { { } UNION { ?x :p 1 } UNION { { ?x :q FALSE } } GRAPH ?t { ?x :p ?y } . }",
    "SELECT ?x { VALUES ?x { 1 :a UNDEF } VALUES (?y ?z) { (1 2) (:a 'b') } VALUES ?z { } }",
    'SELECT ?x { ?x :p ?y # note\n BIND(-1 + 2 AS ?z) BIND("c" AS ?w) } VALUES ?x { :a }',
    "SELECT ?x { FILTER(?x < 1 || !(?y >= -2 && ?x-1 = ?y * 3 / 4) && ?x NOT IN (1, :a)) }",
    "SELECT ?x (COUNT(*) AS ?n) (MAX(DISTINCT ?y + 1) AS ?m) { ?x :p ?y } GROUP BY ?x ?y",
    "SELECT * { ?x :p ?y OPTIONAL { ?x :q ?z FILTER(BOUND(?x)) } MINUS { ?x :r 1 } . ?z :s ?y }",
    "SELECT * { GRAPH ?t { ?x :p ?y } FILTER(?t > NOW() - 'PT1M'^^:d && :f(?x) = x-1:g (1, ?y)) }",
    "SELECT * { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z FILTER EXISTS { { ?z :r 1 } } } }",
    "SELECT (IF(EXISTS { ?x :p 1 }, COALESCE(?y, 1), !NOT EXISTS { }) AS ?v) { FILTER(NOW( ) = 1)}",
    "SELECT * { { SELECT ?x (SUM(?y) AS ?z) { ?x :p ?y } GROUP BY ?x HAVING (COUNT(*) > 1) } }",
    "SELECT * { SELECT DISTINCT * WHERE { ?x :p ?y } GROUP BY (?x+1 AS ?k) (?y) YEAR(?t) :f(?x) }",
    "SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING (?x > 1) (?y) STRENDS(?x, 'a') :f(1) VALUES ?y { }",
    "SELECT * { ?x :p ?y FILTER REGEX(?y, 'a') FILTER regex(?y, 'a', 'i') FILTER :f(?x) }",
    "SELECT * { BIND(SUBSTR(STR(?x), 1) AS ?a) BIND(SUBSTR(CONCAT(?x, 'a'), 1, 2) AS ?b) }",
    "SELECT * { FILTER(isiri(?x)&&SAMETERM(?x, REPLACE(?y, 'a', 'b')) || REPLACE(?x,'a','','')) }",
    "SELECT * { FILTER(LANG(?x) = 'a' && langMatches(LANG(?x), '*') && DATATYPE(?x) = :d) }",
    "SELECT * { { ?x :p 1 } OPTIONAL { SELECT ?x { ?x :q 2 } VALUES ?x { :a } } }",
    "SELECT * { ?x :p [ :q 1 ; :r ?y , [ a :B ; :s/:t [] ; ] ] ; ?z [ ] . [] :q 2 }",
    "SELECT * { [ :p ?x ; ] . [ :q -02 , [ :r _:b ] , _:b ; ] :s ?x . -1 :p 1 FILTER(-1 < 2) }",
    "SELECT * { VALUES ?x { -1 2 } { ?x :p [ ?y [ ?z 1 ] , 2 ] } UNION { [ :p 1 ] ^:q ?x } }",
    r"""SELECT $x { $x :p 'a\\b\n', "\"" FILTER REGEX(?x, '^a\\.b$') }""",
    "SELECT * { ?x :p ?y } ORDER BY ?x DESC(?y) asc(?x + 1) :f(?x) (?y) STR(?x) LIMIT 5 OFFSET 3",
    "SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING (?x > 1) ORDER BY DESC(COUNT(*)) OFFSET 3 LIMIT 07",
    "SELECT * { { SELECT * { ?x :p ?y } ORDER BY ?y LIMIT 1 VALUES ?x { 1 } } ?x :q 1 }",
    "ASK { ?x :p ?y }",
    "ASK FROM :g FROM NAMED :h WHERE { ?x :p ?y } GROUP BY ?x HAVING (COUNT(*) > 1) LIMIT 1",
    "CONSTRUCT { } WHERE { ?x :p ?y }",
    "CONSTRUCT { ?x a :A ; ?y [ :q 1 , ?z ; :r [] ] . [ a :B ] . _:b :s -1 } FROM :g { }",
    "CONSTRUCT { [] :p ?x . ?x <q> true } { ?x :p ?y } ORDER BY ?x LIMIT 3",
    "SELECT (GROUP_CONCAT(?y) AS ?a) (GROUP_CONCAT(DISTINCT ?y ; separator = ', ') AS ?b) { }",
)
LEFT_TO_RDFLIB = (
    "SELECT$x { $x :p 1 }",
    "CONSTRUCT WHERE { ?x :p ?y }",
    "CONSTRUCT { ?x :p/:q 1 } { ?x :p ?y }",
    "DESCRIBE ?x",
    "SELECT * { ?x :p - 1 }",
    "SELECT * { ?x :p -1.5 }",
    "SELECT * { ?x :p +1 }",
    "SELECT * { [ ] }",
    "SELECT * { ?x :p [ :q ] }",
    "SELECT * { ?x :p 'a\\u0041' }",
    r"SELECT * { ?x :p 'a\.b' }",
    r"SELECT * { ?x :a\-b 1 }",
    "SELECT * { ?x :p ?y } LIMIT 1 LIMIT 2",
    "SELECT * { ?x :p ?y } LIMIT 1.5",
    "SELECT * { ?x :p ?y } LIMIT ?x",
    "SELECT * { ?x :p ?y } LIMIT 1OFFSET 2",
    "SELECT * { ?x :p ?y } ORDER BY ASC ?x",
    "SELECT * { ?x :p ?y } ORDER BY COUNT(?x)",
    "SELECT * { ?x :p ?y } LIMIT 1 ORDER BY ?x",
    "SELECT (GROUP_CONCAT(?y ; SEPARATOR = ?z) AS ?z) { ?x :p ?y } GROUP BY ?x",
    "SELECT (COUNT(?y ; SEPARATOR = ',') AS ?z) { ?x :p ?y } GROUP BY ?x",
    "SELECT * { ?x :p ( 1 2 ) }",
    "SELECT * { ?x :p '''a''' }",
    "SELECT * { ?x :p ?y FILTER(BOUND(?x + 1)) }",
    "SELECT * { ?x :p ?y FILTER(:f()) }",
    "SELECT * { ?x :p ?y FILTER(:f(DISTINCT ?x)) }",
    "SELECT * { ?x :p ?y FILTER ?x > 1 }",
    "SELECT * { ?x :p ?y FILTER(IF(?x, 1)) }",
    "SELECT * { ?x :p ?y FILTER(STR(?x, 1) = 'a') }",
    "SELECT * { ?x :p ?y FILTER(NOW(1) = ?x) }",
    "SELECT * { ?x :p ?y FILTER COUNT(?x) }",
    "SELECT * { ?x :p ?y } GROUP BY COUNT(?x)",
    "SELECT * { ?x :p ?y } HAVING ?x",
    "SELECT * { ?x :p ?y } HAVING (?x) GROUP BY ?x",
    "SELECT * { OPTIONAL ?x :p ?y }",
    "SELECT * { ?z :p 1 SELECT ?x { ?x :p ?y } }",
    "SELECT * { { SELECT ?x FROM :g { ?x :p ?y } } }",
    "SELECT * { ?x !:p ?y }",
    "SELECT * { ?x :p ?y ",
    "SELECT * { ?x :p ?y . . }",
    "SELECT * { ?x :p?y }",
    "SELECT * { ?x :p 'a'@ en }",
    "SELECT * { ?x :p 'a'@en1 }",
    "SELECT (1AS ?x) { }",
    "SELECT * { ?x A :C }",
)
WORDS = "SELECT OPTIONAL FILTER HAVING GROUP BY AS EXISTS NOT STR( IF( NOW() BOUND MINUS"
TOKENS = ". ; , { } ( ) - + * / ^ | ! ? a A -5 1.5 1. 'x'@en 'x'^^:int '' [] () _:b $x ::"
PIECES = (
    *TOKENS.split(),
    *WORDS.split(),
    *("# note\n", "UNDEF", "NOT IN", "<", "<=", "COUNT(*)", "LIMIT 5", ":a*", ":a ?", ":a?x"),
    *("?a<?b&&?c>?d", "IN ( )", ":f(1)", ":%20", ":a.", "é:é", "[ :p 1 ]", "'a\tb'", '""'),
    *(
        "FILTER NOT EXISTS { }",
        "COALESCE(?x, 1)",
        "{ SELECT ?x { ?x :p 1 } }",
        "(?x AS ?y)",
        ":f(?x)",
    ),
    *("a:b.c", "'" * 4, "\x0c", "[", "]", "[ :q 1 ; ]", "-1", "- 1", "\\", r"'\n'", r"'\.'"),
    *("LIMIT 1", "OFFSET 2", "ORDER BY ?x", "DESC(?x)", "ASK", "CONSTRUCT { ?x :p [] }", "$x"),
)


def parse(text: str) -> tuple[object, object]:
    """What both parsers make of a text, to be compared; None where they make nothing."""
    tokens = Tokens(text)
    plain = parse_plain(tokens)
    try:
        whole = parse_by_rdflib(text, tokens, "q.rq")
    except QueryError:
        whole = None
    return plain and show_all(plain, text), whole and show_all(whole, text)


def show_all(parsed: tuple[object, ...], text: str) -> list[object]:
    """Trees of builtins: what two literals are made of is compared, not their values; nodes without
    a label are known by their order."""
    unlabelled: dict[rdflib.BNode, int] = {}

    def show(node: object) -> object:
        if isinstance(node, Node):
            return node.name, {key: show(part) for key, part in node.items()}
        if isinstance(node, list):
            return list(map(show, node))
        if isinstance(node, rdflib.Literal):
            return "literal", str(node), node.datatype, node.language
        if isinstance(node, rdflib.BNode) and f"_:{node}" not in text:
            return "node", unlabelled.setdefault(node, len(unlabelled))
        return type(node), str(node)

    return list(map(show, parsed))


@pytest.mark.parametrize("text", [*QUERIES, *(HEAD + text for text in PLAIN)])
def test_plain_queries_are_parsed_as_rdflib_does(text: str) -> None:
    plain, whole = parse(text)
    assert plain is not None
    assert plain == whole


@pytest.mark.parametrize("text", LEFT_TO_RDFLIB)
def test_what_is_not_plain_is_left_to_rdflib(text: str) -> None:
    assert parse_plain(Tokens(HEAD + text)) is None


@pytest.mark.parametrize("seed", range(30))
def test_what_is_taken_as_plain_is_what_rdflib_parses(seed: int) -> None:
    chance, taken = random.Random(seed), 0
    while taken < 8:
        text = mutate(HEAD + chance.choice(PLAIN), chance)
        if parse_plain(Tokens(text)) is not None:
            plain, whole = parse(text)
            assert plain == whole, text
            taken += 1


def mutate(text: str, chance: random.Random) -> str:
    """A text with tokens left out, put in, doubled and exchanged."""
    parts, last = list[str](), 0
    for token in Tokens(text).tokens:
        parts += (text[last : token.offset], token.text)
        last = token.offset + len(token.text)
    for _ in range(chance.choice((1, 1, 2, 3))):
        i, j = chance.randrange(len(parts)), chance.randrange(len(parts))
        match chance.randrange(5):
            case 0:
                parts[i] = ""
            case 1:
                parts[i] = chance.choice(PIECES)
            case 2:
                parts.insert(i, f" {chance.choice(PIECES)} ")
            case 3:
                parts[i] += parts[i]
            case _:
                parts[i], parts[j] = parts[j], parts[i]
    return "".join(parts) + text[last:]


@pytest.mark.parametrize("word", ["MEDIAN", "SAMPLE"])
def test_what_rdflib_is_given_as_others_is_parsed_as_these(word: str) -> None:
    text = f"{HEAD}SELECT ({word}(?y) AS ?z) {{ ?x :p ?y }} GROUP BY ?x"
    tokens = Tokens(text)
    plain = parse_plain(tokens)
    assert plain is not None
    whole = parse_by_rdflib(name_aggregates(text, tokens), tokens, "q.rq")
    assert show_all(plain, text) == show_all(whole, text)
