"""Parse a SPARQL SELECT into a conjunctive query over states at points in time.

SPARQL 1.1 as rdflib parses it: basic graph patterns, `GRAPH ?t { … }` for the state at time ?t,
and FILTER with comparisons. What is outside is refused by name. rdflib keeps no positions: lines
are found again by following its triples, which stand in order of appearance, through the tokens.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import rdflib
from pyparsing import ParseBaseException
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.check_variables import check_variables
from ontoweir.rewriter.locate_tokens import Token, Tokens
from ontoweir.rewriter.parse_filter import parse_filter
from ontoweir.rewriter.query import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    Iri,
    Literal,
    PropertyAtom,
    Term,
    Variable,
)

_TYPE = str(rdflib.RDF.type)
_OUTSIDE = "it is outside the query language: SELECT over patterns, GRAPH ?t and FILTER"
_COMPARISONS = {"<", "<=", "=", ">=", ">", "!=", "IN"}
_REFUSED = {
    "OptionalGraphPattern": ("OPTIONAL", "register one query with the pattern, one without it"),
    "MinusGraphPattern": ("MINUS", "write a query of what holds: negation is not monotonic"),
    "Bind": ("BIND", "write the value in its place, or compare with it in a FILTER"),
    "InlineData": ("VALUES", "register one query for each value, or load them as a relation"),
    "ServiceGraphPattern": ("SERVICE", "declare the other source as a relation in the catalog"),
    "SubSelect": ("a subquery", "write its patterns in the query itself"),
}
_CLAUSES = {
    "orderby": ("ORDER BY", "ORDER", "remove it: results are a stream, in order of `at`"),
    "limitoffset": ("LIMIT or OFFSET", "LIMIT", "remove it: results are a stream without an end"),
    "groupby": ("GROUP BY", "GROUP", "select the rows, and aggregate the results"),
    "having": ("HAVING", "HAVING", "compare single values in a FILTER"),
    "valuesClause": ("VALUES", "VALUES", _REFUSED["InlineData"][1]),
    "datasetClause": ("FROM", "FROM", "remove it: the mappings say where data comes from"),
}
_FORMS = {"AskQuery": "ASK", "ConstructQuery": "CONSTRUCT", "DescribeQuery": "DESCRIBE"}


def parse_query(text: str, *, name: str, file: str) -> ConjunctiveQuery:
    """The conjunctive query that `text` is.

    Args:
        text: SPARQL 1.1 SELECT or SELECT DISTINCT.
        name: what the query is called.
        file: where it stands, for messages.

    Raises:
        QueryError: the text is no SPARQL, or outside the query language.
    """
    tokens = Tokens(text)
    try:
        parsed = parseQuery(text)
    except ParseBaseException as error:
        raise _syntax_error(text, tokens, error, file) from None
    except RecursionError:
        raise QueryError(
            "the query is nested too deeply",
            why="the parser gives up",
            fix="remove superfluous parentheses and braces",
            source=Source(file, 1),
        ) from None
    return _Parser(tokens, name, file).read(parsed[0], parsed[1])


def _syntax_error(text: str, tokens: Tokens, error: ParseBaseException, file: str) -> QueryError:
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


class _Parser:
    def __init__(self, tokens: Tokens, name: str, file: str) -> None:
        self.tokens, self.name, self.file = tokens, name, file
        self.prefixes: dict[str, str] = {}
        self.base = ""
        self.blanks: dict[str, Variable] = {}
        self.atoms: list[Atom] = []
        self.times: dict[Variable, Source] = {}
        self.pending: list[tuple[object, int]] = []

    def error(self, what: str, why: str, fix: str, line: int | None = None) -> QueryError:
        """A QueryError at a line."""
        return QueryError(what, why=why, fix=fix, source=Source(self.file, line))

    def read(self, prologue: object, query: CompValue) -> ConjunctiveQuery:
        """The query; `prologue` and `query` as rdflib parsed them."""
        first = self.tokens.line_of("SELECT", *_FORMS.values())
        if query.name in _FORMS:
            fix = "write SELECT, or SELECT DISTINCT, and the variables"
            raise self.error(_FORMS[query.name], _OUTSIDE, fix, first)
        assert isinstance(prologue, list) or hasattr(prologue, "__iter__")
        for part in prologue:
            if part.name == "Base":
                self.base = str(part["iri"])
            else:
                key = str(part["prefix"]) if "prefix" in part else ""
                self.prefixes[key] = _join(self.base, str(part["iri"]))
        for key, (clause, word, fix) in _CLAUSES.items():
            if key in query:
                raise self.error(clause, _OUTSIDE, fix, self.tokens.line_of(word, "OFFSET"))
        if _field(query, "modifier") == "REDUCED":
            fix = "write SELECT (every answer counts) or SELECT DISTINCT"
            raise self.error("REDUCED", _OUTSIDE, fix, first)
        head = self.read_head(query)
        self.tokens.next(lambda t: t.text == "{")
        self.read_group(query["where"], None)
        filters = tuple(f for node, line in self.pending for f in self.read_filter(node, line))
        head = check_variables(
            head,
            tuple(self.atoms),
            filters,
            frozenset(self.times),
            locate=lambda v: self.tokens.line_of(f"?{v.name}", f"${v.name}") or first,
            source=Source(self.file, first),
        )
        distinct = _field(query, "modifier") == "DISTINCT"
        source = Source(self.file, first)
        return ConjunctiveQuery(self.name, head, tuple(self.atoms), filters, distinct, source)

    def read_head(self, query: CompValue) -> tuple[Variable, ...] | None:
        """The answer variables; None for *."""
        if "projection" not in query or query["projection"] == "*":
            return None
        head: list[Variable] = []
        for item in query["projection"]:
            if "var" not in item:
                variable = f"?{item['evar']}"
                aggregate = _find_aggregate(item["expr"])
                what = f"aggregate {aggregate}" if aggregate else "an expression"
                raise self.error(
                    f"{what} in SELECT, as {variable}",
                    _OUTSIDE,
                    "select the variables, and compute on the results",
                    self.tokens.line_of(variable),
                )
            if (answer := Variable(str(item["var"]))) not in head:
                head.append(answer)
        return tuple(head)

    def read_group(self, group: CompValue, time: Variable | None) -> None:
        """Add the atoms of a group at a time; filters are kept until all times are known."""
        for part in _field(group, "part", ()):
            if part.name == "TriplesBlock":
                for triples in part["triples"]:
                    flat = list(triples)
                    for i in range(0, len(flat), 3):
                        self.read_triple(flat[i], flat[i + 1], flat[i + 2], time)
            elif part.name == "Filter":
                line = self.tokens.next(lambda t: t.text.upper() == "FILTER")
                self.pending.append((part["expr"], line))
            elif part.name == "GraphGraphPattern":
                self.read_graph(part)
            elif part.name == "GroupOrUnionGraphPattern":
                if len(part["graph"]) > 1:
                    fix = "register one query for each branch"
                    raise self.error("UNION", _OUTSIDE, fix, self.tokens.line_of("UNION"))
                inner = part["graph"][0]
                if inner.name == "SubSelect":
                    self.refuse(inner)
                self.read_group(inner, time)
            else:
                self.refuse(part)

    def refuse(self, part: CompValue) -> None:
        """Raise the error for a pattern that is not in the language."""
        what, fix = _REFUSED.get(part.name, (part.name, "write plain patterns"))
        words = [what, "SELECT"] if part.name == "SubSelect" else [what]
        lines = [t.line for t in self.tokens.tokens if t.text.upper() in words]
        raise self.error(what, _OUTSIDE, fix, lines[-1] if lines else None)

    def read_graph(self, part: CompValue) -> None:
        """GRAPH ?t { … }."""
        line = self.tokens.next(lambda t: t.text.upper() == "GRAPH")
        term = part["term"]
        if not isinstance(term, rdflib.Variable):
            raise self.error(
                "GRAPH with an IRI",
                "a graph is the state at a time, so its name is a time variable",
                "write GRAPH ?t { … }, and leave static patterns outside GRAPH",
                line,
            )
        self.tokens.next(lambda t: t.text == "{")
        time = Variable(str(term))
        self.times.setdefault(time, Source(self.file, line))
        before = len(self.atoms)
        self.read_group(part["graph"], time)
        if len(self.atoms) == before:
            raise self.error(
                f"GRAPH ?{time.name} has no pattern",
                "it would hold at every time, of which there is no end",
                "write a pattern in it, or remove it",
                line,
            )

    def read_triple(self, s: object, p: object, o: object, time: Variable | None) -> None:
        """Add the atom of a triple."""
        line = self.locate(o, p)
        predicate = self.read_predicate(p, line)
        subject, value = self.read_term(s, line), self.read_term(o, line)
        source = Source(self.file, line)
        if predicate != _TYPE:
            self.atoms.append(PropertyAtom(predicate, subject, value, time, source))
        elif isinstance(value, Iri):
            self.atoms.append(ClassAtom(value.value, subject, time, source))
        else:
            raise self.error(
                "rdf:type without a class",
                "the class of a pattern is an IRI: a query ranges over data, not the vocabulary",
                "name the class, and register one query for each class if there are several",
                line,
            )

    def locate(self, o: object, p: object) -> int:
        """The line of the next triple's object, or of its predicate if the object is blank."""
        wanted = p if isinstance(o, rdflib.BNode) else o
        return self.tokens.next(lambda t: self.is_token(t, wanted))

    def is_token(self, token: Token, node: object) -> bool:
        """Does `token` stand for `node` as rdflib parsed it?"""
        while isinstance(node, CompValue) and node.name.startswith("Path"):
            part = node["part"]
            node = part[0] if isinstance(part, list) else part
        if isinstance(node, rdflib.Variable):
            return token.kind == "var" and token.text[1:] == str(node)
        if isinstance(node, rdflib.URIRef):
            if node == rdflib.RDF.type and token.text == "a":
                return True
            return token.kind == "iri" and token.text[1:-1] == str(node)
        if isinstance(node, CompValue) and node.name == "pname":
            prefix = _field(node, "prefix", "")
            name = f"{prefix}:{node['localname']}"
            return token.kind == "pname" and token.text.replace("\\", "") == name
        if isinstance(node, CompValue) and node.name == "literal":
            return token.kind == "string"
        if isinstance(node, rdflib.Literal):
            return token.text == str(node)
        return False

    def read_predicate(self, node: object, line: int) -> str:
        """The IRI of a predicate."""
        path = "a property path"
        while isinstance(node, CompValue) and node.name != "pname":
            part = _field(node, "part")
            single = not isinstance(part, list) or len(part) == 1
            plain = node.name in ("PathAlternative", "PathSequence", "PathElt")
            if part is None or not single or not plain or "mod" in node:
                fix = "write each step as a pattern of its own; for ^p exchange subject and object"
                raise self.error(path, _OUTSIDE, fix, line)
            node = part[0] if isinstance(part, list) else part
        term = self.read_term(node, line)
        if isinstance(term, Iri):
            return term.value
        raise self.error(
            f"?{term.name} as a predicate" if isinstance(term, Variable) else "a literal predicate",
            "the predicate of a pattern is an IRI: a query ranges over data, not the vocabulary",
            "name the property, and register one query for each property if there are several",
            line,
        )

    def read_term(self, node: object, line: int | None = None) -> Term:
        """A variable, IRI or literal; a blank node is a variable that is not selected."""
        if isinstance(node, rdflib.Variable):
            return Variable(str(node))
        if isinstance(node, rdflib.BNode):
            fresh = Variable(f"_b{len(self.blanks)}")
            return self.blanks.setdefault(str(node), fresh)
        if isinstance(node, rdflib.URIRef):
            return Iri(self.resolve(str(node), line))
        if isinstance(node, rdflib.Literal):
            datatype = str(node.datatype) if node.datatype else None
            return Literal(str(node), datatype, node.language)
        assert isinstance(node, CompValue)
        if node.name == "literal":
            found = self.read_term(node["datatype"], line) if "datatype" in node else None
            kind = found.value if isinstance(found, Iri) else None
            kind = None if kind == str(rdflib.XSD.string) else kind
            language = str(node["lang"]) if "lang" in node else None
            return Literal(str(node["string"]), kind, language)
        prefix = str(node["prefix"]) if "prefix" in node else ""
        if prefix not in self.prefixes:
            raise self.error(
                f"the prefix {prefix}: is not declared",
                f"{prefix}:{node['localname']} has no IRI without it",
                f"write PREFIX {prefix}: <…> at the top of the query",
                line,
            )
        return Iri(self.prefixes[prefix] + str(node["localname"]).replace("\\", ""))

    def resolve(self, iri: str, line: int | None) -> str:
        """An absolute IRI."""
        if ":" in iri:
            return iri
        if not self.base:
            fix = "write the whole IRI, a prefixed name, or BASE <…> at the top of the query"
            raise self.error(f"the IRI <{iri}> is relative", "there is no BASE", fix, line)
        return _join(self.base, iri)

    def read_filter(self, node: object, line: int) -> Iterator[Filter]:
        """The comparisons of a FILTER that starts at `line`."""
        inside = iter([t for t in self.tokens.tokens if self.after_filter(t, line)])

        def locate() -> Source:
            token = next((t for t in inside if t.text.upper() in _COMPARISONS), None)
            return Source(self.file, token.line if token is not None else line)

        yield from parse_filter(
            node,
            times=frozenset(self.times),
            read_term=lambda n: self.read_term(n, line),
            locate=locate,
        )

    def after_filter(self, token: Token, line: int) -> bool:
        """Is the token behind the FILTER at this line?"""
        words = (t for t in self.tokens.tokens if t.line == line and t.text.upper() == "FILTER")
        first = next(words, None)
        return first is not None and token.offset > first.offset


def _join(base: str, iri: str) -> str:
    """The IRI against a base; an empty fragment stays, as prefixes end in one."""
    joined = urljoin(base, iri)
    return joined + "#" if iri.endswith("#") and not joined.endswith("#") else joined


def _field(node: CompValue, key: str, default: Any = None) -> Any:
    """What rdflib put under `key` (CompValue.get returns the key itself where there is none)."""
    return node[key] if key in node else default  # noqa: SIM401


def _find_aggregate(node: object) -> str | None:
    """The name of an aggregate function in an expression."""
    if isinstance(node, CompValue):
        if node.name.startswith("Aggregate_"):
            return node.name.removeprefix("Aggregate_").upper()
        return next((f for v in node.values() if (f := _find_aggregate(v)) is not None), None)
    if isinstance(node, list):
        return next((f for v in node if (f := _find_aggregate(v)) is not None), None)
    return None
