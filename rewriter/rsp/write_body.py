"""Write the patterns of a query: those of windows in GRAPHs, with the FILTERs of their times."""

from dataclasses import dataclass, field, replace
from itertools import groupby

from ontoweir.rewriter.rsp.meet_makers import Pattern, Way, meet_makers
from ontoweir.rewriter.rsp.read_head import Reader
from ontoweir.rewriter.rsp.stream_part import StreamPart
from ontoweir.rewriter.rsp.window import Predicate, RspWindow, refuse
from ontoweir.rewriter.rsp.write_lines import LineWriter
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_TERMS = ("a", "true", "false")
_JOINS = ("OPTIONAL", "UNION", "MINUS")
_Term = tuple[SparqlToken, ...] | str
"""As it is written, or the name of a variable that stands for a blank node."""


@dataclass(frozen=True, slots=True)
class _Triple:
    subject: _Term
    path: tuple[SparqlToken, ...]
    object: _Term
    predicates: tuple[Predicate, ...] = ()
    """One; the classes that a variable in their place may be; none of a path, or of a variable."""
    is_type: bool = False

    @property
    def of(self) -> str:
        """What tells its subject from others."""
        return _spell(self.subject)


@dataclass(slots=True)
class BodyWriter:
    """Reads groups and writes them. `windows`: by name; `merged`: those of C-SPARQL, whose graph
    is one with static data; `seen`: what each time is one of."""

    reader: Reader
    writer: LineWriter
    windows: dict[str, RspWindow]
    merged: tuple[RspWindow, ...]
    seen: dict[str, tuple[StreamPart, ...]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    """The windows of which there are patterns."""
    made: int = 0

    def write_group(self, inside: tuple[RspWindow, ...]) -> None:
        """A group in braces, inside a window (none: outside)."""
        read = self.reader
        self.put()
        if read.is_word("SELECT"):
            self.copy_until("{")
            self.write_group(inside)
            self.copy_until("}")
            self.put()
            return
        while read.token.text != "}":
            token = read.token
            if token.text == ".":
                read.take()
            elif token.text == "{":
                self.write_group(inside)
            elif read.is_word(*_JOINS):
                self.put()
            elif read.is_word("FILTER", "BIND"):
                self.put()
                self.write_constraint(inside)
            elif read.is_word("VALUES"):
                self.copy_until("{")
                self.copy_until("}")
                self.put()
            elif read.is_word("WINDOW"):
                self.write_window(inside)
            elif read.is_word("GRAPH", "SERVICE"):
                raise refuse(
                    f"{token.text.upper()} beside windows",
                    "what is outside of windows is static data",
                    "leave it out, or write the windows in SPARQL too: GRAPH ?t { … } and NOW()",
                    read.place(),
                )
            elif token.kind == "word" and token.text not in _TERMS:
                raise read.unexpected("a pattern")
            else:
                self.write_triples(inside)
        self.put()

    def put(self) -> SparqlToken:
        token = self.reader.take()
        self.writer.put(token)
        return token

    def copy_until(self, text: str) -> None:
        while self.reader.token.text != text:
            self.put()

    def write_constraint(self, inside: tuple[RspWindow, ...]) -> None:
        """What follows FILTER or BIND: EXISTS and NOT EXISTS have groups."""
        read, depth = self.reader, 0
        while True:
            if read.token.text == "{":
                self.write_group(inside)
                if not depth:
                    return
                continue
            depth += {"(": 1, ")": -1}.get(self.put().text, 0)
            if not depth and read.tokens.tokens[read.at - 1].text == ")":
                return

    def write_window(self, inside: tuple[RspWindow, ...]) -> None:
        """`WINDOW :w { … }`."""
        read = self.reader
        read.take()
        place = read.place()
        if inside or self.merged:
            raise refuse(
                "WINDOW inside of another one" if inside else "WINDOW beside FROM STREAM",
                "a pattern is of one window" if inside else "the graph of C-SPARQL is one",
                "write them beside each other, each with FROM NAMED WINDOW",
                place,
            )
        if read.token.kind == "var":
            raise refuse(
                f"WINDOW {read.token.text}",
                "a window is named by its IRI",
                "write a branch of UNION for each window",
                place,
            )
        name = read.read_name()
        if name not in self.windows:
            known = ", ".join(sorted(self.windows)) or "no window"
            raise refuse(
                f"WINDOW {name}, which FROM NAMED WINDOW does not name",
                f"it names {known}",
                "write the same name in both places",
                place,
            )
        self.asked.add(name)
        if self.is_union():
            read.take()
            while read.token.text != "}":
                self.write_group((self.windows[name],))
                if read.is_word("UNION"):
                    self.put()
            read.take()
            return
        if not self.is_plain():
            self.write_group((self.windows[name],))
            return
        read.take()  # triples alone mean the same without braces
        while read.token.text != "}":
            self.write_triples((self.windows[name],))
        read.take()

    def is_union(self) -> bool:
        """Whether the next group has branches of UNION alone, which mean the same without it."""
        depth, tokens = 0, self.reader.tokens.tokens[self.reader.at :]
        for number, token in enumerate(tokens):
            if depth == 1 and token.text == "}":
                return number > 1
            if depth == 1 and token.text != "{" and token.text.upper() != "UNION":
                return False
            depth += {"{": 1, "}": -1}.get(token.text, 0)
        return False

    def is_plain(self) -> bool:
        """Whether the next group has triples alone."""
        for token in self.reader.tokens.tokens[self.reader.at + 1 :]:
            if token.text == "}":
                return True
            if token.text == "{" or (token.kind == "word" and token.text not in _TERMS):
                return False
        return False

    # ---- triples ----

    def write_triples(self, inside: tuple[RspWindow, ...]) -> None:
        """Patterns up to the next that is none."""
        read = self.reader
        triples: list[_Triple] = []
        while read.token.text not in ("{", "}") and (
            read.token.kind != "word" or read.token.text in _TERMS
        ):
            if read.token.text == ".":
                read.take()
                continue
            blank = read.token.text == "["
            subject = self.read_term(triples)
            if not blank or read.token.text not in (".", "}"):
                self.read_properties(subject, triples, "")
        triples = [self.name_classes(t, triples) for t in triples]
        makers = () if inside or not self.merged else self.meet(triples)
        chosen = [
            (self.choose(t, inside, makers[n] if makers else frozenset()), t)
            for n, t in enumerate(triples)
        ]
        times: dict[tuple[str, tuple[RspWindow, ...]], str] = {}
        by = sorted(range(len(chosen)), key=lambda n: (chosen[n][1].of, _names(chosen[n][0])))
        for (of, _), numbers in groupby(by, key=lambda n: (chosen[n][1].of, _names(chosen[n][0]))):
            group = list(numbers)
            windows = chosen[group[0]][0]
            predicates = [p for n in group for p in chosen[n][1].predicates]
            streams = frozenset(w.part.stream for w in windows)
            if windows and self.reader.known.one_row(predicates, streams):
                times[of, windows] = self.make_time(windows)
        told: set[str] = set()
        for (_, windows, time), same in groupby(
            ((t, w, times.get((t.of, w)) or (self.make_time(w) if w else "")) for w, t in chosen),
            key=lambda one: (None, one[1], one[2]),
        ):
            if time:
                self.writer.add(f"GRAPH ?{time} {{")
            for number, (triple, _, _) in enumerate(same):
                if number:
                    self.writer.add(".")
                self.write_triple(triple)
            self.writer.add("}" if time else ".")
            if time and time not in told:
                told.add(time)
                self.writer.add(windows[0].write_filter(time))

    def write_triple(self, triple: _Triple) -> None:
        for number, part in enumerate((triple.subject, triple.path, triple.object)):
            if isinstance(part, str):
                self.writer.add(part)
                continue
            for token in part:
                again = (token.line, token.offset) < self.writer.last
                if again and number == 0:
                    self.writer.add(token.text)
                else:
                    self.writer.put(token)

    def make_time(self, windows: tuple[RspWindow, ...]) -> str:
        time = self.make_variable("in_window")
        self.seen[time] = tuple(w.part for w in windows)
        return time

    def make_variable(self, stem: str) -> str:
        self.made += 1
        return f"{stem}_{self.made}_"

    def meet(self, triples: list[_Triple]) -> list[frozenset[str | None]]:
        """Of each triple of C-SPARQL's graph, the streams whose rows may make it (None: static
        data), given the terms that others have."""
        streams = {w.part.stream for w in self.merged}
        patterns, constants = [], dict[str, Pattern]()
        for number, triple in enumerate(triples):
            names = []
            for term in (triple.subject, triple.object):
                name, iri = _spell(term), self.read_iri(term)
                names.append(name)
                if iri is not None:
                    constants[name] = Pattern((name, f"{name} "), (Way(None, ((iri, iri), None)),))
            if triple.is_type:
                names[1] = f"class {number}"
            ways = [w for p in triple.predicates for w in self.reader.known.ways(p)]
            there = tuple(w for w in ways if w.maker is None or w.maker in streams)
            patterns.append(Pattern((names[0], names[1]), there))
        return meet_makers([*patterns, *constants.values()])

    def read_iri(self, term: _Term) -> str | None:
        """The IRI that a term is (None: it is a variable, or a literal)."""
        if isinstance(term, str) or len(term) != 1 or term[0].kind not in ("iri", "pname"):
            return None
        return self.expand(term[0])

    def choose(
        self,
        triple: _Triple,
        inside: tuple[RspWindow, ...],
        makers: frozenset[str | None],
    ) -> tuple[RspWindow, ...]:
        """The windows of which a pattern is (none: of static data)."""
        place = self.reader.place(triple.path[0])
        if (inside or self.merged) and not triple.predicates:
            if triple.is_type:
                raise refuse(
                    f"{_spell(triple.object)} as a class",
                    "no mapping makes members of any class that have its other properties",
                    "give a subject map a class (rr:class), or leave the pattern out",
                    place,
                )
            raise refuse(
                "a path, or a variable as a predicate, in a window",
                "each step may be at another time of the window",
                "write each step as a triple, of a predicate or class that is named",
                place,
            )
        if inside or not self.merged or not triple.predicates:
            return inside
        named = triple.predicates[0][0] if len(triple.predicates) == 1 else _spell(triple.object)
        windows = tuple(w for w in self.merged if w.part.stream in makers)
        if windows and None in makers:
            raise refuse(
                f"{named}, of static data and of a stream",
                "the graph of C-SPARQL has both, each in its own way",
                "write it in RSP-QL, where WINDOW tells them apart",
                place,
            )
        if len({w.shape for w in windows}) > 1:
            raise refuse(
                f"{named} of windows with different lengths or steps",
                "the graph of C-SPARQL has both, each as long as its own window",
                "write it in RSP-QL, where WINDOW tells them apart, or give both one window",
                place,
            )
        return windows

    def read_properties(self, subject: _Term, triples: list[_Triple], end: str) -> None:
        """`p o, o ; p o`."""
        read = self.reader
        while True:
            path = self.read_path()
            while True:
                term = self.read_term(triples)
                triples.append(self.read_triple(subject, path, term))
                if read.token.text != ",":
                    break
                read.take()
            while read.token.text == ";":
                read.take()
            if read.tokens.tokens[read.at - 1].text != ";" or read.token.text in (".", "}", end):
                return

    def read_triple(self, subject: _Term, path: tuple[SparqlToken, ...], term: _Term) -> _Triple:
        if len(path) != 1 or path[0].kind == "var":
            return _Triple(subject, path, term)
        prop = _RDF_TYPE if path[0].text == "a" else self.expand(path[0])
        if prop != _RDF_TYPE:
            return _Triple(subject, path, term, ((prop, False),))
        if isinstance(term, str) or term[0].kind == "var":
            return _Triple(subject, path, term, is_type=True)
        return _Triple(subject, path, term, ((self.expand(term[0]), True),), is_type=True)

    def name_classes(self, triple: _Triple, beside: list[_Triple]) -> _Triple:
        """A triple with a variable as its class: of the classes that its subject may be in."""
        if not triple.is_type or triple.predicates:
            return triple
        others = [p for t in beside if t.of == triple.of for p in t.predicates]
        return replace(triple, predicates=self.reader.known.classes(others))

    def expand(self, token: SparqlToken) -> str:
        if token.kind == "iri":
            return token.text[1:-1]
        prefix, _, name = token.text.partition(":")
        return self.reader.prefixes.get(prefix, f"{prefix}:") + name

    def read_path(self) -> tuple[SparqlToken, ...]:
        """A predicate, or a path."""
        read, made, depth = self.reader, list[SparqlToken](), 0
        while True:
            token = read.take()
            made.append(token)
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            ends = token.kind in ("var", "iri", "pname") or token.text in ("a", ")", "*", "+")
            if ends and not depth and read.token.text not in ("/", "|", "*", "+", "?"):
                return tuple(made)
            if token.text in "{}.;,":
                read.at -= 1
                raise read.unexpected("a predicate")

    def read_term(self, triples: list[_Triple]) -> _Term:
        """A subject or an object; the triples of a blank node are put among the others."""
        read = self.reader
        if read.token.text == "[":
            read.take()
            blank = f"?{self.make_variable('blank')}"
            if read.token.text != "]":
                self.read_properties(blank, triples, "]")
            if read.token.text != "]":
                raise read.unexpected("]")
            read.take()
            return blank
        if read.token.text == "(":
            raise refuse("a list", "lists are not mapped", "write its triples", read.place())
        made = [read.take()]
        if made[0].text in ("+", "-"):
            made.append(read.take())
        if made[0].kind == "string" and read.token.text in ("^^", "@"):
            made += [read.take(), read.take()]
            while read.token.text == "-":
                made += [read.take(), read.take()]
        if made[-1].kind == "op" or (made[0].kind == "word" and made[0].text == "a"):
            read.at -= 1
            raise read.unexpected("a term")
        return tuple(made)


def _names(windows: tuple[RspWindow, ...]) -> tuple[str, ...]:
    return tuple(f"{w.name} {w.part}" for w in windows)


def _spell(term: _Term) -> str:
    return term if isinstance(term, str) else " ".join(t.text for t in term)
