"""Parse SPARQL text, with located errors: plain SPARQL here, whatever else there is by rdflib."""

from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.parsing.parse_plain import parse_plain
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node

if TYPE_CHECKING:  # its grammar takes a tenth of a second to make
    from pyparsing import ParseBaseException

_ONE_AT_A_TIME = Lock()
"""pyparsing finds out on the first call how many arguments each parse action takes; two threads
that do so at once leave rdflib's grammar broken for the rest of the process."""


def parse_sparql(text: str, tokens: Tokens, file: str) -> tuple[list[Node], Node]:
    """The prologue and the query, in nodes of rdflib's grammar.

    MEDIAN is not in SPARQL 1.1: it is parsed as SAMPLE, and SAMPLE, which may be any of the values,
    as MIN: the same one in every run.

    Raises:
        QueryError: it is not SPARQL, or rdflib cannot read it.
    """
    standard = name_aggregates(text, tokens)
    return parse_plain(tokens) or parse_by_rdflib(standard, tokens, file)


def parse_by_rdflib(text: str, tokens: Tokens, file: str) -> tuple[list[Node], Node]:
    """As `parse_sparql`, all of SPARQL 1.1.

    Raises:
        QueryError: as there.
    """
    from pyparsing import ParseBaseException, ParseResults
    from rdflib import BNode
    from rdflib.plugins.sparql.parserutils import CompValue

    blank: dict[BNode, BNode] = {}

    def convert(node: Any) -> Any:
        """rdflib's nodes as ours; blank nodes without a label are others each time."""
        if isinstance(node, CompValue):
            return Node(node.name, **{key: convert(node[key]) for key in node})
        if isinstance(node, BNode) and f"_:{node}" not in text:
            return blank.setdefault(node, BNode())
        return list(map(convert, node)) if isinstance(node, list | ParseResults) else node

    try:
        with _ONE_AT_A_TIME:
            parsed = _parse(text)
        return convert(parsed[0]), convert(parsed[1])
    except ParseBaseException as error:
        raise _syntax_error(tokens, error, file) from None
    except RecursionError:
        raise QueryError(
            "the query is nested too deeply",
            why="the parser gives up",
            fix="remove superfluous parentheses and braces",
            source=Source(file, 1),
        ) from None
    except Exception as error:  # rdflib's parse actions raise whatever they like
        raise _unreadable(tokens, error, file) from None


@lru_cache(maxsize=64)
def _parse(text: str) -> Any:
    """What rdflib makes of a text, which is only read: a query is compiled in steps, and in parts
    that have texts in common."""
    from rdflib.plugins.sparql.parser import parseQuery

    return parseQuery(text)


_SAME_LENGTH = {"MEDIAN": "SAMPLE", "SAMPLE": "MIN   "}


def name_aggregates(text: str, tokens: Tokens) -> str:
    """The text with SAMPLE, a word of the same length, in the place of MEDIAN, and MIN in that of
    SAMPLE."""
    for word, parenthesis in pairwise(tokens.tokens):
        if word.kind != "word" or parenthesis.text != "(":
            continue
        if word.text.upper() in _SAME_LENGTH:
            end = word.offset + len(word.text)
            text = f"{text[: word.offset]}{_SAME_LENGTH[word.text.upper()]}{text[end:]}"
    return text


def _unreadable(tokens: Tokens, error: Exception, file: str) -> QueryError:
    """rdflib fails on negative decimals among triples and values, and on some literals."""
    if "Not a number" in str(error):
        for minus, number in pairwise(tokens.tokens):
            if minus.text == "-" and number.kind == "number" and not number.text.isdecimal():
                return QueryError(
                    f"the number -{number.text} cannot be read",
                    why="rdflib cannot parse negative decimal numbers outside FILTER",
                    fix=f'write "-{number.text}"^^<http://www.w3.org/2001/XMLSchema#decimal>',
                    source=Source(file, number.line),
                )
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return QueryError(
        "the query cannot be parsed",
        why=f"rdflib says {what}",
        fix="correct literals and IRIs that are not well-formed",
        source=Source(file, tokens.tokens[0].line if tokens.tokens else 1),
    )


def _syntax_error(tokens: Tokens, error: "ParseBaseException", file: str) -> QueryError:
    opened = [t for t in tokens.tokens if t.text in "{}"]
    depth = sum(1 if t.text == "{" else -1 for t in opened)
    if depth > 0:
        what, line = "a { is not closed", tokens.last_line
    elif not tokens.tokens:
        what, line = "the query is empty", 1
    else:
        token = tokens.at(error.loc)
        near = token.text if token is not None else ""
        what = f"syntax error at {near!r}"
        line = token.line if token is not None else tokens.last_line
    return QueryError(
        what,
        why="it is not SPARQL 1.1 from there on",
        fix="correct the text there or just before it",
        source=Source(file, line),
    )
