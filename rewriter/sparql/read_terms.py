"""Read the terms of a SPARQL query: prefixes, IRIs, literals, variables and blank nodes."""

from collections.abc import Callable
from urllib.parse import urljoin

import rdflib

from ontoweir.errors import QueryError
from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.model.query import Iri, Literal, Term, Variable
from ontoweir.rewriter.syntax.node import Node

_KNOWN = {"xsd": XSD, "ow": "urn:ontoweir:"}
"""Prefixes that queries over streams have, and often lack."""

Refuse = Callable[[str, str, str, int | None], QueryError]
"""Makes an error of what, why, fix, and the line."""


class Terms:
    """The prologue of a query, its blank nodes, and fresh variables."""

    def __init__(
        self,
        prologue: object,
        used: frozenset[str],
        refuse: Refuse,
        line_of: Callable[[str], int | None],
    ) -> None:
        """`line_of`: of the first name with a prefix, for messages."""
        self.prefixes: dict[str, str] = {}
        self.base = ""
        self.fresh: set[Variable] = set()
        self._blanks: dict[str, Variable] = {}
        self._used, self._refuse, self._line_of = used, refuse, line_of
        assert hasattr(prologue, "__iter__")
        for part in prologue:
            if part.name == "Base":
                self.base = str(part["iri"])
            else:
                key = str(part["prefix"]) if "prefix" in part else ""
                self.prefixes[key] = _join(self.base, str(part["iri"]))

    def make_variable(self, kind: str = "_p") -> Variable:
        """A variable that the query does not use, `_p0`, `_p1` …"""
        number = 0
        while (
            candidate := Variable(f"{kind}{number}")
        ) in self.fresh or candidate.name in self._used:
            number += 1
        self.fresh.add(candidate)
        return candidate

    def read(self, node: object, line: int | None = None) -> Term:
        """A variable, IRI or literal; a blank node is a variable that is not selected."""
        if isinstance(node, rdflib.Variable):
            return Variable(str(node))
        if isinstance(node, rdflib.BNode):
            if str(node) not in self._blanks:
                self._blanks[str(node)] = self.make_variable("_b")
            return self._blanks[str(node)]
        if isinstance(node, rdflib.URIRef):
            return Iri(self._resolve(str(node), line))
        if isinstance(node, rdflib.Literal):
            datatype = str(node.datatype) if node.datatype else None
            return Literal(str(node), datatype, _lower(node.language))
        assert isinstance(node, Node)
        if node.name == "literal":
            written_type = self.read(node["datatype"], line) if "datatype" in node else None
            kind = written_type.value if isinstance(written_type, Iri) else None
            kind = None if kind == str(rdflib.XSD.string) else kind
            language = str(node["lang"]) if "lang" in node else None
            return Literal(str(node["string"]), kind, _lower(language))
        prefix, name = str(node.get("prefix", "")), str(node.get("localname", ""))
        if prefix not in self.prefixes:
            raise self._refuse(
                f"the prefix {prefix}: is not declared",
                f"{prefix}:{name} has no IRI without it",
                f"write PREFIX {prefix}: <{_KNOWN.get(prefix, '…')}> at the top of the query",
                line or self._line_of(prefix),
            )
        return Iri(self.prefixes[prefix] + name.replace("\\", ""))

    def _resolve(self, iri: str, line: int | None) -> str:
        """An absolute IRI."""
        if ":" in iri:
            return iri
        if not self.base:
            fix = "write the whole IRI, a prefixed name, or BASE <…> at the top of the query"
            raise self._refuse(f"the IRI <{iri}> is relative", "there is no BASE", fix, line)
        return _join(self.base, iri)


def _lower(language: str | None) -> str | None:
    """Language tags are compared without case (RDF 1.1 section 3.3)."""
    return None if language is None else language.lower()


def _join(base: str, iri: str) -> str:
    """The IRI against a base; an empty fragment stays, as prefixes end in one."""
    joined = urljoin(base, iri)
    return joined + "#" if iri.endswith("#") and not joined.endswith("#") else joined
