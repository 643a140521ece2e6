"""Parse plain SPARQL, in a hundredth of the time that rdflib takes or so, into the same tree.

A SELECT whose patterns are triples, paths, groups, UNION, GRAPH, OPTIONAL, MINUS, VALUES, BIND,
FILTER and SELECTs, with comparisons, functions, aggregates, GROUP BY and HAVING, is parsed here by
recursive descent. There is no tree of whatever else there is, right or wrong: rdflib parses that,
and says what is wrong with it. So this grammar is a part of rdflib's, and tests compare both.
"""

import re

import rdflib

from ontoweir.rewriter.syntax.cursor import Cursor, NotPlainError
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node

_UNUSUAL = re.compile(r"[\\$]|[^\S \t\r\n]|\"\"\"|'''")
"""Escapes, the other sign of variables, other spaces, and long strings."""
_AGGREGATES = {name: f"Aggregate_{name.title()}" for name in ["COUNT", "SUM", "MIN", "MAX", "AVG"]}
_AGGREGATES |= {"MEDIAN": "Aggregate_Sample", "SAMPLE": "Aggregate_Min"}
"""The last two as parse_sparql has rdflib parse them."""
_OF_ONE = "STR LANG DATATYPE IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE YEAR MONTH DAY HOURS "
_OF_ONE += "MINUTES SECONDS TIMEZONE TZ isIRI isURI isBLANK isLITERAL isNUMERIC"
_OF_TWO = "LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT sameTerm"
_PARTS = {
    **dict.fromkeys(_OF_ONE.split(), ("arg",)),
    **dict.fromkeys(_OF_TWO.split(), ("arg1", "arg2")),
    "IF": ("arg1", "arg2", "arg3"),
    "REGEX": ("text", "pattern", "flags?"),
    "SUBSTR": ("arg", "start", "length?"),
    "REPLACE": ("arg", "pattern", "replacement", "flags?"),
}
_CALLS = {name.upper(): (f"Builtin_{name}", parts) for name, parts in _PARTS.items()}
"""Functions: what rdflib calls them, and each of their arguments, of which the last may be left out
where it ends in a question mark."""
_LISTS = ("COALESCE", "CONCAT")
_NAMED = {*_CALLS, *_LISTS, "EXISTS", "NOT", "BOUND", "NOW"}
_COMPARISONS = {"=", "!=", "<", ">", "<=", ">="}


def parse_plain(tokens: Tokens) -> tuple[list[Node], Node] | None:
    """The prologue and the query, as rdflib parses them; None where rdflib has to."""
    if _UNUSUAL.search(tokens.text) is not None:
        return None
    try:
        return _Parser(tokens).read()
    except NotPlainError:
        return None


