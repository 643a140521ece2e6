"""What stands before the patterns: REGISTER, the windows, and what is written."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ontoweir.errors import Source
from ontoweir.rewriter.rsp.read_range import Range, read_length, read_range
from ontoweir.rewriter.rsp.stream_part import StreamPart
from ontoweir.rewriter.rsp.window import Known, RspWindow, refuse
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

STREAMS = ("RSTREAM", "ISTREAM", "DSTREAM")
_FORMS = ("SELECT", "CONSTRUCT", "ASK", "DESCRIBE")


@dataclass(slots=True)
class Reader:
    """The tokens of a query, and how far they are read."""

    tokens: Tokens
    file: str
    known: Known
    at: int = 0
    prefixes: dict[str, str] = field(default_factory=dict)

    @property
    def token(self) -> SparqlToken:
        """The next token.

        Raises:
            QueryError: the text is over.
        """
        if self.at < len(self.tokens.tokens):
            return self.tokens.tokens[self.at]
        raise refuse(
            "the query ends too early",
            "a brace or parenthesis is not closed",
            "close it",
            Source(self.file, self.tokens.last_line),
        )

    def is_word(self, *words: str) -> bool:
        return self.ahead(0, *words)

    def ahead(self, by: int, *words: str) -> bool:
        """Whether a word stands so many tokens ahead."""
        rest = self.tokens.tokens[self.at + by : self.at + by + 1]
        return bool(rest) and rest[0].kind == "word" and rest[0].text.upper() in words

    def take(self) -> SparqlToken:
        token = self.token
        self.at += 1
        return token

    def place(self, token: SparqlToken | None = None) -> Source:
        token = token or self.token
        start = self.tokens.text.rfind("\n", 0, token.offset) + 1
        column = token.offset - start + 1
        return Source(self.file, token.line, column, column + len(token.text))

    def need(self, *words: str) -> SparqlToken:
        """Take a word.

        Raises:
            QueryError: another one is next.
        """
        if self.is_word(*words):
            return self.take()
        raise self.unexpected(" or ".join(words))

    def unexpected(self, wanted: str) -> Exception:
        return refuse(
            f"{self.token.text!r} where {wanted} is expected",
            "the query is neither RSP-QL nor C-SPARQL here",
            "write FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M], or FROM STREAM <s> "
            "[RANGE 10m STEP 1m]",
            self.place(),
        )

    def read_iri(self) -> str:
        """The next IRI."""
        token = self.take()
        if token.kind == "iri":
            return token.text[1:-1]
        prefix, colon, name = token.text.partition(":")
        if token.kind == "pname" and prefix in self.prefixes:
            return self.prefixes[prefix] + name
        raise refuse(
            f"{token.text} as an IRI",
            f"PREFIX {prefix}: is not declared" if colon else "it is no IRI",
            "declare the prefix, or write the IRI in < and >",
            self.place(token),
        )

    def read_name(self) -> str:
        """The name of a window: an IRI, of which the prefix need not be declared."""
        token = self.token
        if token.kind == "pname" and token.text.partition(":")[0] not in self.prefixes:
            return self.take().text
        return self.read_iri()

    def read_brackets(self) -> Range:
        first = self.token
        if first.text != "[":
            raise self.unexpected("[RANGE …]")
        while self.take().text != "]":
            pass
        last = self.tokens.tokens[self.at - 1]
        return read_range(self.tokens.text[first.offset : last.offset + 1], self.place(first))


def asks_windows(text: str) -> bool:
    """Whether a text is RSP-QL or C-SPARQL: it registers a query, or its FROM names a window or a
    stream."""
    words = [t.text.upper() for t in Tokens(text).tokens]
    return any(
        here == "REGISTER" or (here == "FROM" and (after == "STREAM" or last == "WINDOW"))
        for here, after, last in zip(words, [*words[1:], ""], [*words[2:], "", ""], strict=False)
    )


def read_register(reader: Reader) -> tuple[str | None, int | None, Source | None]:
    """`REGISTER RSTREAM name COMPUTED EVERY d AS`, if it is next: what is written, and how often,
    with its place."""
    if not reader.is_word("REGISTER"):
        return None, None, None
    reader.take()
    kind = reader.need(*STREAMS, "QUERY", "STREAM").text.lower()
    reader.take()  # the name
    every, place = None, None
    if reader.is_word("COMPUTED"):
        reader.take()
        reader.need("EVERY")
        place, start = reader.place(), reader.token.offset
        while not reader.is_word("AS"):
            reader.take()
        text = reader.tokens.text[start : reader.token.offset].strip()
        every = read_length(text)
        if every is None:
            raise refuse(f"COMPUTED EVERY {text}", "it is no duration", "write 10m", place)
    reader.need("AS")
    return (kind.lower() if kind.upper() in STREAMS else None), every, place


def read_windows(reader: Reader) -> Iterator[RspWindow]:
    """The window of a FROM clause that is next; none of static data, which is all that the project
    has.

    Raises:
        QueryError: it names a graph of the mappings; a stream that is not known.
    """
    reader.need("FROM")
    if reader.is_word("STREAM"):
        reader.take()
        part, place = _read_stream(reader)
        yield RspWindow(None, part, *reader.read_brackets(), place)
    elif reader.is_word("NAMED") and reader.ahead(1, "WINDOW"):
        reader.at += 2
        name = None if reader.is_word("ON") else reader.read_name()
        reader.need("ON")
        if reader.is_word("STREAM"):
            reader.take()
        part, place = _read_stream(reader)
        given = reader.read_brackets()
        if name is None:
            reader.need("AS")
            name = reader.read_name()
        yield RspWindow(name, part, *given, place)
    else:
        if reader.is_word("NAMED", "GRAPH"):
            reader.take()
        place = reader.place()
        if (graph := reader.read_iri()) in reader.known.graphs:
            raise refuse(
                f"FROM <{graph}>, a graph of the mappings, beside windows",
                "patterns outside of windows are of all static data",
                "leave the graph out of the mapping, or write the windows in SPARQL: GRAPH ?t "
                "{ … } and NOW()",
                place,
            )


def _read_stream(reader: Reader) -> tuple[StreamPart, Source]:
    place = reader.place()
    return reader.known.find_stream(reader.read_iri(), place), place


def is_form(reader: Reader) -> bool:
    """Whether the query's form is next."""
    return reader.is_word(*_FORMS)
