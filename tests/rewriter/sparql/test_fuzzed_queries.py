"""Broken queries: each mutation of the example's is understood, or refused at a line."""

import random
import re
from functools import cache

import pytest

from ontoweir.errors import QueryError
from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials
from tests.paths import TRAFFIC

QUERIES = sorted((TRAFFIC / "queries").glob("*.rq"))
PIECES = (
    *"{}()<>\"'\\.;,|&!?:*+-/^#@",
    *("UNION", "FILTER", "OPTIONAL { ?x a :A }", "VALUES ?v { 1 -2.5 UNDEF }", "BIND(1 AS ?b)"),
    *("GRAPH ?t1 { }", "GRAPH", "IN (1, :a)", "NOT IN ()", "|| ?t1 < 3", "&& !(?t1 = ?t2)"),
    *('"x"^^xsd:integer', "'''", "é\u2028", "\x00", "1e400", "-0.0", "_:b", "[]", "()", "( 1 2 )"),
    *("SELECT", "DISTINCT", "*", "(COUNT(*) AS ?n)", "GROUP BY ?x", "LIMIT 1", "<", "<a b>", "?"),
    *("a", ":p/:q", "^:p|!:q", "<http://e/%zz>", "{ SELECT ?x { ?x a :A } }", "true", "2 * 3"),
    *('FILTER("P1Y"^^xsd:duration < ?t1)', "FILTER(?t1 < ?speed + 1e999)", "ORDER BY", "xsd:"),
)


LINES = (
    "OPTIONAL { ?x a :A }",
    "{ ?sensor a :A } UNION { ?fast a :B }",
    "VALUES ?sensor { :a 1 }",
    "VALUES (?fast ?jam) { (1 :a) (UNDEF 2) }",
    "BIND(1 AS ?speed)",
    "BIND(?x + 1 AS ?y)",
    "GRAPH ?t1 { }",
    "FILTER(?speed IN (1, :a) || ?t1 < 3)",
    "FILTER(!(?t1 = ?t2) && ?speed * 2 < 3)",
    "FILTER(!(?t1 < ?t2 || ?speed >= 3 && ?road = :a))",
    'FILTER("P1Y"^^xsd:duration < ?t1)',
    "?sensor (:p/^:q)|:r ?road .",
    "?sensor :p* ?road .",
    "?t1 :p ?t2 .",
    "MINUS { ?sensor a :A }",
    "{ SELECT ?x { ?x a :A } }",
)


def mutate(text: str, chance: random.Random) -> str:
    """A change that breaks the grammar, as a rule, or one that keeps to it."""
    return _break(text, chance) if chance.random() < 0.4 else _bend(text, chance)


def _bend(text: str, chance: random.Random) -> str:
    """A word for another of its kind, a line more or less."""
    lines = text.split("\n")
    inside = [i for i, line in enumerate(lines) if line.startswith("  ")]
    for _ in range(chance.randint(1, 2)):
        place = chance.choice(inside)
        match chance.randrange(4):
            case 0:
                lines[place] = ""
            case 1:
                lines[place] += "\n  " + chance.choice(LINES)
            case _:
                kind = chance.choice((r"\?\w+", r":\w+", r"[<>]=?|&&", r"\d+"))
                found = re.findall(kind, text) or ["?t1"]
                lines[place] = re.sub(kind, chance.choice(found), lines[place], count=1)
    return "\n".join(lines)


def _break(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(text)) if text else 0
        match chance.randrange(6):
            case 0:  # a piece put in
                text = f"{text[:place]} {chance.choice(PIECES)} {text[place:]}"
            case 1:  # a stretch left out
                text = text[:place] + text[place + chance.randint(1, 12) :]
            case 2:  # cut off
                text = text[: max(place, 1)] if chance.random() < 0.3 else text[place // 4 :]
            case 3:  # two words exchanged
                words = text.split(" ")
                i, j = chance.randrange(len(words)), chance.randrange(len(words))
                words[i], words[j] = words[j], words[i]
                text = " ".join(words)
            case 4:  # a word replaced
                words = text.split(" ")
                words[chance.randrange(len(words))] = chance.choice(PIECES)
                text = " ".join(words)
            case _:  # a line repeated
                lines = text.split("\n")
                lines.insert(chance.randrange(len(lines)), chance.choice(lines))
                text = "\n".join(lines)
    return text


@pytest.fixture(scope="module")
def tbox() -> TBox:
    return load_ontology([TRAFFIC / "traffic.ttl"], strict=False, warn=lambda _: None)


def check_error(error: QueryError, text: str) -> None:
    assert error.source is not None
    assert error.source.file == "q.rq"
    assert error.source.line is not None
    assert 1 <= error.source.line <= text.count("\n") + 1
    assert all((error.what, error.why, error.fix))
    assert "\n" not in str(error)


@cache
def parse_mutated(seed: int) -> tuple[str, tuple[ConjunctiveQuery, ...] | QueryError]:
    """A mutated query, and its branches or why it is refused."""
    chance = random.Random(seed)
    plain = chance.choice(QUERIES).read_text(encoding="utf-8")
    body = "\n".join(line for line in plain.split("\n") if not line.startswith("#"))
    text = mutate(body, chance)
    try:
        return text, parse_query(text, name="q", file="q.rq")
    except QueryError as error:
        return text, error


@pytest.mark.parametrize("seed", range(300))
def test_a_mutated_query_is_understood_or_refused_at_a_line(seed: int, tbox: TBox) -> None:
    text, found = parse_mutated(seed)
    if isinstance(found, QueryError):
        check_error(found, text)
        return
    for branch in found:
        assert rewrite_existentials(branch, tbox)


def test_the_mutations_are_not_all_of_one_kind() -> None:
    found: dict[str, int] = {}
    for seed in range(300):
        _, parsed = parse_mutated(seed)
        kind = "understood"
        if isinstance(parsed, QueryError):
            kind = "syntax" if "not SPARQL" in parsed.why else "language"
        found[kind] = found.get(kind, 0) + 1
    assert min(found.get(k, 0) for k in ("syntax", "language", "understood")) >= 20, found