class _Parser(Cursor):
    """Patterns and expressions, by recursive descent."""

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
        query = self.read_select("SelectQuery")
        if self.token.kind != "end":
            self.fail()
        return prologue, query

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
        while name == "SelectQuery" and self.take_word("FROM"):
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
        if self.take_word("VALUES"):
            query["valuesClause"] = self.read_values("ValuesClause")
        return query

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
        return "UNDEF" if self.take_word("UNDEF") else self.read_constant()

    # ---- triples ----

    def read_block(self) -> Node:
        """Triples with full stops between them."""
        triples = [self.read_triples()]
        while self.take(".") and (
            self.token.kind in ("var", "iri", "pname", "string", "number")
            or self.is_word("TRUE")
            or self.is_word("FALSE")
        ):
            triples.append(self.read_triples())
        return Node("TriplesBlock", triples=triples)

    def read_triples(self) -> list[object]:
        """The triples of a subject: three terms for each."""
        subject = self.read_node()
        made: list[object] = []
        while True:
            verb = self.read_variable() if self.token.kind == "var" else self.read_path()
            made += (subject, verb, self.read_node())
            while self.take(","):
                made += (subject, verb, self.read_node())
            if not self.take(";"):
                return made
            while self.take(";"):
                pass
            if self.token.text in (".", "}"):
                return made

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
        elif self.token.kind == "word" and self.token.text == "a":
            self.at += 1
            part = rdflib.RDF.type
        else:
            part = self.read_iri()
        made = Node("PathElt", part=part)
        if self.follows_at_once() and self.token.text[0] in "?*+":
            if self.token.kind != "op":
                self.fail()
            made["mod"] = self.token.text
            self.at += 1
        return made

    # ---- expressions ----

    def read_brackets(self) -> Node:
        self.enter()
        self.need("(")
        expression = self.read_expression()
        self.need(")")
        self.depth -= 1
        return expression

    def read_expression(self) -> Node:
        made = Node("ConditionalOrExpression", expr=self.read_and())
        while self.take("||"):
            made.setdefault("other", []).append(self.read_and())
        return made

    def read_and(self) -> Node:
        made = Node("ConditionalAndExpression", expr=self.read_relation())
        while self.take("&&"):
            made.setdefault("other", []).append(self.read_relation())
        return made

    def read_relation(self) -> Node:
        made = Node("RelationalExpression", expr=self.read_sum())
        if self.token.kind == "op" and self.token.text in _COMPARISONS:
            made["op"] = self.token.text
            self.at += 1
            made["other"] = self.read_sum()
            return made
        if self.is_word("NOT"):
            self.at += 1
            self.need_word("IN")
            made["op"] = "NOT IN"
        elif self.take_word("IN"):
            made["op"] = "IN"
        else:
            return made
        made["other"] = self.read_list()
        return made

    def read_list(self) -> list[Node]:
        """Expressions in parentheses, one at least."""
        self.enter()
        self.need("(")
        made = [self.read_expression()]
        while self.take(","):
            made.append(self.read_expression())
        self.need(")")
        self.depth -= 1
        return made

    def is_constraint(self) -> bool:
        """Whether what FILTER and HAVING take is next."""
        if self.token.kind == "word":
            return self.token.text.upper() in _NAMED
        called = self.token.kind in ("iri", "pname")
        return self.tokens[self.at + called].text == "("

    def read_constraint(self) -> object:
        return self.read_primary() if self.is_constraint() else self.fail()

    def read_call(self) -> Node:
        """A function that has a name, or whether there is a match of patterns."""
        word = self.token.text.upper()
        self.at += 1
        if word == "NOT":
            self.need_word("EXISTS")
        if word in ("NOT", "EXISTS"):
            name = "Builtin_NOTEXISTS" if word == "NOT" else "Builtin_EXISTS"
            return Node(name, graph=self.read_group())
        if word in _LISTS:
            return Node(f"Builtin_{word}", arg=self.read_list())
        if word in ("NOW", "BOUND"):
            self.need("(")
            given = {"arg": self.read_variable()} if word == "BOUND" else {}
            self.need(")")
            return Node(f"Builtin_{word}", **given)
        name, parts = _CALLS[word]
        found = self.read_list()
        least = len(parts) - parts[-1].endswith("?")
        if not least <= len(found) <= len(parts):
            self.fail()
        return Node(name, **{p.rstrip("?"): g for p, g in zip(parts, found, strict=False)})

    def read_sum(self) -> Node:
        return self.read_chain("AdditiveExpression", "+-")

    def read_product(self) -> Node:
        return self.read_chain("MultiplicativeExpression", "*/")

    def read_chain(self, name: str, signs: str) -> Node:
        """Terms with signs between them."""
        read = self.read_product if signs == "+-" else self.read_unary
        made = Node(name, expr=read())
        while self.token.kind == "op" and self.token.text in signs:
            made.setdefault("op", []).append(self.token.text)
            self.at += 1
            made.setdefault("other", []).append(read())
        return made

    def read_unary(self) -> object:
        for sign, name in (("!", "UnaryNot"), ("+", "UnaryPlus"), ("-", "UnaryMinus")):
            if self.take(sign):
                return Node(name, expr=self.read_primary())
        return self.read_primary()

    def read_primary(self) -> object:
        token = self.token
        if token.text == "(":
            return self.read_brackets()
        if token.kind == "var":
            return self.read_variable()
        if token.kind == "word" and (name := _AGGREGATES.get(token.text.upper())) is not None:
            self.at += 1
            return self.read_aggregate(name)
        if token.kind == "word" and token.text.upper() in _NAMED:
            return self.read_call()
        made = self.read_constant()
        if self.token.text != "(":
            return made
        if token.kind not in ("iri", "pname"):
            self.fail()
        return Node("Function", iri=made, distinct=[], expr=self.read_list())

    def read_aggregate(self, name: str) -> Node:
        self.need("(")
        distinct = "DISTINCT" if self.take_word("DISTINCT") else []
        every = name == "Aggregate_Count" and self.take("*")
        made = Node(name, distinct=distinct, vars="*" if every else self.read_expression())
        self.need(")")
        return made
