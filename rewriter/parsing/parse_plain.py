"""Parse plain SPARQL, in a hundredth of the time that rdflib takes or so, into the same tree.

A SELECT, ASK or CONSTRUCT whose patterns are triples, paths, groups, UNION, GRAPH, OPTIONAL,
MINUS, VALUES, BIND, FILTER and SELECTs, with comparisons, functions, aggregates, GROUP BY, HAVING,
ORDER BY and LIMIT, is parsed here by recursive descent. There is no tree of whatever else there is,
right or wrong: rdflib parses that, and says what is wrong with it. So this grammar is a part of
rdflib's, and tests compare both.
"""

import re

import rdflib

from ontoweir.rewriter.parsing.cursor import NotPlainError
from ontoweir.rewriter.parsing.read_expressions import Expressions
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node

_UNUSUAL = re.compile(r"\\[uU]|[^\S \t\r\n]|\"\"\"|'''")
"""Characters by their numbers, other spaces, and long strings."""


def parse_plain(tokens: Tokens) -> tuple[list[Node], Node] | None:
    """The prologue and the query, as rdflib parses them; None where rdflib has to."""
    if _UNUSUAL.search(tokens.text) is not None:
        return None
    try:
        return _Parser(tokens).read()
    except NotPlainError:
        return None


