"""The triples of plain SPARQL, and their paths."""

import rdflib

from ontoweir.rewriter.parsing.cursor import Cursor
from ontoweir.rewriter.syntax.node import Node


class Triples(Cursor):
    """Triples, with the nodes that brackets stand for, by recursive descent."""

    def read_block(self) -> Node:
        """Triples with full stops between them."""
        return Node("TriplesBlock", triples=self.read_subjects())

    def read_subjects(self, *, paths: bool = True) -> list[list[object]]:
        """The triples of each subject."""
        triples = [self.read_triples(paths=paths)]
        while self.take(".") and (
            self.token.kind in ("var", "iri", "pname", "string", "number")
            or self.token.text in ("[", "-")
            or self.is_word("TRUE")
            or self.is_word("FALSE")
        ):
            triples.append(self.read_triples(paths=paths))
        return triples

    def read_triples(self, *, paths: bool = True) -> list[object]:
        """The triples of a subject, three terms for each, with those of the nodes in brackets
        among them."""
        subject, made = self.read_described(paths=paths)
        if made and self.token.text in (".", "}"):
            return made
        return made + self.read_properties(subject, paths=paths)

    def read_described(self, *, paths: bool) -> tuple[object, list[object]]:
        """A node, and the triples in the brackets that stand for it."""
        if not self.take("["):
            return self.read_node(), []
        node = rdflib.BNode()
        if self.take("]"):
            return node, []
        self.enter()
        inside = self.read_properties(node, paths=paths)
        self.need("]")
        self.depth -= 1
        return node, inside

    def read_properties(self, subject: object, *, paths: bool) -> list[object]:
        """What follows a subject: verbs, and the objects of each."""
        made: list[object] = []
        while True:
            verb = self.read_verb(paths=paths)
            while True:
                node, inside = self.read_described(paths=paths)
                made += (subject, verb, node, *inside)
                if not self.take(","):
                    break
            if not self.take(";"):
                return made
            while self.take(";"):
                pass
            if self.token.text in (".", "}", "]"):
                return made

    def read_verb(self, *, paths: bool) -> object:
        if self.token.kind == "var":
            return self.read_variable()
        if paths:
            return self.read_path()
        return self.read_type() or self.read_iri()

    def read_type(self) -> rdflib.URIRef | None:
        """The verb `a`, if it is next."""
        if self.token.kind != "word" or self.token.text != "a":
            return None
        self.at += 1
        return rdflib.RDF.type

    def read_path(self) -> Node:
        sequences = [self.read_sequence()]
        while self.take("|"):
            sequences.append(self.read_sequence())
        return Node("PathAlternative", part=sequences)

    def read_sequence(self) -> Node:
        steps = [self.read_step()]
        while self.take("/"):
            steps.append(self.read_step())
        return Node("PathSequence", part=steps)

    def read_step(self) -> Node:
        if self.take("^"):
            return Node("PathEltOrInverse", part=self.read_element())
        return self.read_element()

    def read_element(self) -> Node:
        part: object
        if self.take("("):
            self.enter()
            part = self.read_path()
            self.need(")")
            self.depth -= 1
        else:
            part = self.read_type() or self.read_iri()
        made = Node("PathElt", part=part)
        if self.follows_at_once() and self.token.text[0] in "?*+":
            if self.token.kind != "op":
                self.fail()
            made["mod"] = self.token.text
            self.at += 1
        return made
