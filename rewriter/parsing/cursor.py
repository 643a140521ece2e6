"""A cursor over the tokens of plain SPARQL, which reads words, operators and terms."""

import re
from typing import NoReturn

import rdflib
from rdflib.compat import decodeUnicodeEscape

from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens
from ontoweir.rewriter.syntax.node import Node

_PNAME = re.compile(
    r"([A-Za-z][A-Za-z0-9_-]*)?:((?:[A-Za-z0-9_:](?:[A-Za-z0-9_:.-]*[A-Za-z0-9_:-])?)?)"
)
_VARIABLE, _LABEL = re.compile(r"[?$][A-Za-z0-9_]+"), re.compile(r"_:[A-Za-z0-9_]+")
_IRI = re.compile(r"<[^\x00-\x20]*>")
_STRING = re.compile(r"\"(?:[^\"\t\r\n\\]|\\[\"ntbrf\\])*\"|'(?:[^'\t\r\n\\]|\\['ntbrf\\])*'")
_NUMBER = re.compile(r"([0-9]+)|([0-9]*\.[0-9]+)|(?:[0-9]*\.)?[0-9]+[eE][+-]?[0-9]+")
_LANGUAGE = re.compile(r"@([a-zA-Z]+(?:-[a-zA-Z0-9]+)*)")
_DEEPEST = 20
"""Groups and parentheses inside each other; rdflib gives up beyond some number."""


class NotPlainError(Exception):
    """This is not in the grammar here."""


_END = SparqlToken("end", "", 0, 0)


class Cursor:
    """Where in the tokens a parser is. `read_…` takes what it names and moves behind it."""

    def __init__(self, tokens: Tokens) -> None:
        self.text = tokens.text
        self.tokens = (*tokens.tokens, _END, _END)
        self.at = self.depth = 0

    # ---- tokens ----

    @property
    def token(self) -> SparqlToken:
        return self.tokens[self.at]

    def fail(self) -> NoReturn:
        raise NotPlainError

    def take(self, text: str) -> bool:
        """Move behind an operator if it is next."""
        token = self.tokens[self.at]
        if token.kind != "op" or token.text != text:
            return False
        self.at += 1
        return True

    def need(self, text: str) -> None:
        if not self.take(text):
            self.fail()

    def is_word(self, word: str) -> bool:
        token = self.tokens[self.at]
        if token.kind != "word" or token.text.upper() != word:
            return False
        return self.tokens[self.at - 1].kind != "number" or not self.follows_at_once()  # no 1AS

    def take_word(self, word: str) -> bool:
        """Move behind a word, in any case, if it is next."""
        if not self.is_word(word):
            return False
        self.at += 1
        return True

    def need_word(self, word: str) -> None:
        if not self.take_word(word):
            self.fail()

    def follows_at_once(self) -> bool:
        """Whether there is nothing between the next token and the one before it."""
        before = self.tokens[self.at - 1]
        return self.token.kind != "end" and (
            before.offset + len(before.text) == self.tokens[self.at].offset
        )

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail()

    # ---- terms ----

    def read_variable(self) -> rdflib.Variable:
        token = self.token
        if token.kind != "var" or _VARIABLE.fullmatch(token.text) is None:
            self.fail()
        after_word = self.tokens[self.at - 1].kind == "word" and self.follows_at_once()
        if token.text[0] == "$" and after_word:  # rdflib has $ in words
            self.fail()
        self.at += 1
        return rdflib.Variable(token.text[1:])

    def read_iri(self) -> "rdflib.URIRef | Node":
        token = self.token
        self.at += 1
        if token.kind == "iri" and _IRI.fullmatch(token.text) is not None:
            return rdflib.URIRef(token.text[1:-1])
        name = _PNAME.fullmatch(token.text) if token.kind == "pname" else None
        if name is None:
            self.fail()
        made = Node("pname")
        if name[1]:
            made["prefix"] = name[1]
        if name[2]:
            made["localname"] = name[2]
        return made

    def read_constant(self) -> object:
        """An IRI, a literal or a number without a sign."""
        token = self.token
        if token.kind in ("iri", "pname"):
            return self.read_iri()
        if token.kind == "string":
            return self.read_literal()
        if token.kind == "number" and (number := _NUMBER.fullmatch(token.text)) is not None:
            self.at += 1
            integer, decimal = number.groups()
            kind = rdflib.XSD.integer if integer else rdflib.XSD.decimal
            kind = kind if integer or decimal else rdflib.XSD.double
            return rdflib.Literal(token.text, datatype=kind)
        if self.take_word("TRUE"):
            return rdflib.Literal(True)
        return rdflib.Literal(False) if self.take_word("FALSE") else self.fail()

    def read_signed(self) -> object:
        """As `read_constant`; a whole number may have a minus sign."""
        if not self.take("-"):
            return self.read_constant()
        if not self.follows_at_once():
            self.fail()
        return rdflib.Literal(-int(self.read_whole()), datatype=rdflib.XSD.integer)

    def read_whole(self) -> rdflib.Literal:
        """A whole number without a sign."""
        number = self.read_constant() if self.token.kind == "number" else None
        if not isinstance(number, rdflib.Literal) or number.datatype != rdflib.XSD.integer:
            self.fail()
        return number

    def read_string(self) -> rdflib.Literal:
        token = self.token
        end = token.offset + len(token.text)
        if token.kind != "string" or _STRING.fullmatch(token.text) is None:
            self.fail()
        if self.text[end : end + 1] == token.text[0]:
            self.fail()
        self.at += 1
        return rdflib.Literal(decodeUnicodeEscape(token.text[1:-1]))

    def read_literal(self) -> Node:
        end = self.token.offset + len(self.token.text)
        made = Node("literal", string=self.read_string())
        if self.token.text == "@":
            language = _LANGUAGE.match(self.text, end)
            if language is None:
                self.fail()
            made["lang"] = language[1]
            while self.token.kind != "end" and self.token.offset < language.end():
                self.at += 1
            last = self.tokens[self.at - 1]
            if last.offset + len(last.text) != language.end():  # 'a'@en1
                self.fail()
        elif self.token.text == "^^":
            if not self.follows_at_once():
                self.fail()
            self.at += 1
            if not self.follows_at_once():
                self.fail()
            made["datatype"] = self.read_iri()
        return made

    def read_node(self) -> object:
        """A subject or an object."""
        if self.token.kind == "var":
            return self.read_variable()
        if _LABEL.fullmatch(self.token.text) is not None:
            self.at += 1
            return rdflib.BNode(self.tokens[self.at - 1].text[2:])
        return self.read_signed()