class _Parser(Expressions):
    """Forms of queries and their patterns, by recursive descent."""

    def read(self) -> tuple[list[Node], Node]:
        prologue: list[Node] = []
        while True:
            if self.take_word("BASE"):
                prologue.append(Node("Base", iri=self.read_reference()))
            elif self.take_word("PREFIX"):
                name = self.read_iri()
                if not isinstance(name, Node) or "localname" in name:
                    self.fail()
                prologue.append(Node("PrefixDecl", **name, iri=self.read_reference()))
            else:
                break
        query = self.read_form()
        if self.token.kind != "end":
            self.fail()
        return prologue, query

    def read_form(self) -> Node:
        """A SELECT, an ASK or a CONSTRUCT with a template."""
        if self.take_word("ASK"):
            return self.read_body(Node("AskQuery"))
        if not self.take_word("CONSTRUCT"):
            return self.read_select("SelectQuery")
        made = Node("ConstructQuery")
        self.need("{")
        if not self.take("}"):
            made["template"] = self.read_subjects(paths=False)
            self.need("}")
        return self.read_body(made)

    def read_select(self, name: str) -> Node:
        """A SELECT, with what follows its patterns; within another one it has no FROM."""
        query = Node(name)
        self.need_word("SELECT")
        for modifier in ("DISTINCT", "REDUCED"):
            if "modifier" not in query and self.take_word(modifier):
                query["modifier"] = modifier
        if not self.take("*"):
            query["projection"] = [self.read_column()]
            while self.token.kind == "var" or self.token.text == "(":
                query["projection"].append(self.read_column())
        return self.read_body(query)

    def read_body(self, query: Node) -> Node:
        """What follows what a query asks for: where, the patterns, and what is made of matches."""
        while query.name != "SubSelect" and self.take_word("FROM"):
            which = "named" if self.take_word("NAMED") else "default"
            clause = Node("DatasetClause", **{which: self.read_iri()})
            query.setdefault("datasetClause", []).append(clause)
        self.take_word("WHERE")
        query["where"] = self.read_group()
        if self.take_word("GROUP"):
            self.need_word("BY")
            conditions = [self.read_key()]
            while self.token.kind == "var" or self.is_constraint():
                conditions.append(self.read_key())
            query["groupby"] = Node("GroupClause", condition=conditions)
        if self.take_word("HAVING"):
            having = [self.read_constraint()]
            while self.is_constraint():
                having.append(self.read_constraint())
            query["having"] = Node("HavingClause", condition=having)
        if self.take_word("ORDER"):
            self.need_word("BY")
            orders = [self.read_order()]
            while self.token.kind == "var" or self.is_constraint() or self.is_direction():
                orders.append(self.read_order())
            query["orderby"] = Node("OrderClause", condition=orders)
        self.read_limits(query)
        if self.take_word("VALUES"):
            query["valuesClause"] = self.read_values("ValuesClause")
        return query

    def is_direction(self) -> bool:
        return self.is_word("ASC") or self.is_word("DESC")

    def read_order(self) -> Node:
        """What ORDER BY names."""
        if self.is_direction():
            order = "ASC" if self.take_word("ASC") else "DESC"
            self.at += order == "DESC"
            return Node("OrderCondition", order=order, expr=self.read_brackets())
        variable = self.token.kind == "var"
        expression = self.read_variable() if variable else self.read_constraint()
        return Node("OrderCondition", expr=expression)

    def read_limits(self, query: Node) -> None:
        """LIMIT and OFFSET, each once, in any order."""
        limits = Node("LimitOffsetClauses")
        while (word := self.token.text.upper()) in ("LIMIT", "OFFSET"):
            if word.lower() in limits or not self.take_word(word):
                self.fail()
            limits[word.lower()] = self.read_whole()
        if limits:
            query["limitoffset"] = limits

    def read_key(self) -> object:
        """What GROUP BY names."""
        if self.token.kind == "var":
            return self.read_variable()
        if not self.take("("):
            return self.read_constraint()
        made = Node("GroupAs", expr=self.read_expression())
        if self.take_word("AS"):
            made["var"] = self.read_variable()
        self.need(")")
        return made

    def read_reference(self) -> rdflib.URIRef:
        """An IRI in angle brackets."""
        iri = self.read_iri()
        return iri if isinstance(iri, rdflib.URIRef) else self.fail()

    def read_column(self) -> Node:
        if not self.take("("):
            return Node("vars", var=self.read_variable())
        expression = self.read_expression()
        self.need_word("AS")
        made = Node("vars", expr=expression, evar=self.read_variable())
        self.need(")")
        return made

    def read_group(self) -> Node:
        self.enter()
        self.need("{")
        inner = self.read_select("SubSelect") if self.is_word("SELECT") else None
        parts: list[Node] = []
        while not self.take("}"):
            if inner is not None:
                self.fail()
            if (pattern := self.read_pattern()) is not None:
                parts.append(pattern)
                self.take(".")
            elif parts and parts[-1].name == "TriplesBlock":
                self.fail()  # a block without a full stop before it
            else:
                parts.append(self.read_block())
        self.depth -= 1
        return inner or Node("GroupGraphPatternSub", **({"part": parts} if parts else {}))

    def read_pattern(self) -> Node | None:
        """A part of a group; None where triples are next."""
        if self.token.text == "{":
            graphs = [self.read_group()]
            while self.take_word("UNION"):
                graphs.append(self.read_group())
            return Node("GroupOrUnionGraphPattern", graph=graphs)
        if self.take_word("GRAPH"):
            term = self.read_variable() if self.token.kind == "var" else self.read_iri()
            return Node("GraphGraphPattern", term=term, graph=self.read_group())
        for word, name in (("OPTIONAL", "OptionalGraphPattern"), ("MINUS", "MinusGraphPattern")):
            if self.take_word(word):
                return Node(name, graph=self.read_group())
        if self.take_word("FILTER"):
            return Node("Filter", expr=self.read_constraint())
        if self.take_word("BIND"):
            self.need("(")
            expression = self.read_expression()
            self.need_word("AS")
            made = Node("Bind", expr=expression, var=self.read_variable())
            self.need(")")
            return made
        return self.read_values("InlineData") if self.take_word("VALUES") else None

    def read_values(self, name: str) -> Node:
        """The variables of VALUES, and its rows."""
        made = Node(name)
        if one := self.token.kind == "var":
            made["var"] = [self.read_variable()]
        else:
            self.need("(")
            made["var"] = [self.read_variable()]
            while not self.take(")"):
                made["var"].append(self.read_variable())
        self.need("{")
        rows: list[object] = []
        while not self.take("}"):
            if one:
                rows.append(self.read_value())
                continue
            self.need("(")
            row = [self.read_value()]
            while not self.take(")"):
                row.append(self.read_value())
            rows.append(row)
        if rows:
            made["value"] = rows
        return made

    def read_value(self) -> object:
        return "UNDEF" if self.take_word("UNDEF") else self.read_signed()
