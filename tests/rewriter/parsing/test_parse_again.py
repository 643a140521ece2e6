"""A text that is parsed again is parsed anew, as far as anybody can see."""

from typing import Any

import pytest
from rdflib import BNode
from rdflib.plugins.sparql import parser

from ontoweir.errors import QueryError
from ontoweir.rewriter.parsing.parse_sparql import parse_by_rdflib
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node

TEXT = "SELECT ?s { ?s <p:again> [ <p:q> ?o ; <p:r> [] ] . _:b <p:q> ?o . ?o <p:s> _:b }"


def parse(text: str = TEXT) -> Node:
    return parse_by_rdflib(text, Tokens(text), "q.rq")[1]


def list_blank(tree: Any) -> list[BNode]:
    """Blank nodes, in order."""
    if isinstance(tree, dict):
        return [n for part in tree.values() for n in list_blank(part)]
    if isinstance(tree, list):
        return [n for part in tree for n in list_blank(part)]
    return [tree] if isinstance(tree, BNode) else []


def number(nodes: list[BNode]) -> list[int]:
    """The same nodes have the same number."""
    return [nodes.index(n) for n in nodes]


def test_its_blank_nodes_are_its_own() -> None:
    """Else parts with one text would be about the same things."""
    first, second = list_blank(parse()), list_blank(parse())
    assert number(first) == number(second)
    assert len(set(first)) > 1
    assert len(first) > len(set(first))
    assert {*first} & {*second} == {BNode("b")}


def test_what_is_changed_of_one_is_not_of_the_other() -> None:
    text = "SELECT ?s ?o { ?s <p:changed> ?o FILTER(?o > 1) }"
    first, whole = parse(text), repr(parse(text))
    first["where"].clear()
    first["projection"].clear()
    assert repr(parse(text)) == whole


def test_what_is_wrong_is_said_each_time() -> None:
    for _ in range(2):
        with pytest.raises(QueryError, match=r"syntax error at '\?s'"):
            parse("SELECT ?s { ?s <p:wrong> }")


def test_it_takes_its_time_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    by_rdflib = parser.parseQuery

    def count(text: str) -> Any:
        asked.append(text)
        return by_rdflib(text)

    monkeypatch.setattr(parser, "parseQuery", count)
    texts = [f"SELECT ?s {{ ?s <p:once> {n} }}" for n in (1, 2)]
    for text in (*texts, *texts):
        parse(text)
    assert asked == texts
