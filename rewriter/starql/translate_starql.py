"""STARQL as SPARQL with GRAPH ?t and NOW().

[ÖMN] Özçep, Möller, Neuenstadt: A Stream-Temporal Query Language for Ontology Based Data Access.
KI 2014.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise

from ontoweir.errors import Source
from ontoweir.rewriter.rsp.window import Known, RspQuery, refuse, write_duration
from ontoweir.rewriter.rsp.write_lines import LineWriter
from ontoweir.rewriter.starql.condition import bound, free, is_plain, named
from ontoweir.rewriter.starql.open_operators import open_operators
from ontoweir.rewriter.starql.read_condition import read_condition
from ontoweir.rewriter.starql.read_head import (
    Pulse,
    StarqlReader,
    StateWindow,
    read_pulse,
    read_window,
)
from ontoweir.rewriter.starql.write_condition import ConditionWriter
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def asks_sequence(text: str) -> bool:
    """Whether a text is STARQL: it has a sequence, or a pulse."""
    words = [t.text.upper() for t in Tokens(text).tokens]
    pairs = set(pairwise(words))
    return ("SEQUENCE", "BY") in pairs or ("CREATE", "PULSE") in pairs


@dataclass(slots=True)
class _Query:
    """What is read of a query so far."""

    reader: StarqlReader
    writer: LineWriter
    pulses: dict[str, Pulse] = field(default_factory=dict)
    windows: list[StateWindow] = field(default_factory=list)
    pulse: Pulse | None = None
    shown: list[SparqlToken] = field(default_factory=list)
    """The variables that are shown, or aggregated."""
    grouped: list[str] = field(default_factory=list)
    static: frozenset[str] = frozenset()
    made: bool = False
    """CREATE STREAM has been read."""


def translate_starql(text: str, file: str, known: Known) -> RspQuery:
    """A query of STARQL as SPARQL, of which each token is on its line.

    Raises:
        QueryError: what is not read, or not safe, by its name and place.
    """
    tokens = Tokens(open_operators(text, file))
    query = _Query(StarqlReader(tokens, file, known), LineWriter(tokens))
    reader, writer = query.reader, query.writer
    _read_definitions(query)
    aggregates = _copy_form(query)
    while reader.is_word("FROM"):
        _read_sources(query)
    if not query.windows:
        raise reader.unexpected("FROM STREAM")
    if reader.is_word("USING"):
        _use_pulse(query)
    _copy_where(query)
    reader.need("SEQUENCE")
    reader.need("BY")
    if not reader.is_word("STDSEQ"):
        raise refuse(
            f"SEQUENCE BY {reader.token.text}",
            "states are those of one timestamp each",
            "write SEQUENCE BY StdSeq AS SEQ1",
            reader.place(),
        )
    reader.take()
    reader.need("AS")
    reader.take()
    group = _read_group(query)
    write_window = _WindowFilter(
        tuple(query.windows),
        query.pulse,
        tuple(known.step_us(w.part.stream) for w in query.windows),
    )
    shown = named(tuple(query.shown))
    conditions = ConditionWriter(
        writer, reader.place, write_window.check(), set(query.static | shown)
    )
    has = query.static
    if reader.is_word("HAVING") and not reader.ahead(1, "AGGREGATE"):
        reader.take()
        having = read_condition(reader)
        conditions.used |= free(having)
        conditions.write(having, query.static, {})
        has |= bound(having)
    writer.add("}")
    for token in query.shown:
        if token.text[1:] not in has:
            raise refuse(
                f"{token.text} is shown, and has no value",
                "no pattern of WHERE, and no GRAPH that must hold, has it; what EXISTS quantifies "
                "is its own",
                "write a pattern of it, or leave it out behind EXISTS … IN …",
                reader.place(token),
            )
    group = group or _read_group(query)
    _write_group(query, group, conditions, aggregates=aggregates)
    if reader.at < len(tokens.tokens):
        raise reader.unexpected("the end")
    parts = tuple(w.part for w in query.windows)
    seen = tuple((time, parts) for time in conditions.times)
    return RspQuery(writer.text, seen, "rstream", writer.columns, _warn(query.pulse))


def _read_definitions(query: _Query) -> None:
    """What stands before the form: prefixes, pulses, and the name of the stream that is made."""
    reader, writer = query.reader, query.writer
    while reader.is_word("PREFIX", "BASE", "CREATE"):
        word = reader.take()
        if word.text.upper() == "BASE":
            writer.put(word)
            writer.put(reader.take())
            continue
        if word.text.upper() == "PREFIX":
            prefix, iri = reader.take(), reader.token
            reader.prefixes[prefix.text.removesuffix(":")] = iri.text[1:-1]
            for token in (word, prefix, reader.take()):
                writer.put(token)
            continue
        what = reader.place()
        kind = reader.need("PULSE", "STREAM").text.upper()
        if kind == "PULSE":
            name, pulse = read_pulse(reader)
            query.pulses[name] = pulse
        elif query.made:
            raise refuse(
                "a second CREATE STREAM",
                "a file has one query",
                "write each into a file of its own",
                what,
            )
        else:
            query.made = True
            reader.take()
            reader.need("AS")


def _copy_form(query: _Query) -> bool:
    """SELECT, or CONSTRUCT GRAPH NOW; whether it has aggregates."""
    reader, writer = query.reader, query.writer
    word = reader.need("SELECT", "CONSTRUCT")
    if word.text.upper() == "CONSTRUCT":
        writer.put(word)
        if reader.is_word("GRAPH"):
            reader.take()
            reader.need("NOW")
        while True:
            token = reader.take()
            writer.put(token)
            if token.kind == "var":
                query.shown.append(token)
            if token.text == "}":
                return False
    if reader.is_word("DISTINCT"):
        reader.take()
    braces = reader.token.text == "{"
    if braces:
        reader.take()
    start, shown, aggregates = reader.at, list[SparqlToken](), False
    while reader.token.text != "}" and not reader.is_word("FROM"):
        aggregates |= reader.is_word(*_AGGREGATES)
        shown.append(reader.take())
    writer.put(word)
    if not aggregates:
        writer.add("DISTINCT")
    reader.at = start
    while reader.token.text != "}" and not reader.is_word("FROM"):
        _copy_item(query)
    if braces:
        reader.need_text("}")
    return aggregates


def _copy_item(query: _Query) -> None:
    """A variable, or `MAX(?z) AS ?m`."""
    reader, writer = query.reader, query.writer
    if reader.token.text == ",":
        reader.take()
    elif reader.token.kind == "var":
        query.shown.append(reader.token)
        query.grouped.append(reader.token.text)
        writer.put(reader.take())
    elif reader.is_word(*_AGGREGATES) or reader.token.text == "(":
        writer.add("(")
        while not reader.is_word("AS"):
            query.shown += [reader.token] * (reader.token.kind == "var")
            writer.put(reader.take())
        writer.put(reader.take())
        if reader.token.kind != "var":
            raise reader.unexpected("a variable")
        writer.put(reader.take())
        writer.add(")")
    else:
        raise reader.unexpected("a variable, or an aggregate AS a variable")


def _read_sources(query: _Query) -> None:
    """`FROM STREAM …, STATIC ABOX <…>, STATIC TBOX <…>`."""
    reader = query.reader
    reader.take()
    while True:
        if reader.is_word("STATIC"):
            reader.take()
            reader.need("ABOX", "TBOX", "DATA", "ONTOLOGY")
            reader.take()  # what is static is what the project has
        elif reader.is_word("STREAM"):
            reader.take()
            query.windows.append(read_window(reader))
        else:
            query.windows.append(read_window(reader))
        if reader.token.text != ",":
            return
        reader.take()


def _use_pulse(query: _Query) -> None:
    reader = query.reader
    reader.take()
    reader.need("PULSE")
    place, name = reader.place(), reader.take().text
    if name not in query.pulses:
        known = ", ".join(query.pulses) or "no pulse"
        raise refuse(
            f"USING PULSE {name}",
            f"CREATE PULSE makes {known}",
            "write the same name in both places",
            place,
        )
    query.pulse = query.pulses[name]


def _copy_where(query: _Query) -> None:
    """Patterns of static data; the group stays open."""
    reader, writer = query.reader, query.writer
    if not reader.is_word("WHERE"):
        writer.add("WHERE {")
        return
    writer.put(reader.take())
    if reader.token.text != "{":
        raise reader.unexpected("{")
    depth, start = 0, reader.at
    while True:
        if reader.is_word("GRAPH"):
            raise refuse(
                "GRAPH in WHERE",
                "WHERE is of static data, and states are in HAVING",
                "write EXISTS i IN SEQ ( GRAPH i { … } ) in HAVING",
                reader.place(),
            )
        depth += {"{": 1, "}": -1}.get(reader.token.text, 0)
        token = reader.take()
        if not depth:
            break
        writer.put(token)
    query.static = named(reader.tokens.tokens[start : reader.at])
    if _ends_open(reader, start):
        writer.add(".")


def _ends_open(reader: StarqlReader, start: int) -> bool:
    """Whether the last triple of WHERE has no full stop."""
    inside = reader.tokens.tokens[start + 1 : reader.at - 1]
    return bool(inside) and inside[-1].text not in (".", "}", ")")


def _read_group(query: _Query) -> tuple[SparqlToken, ...]:
    reader, made = query.reader, list[SparqlToken]()
    if reader.at < len(reader.tokens.tokens) and reader.is_word("GROUP"):
        made.append(reader.take())
        made.append(reader.need("BY"))
        while reader.at < len(reader.tokens.tokens) and reader.token.kind == "var":
            made.append(reader.take())
            if reader.at < len(reader.tokens.tokens) and reader.token.text == ",":
                reader.take()
    return tuple(made)


def _write_group(
    query: _Query, group: tuple[SparqlToken, ...], conditions: ConditionWriter, *, aggregates: bool
) -> None:
    """GROUP BY, and HAVING AGGREGATE."""
    reader, writer = query.reader, query.writer
    for token in group:
        writer.put(token)
    if aggregates and not group and query.grouped:
        writer.add(f"GROUP BY {' '.join(query.grouped)}")
    if reader.at == len(reader.tokens.tokens) or not reader.is_word("HAVING"):
        return
    writer.put(reader.take())
    reader.need("AGGREGATE")
    place, having = reader.place(), read_condition(reader)
    if not is_plain(having):
        raise refuse(
            "GRAPH, EXISTS or FORALL in HAVING AGGREGATE",
            "it is of groups, and compares aggregates",
            "write them in the HAVING before GROUP BY",
            place,
        )
    writer.add("(")
    conditions.write_formula(having, {})
    writer.add(")")


@dataclass(frozen=True, slots=True)
class _WindowFilter:
    """Writes the FILTER by which a state is in the window."""

    windows: tuple[StateWindow, ...]
    pulse: Pulse | None
    steps: tuple[int, ...]
    """How far apart timestamps of the streams are."""

    def check(self) -> "_WindowFilter":
        """Raise QueryError for windows that differ, or do not move with the pulse."""
        first, *others = self.windows
        for other in others:
            if replace(other, part=first.part, place=first.place) != first:
                raise refuse(
                    "streams with windows that differ",
                    "a sequence has the states of all of them, each as long as its own window",
                    "give them one window and one slide",
                    other.place,
                )
        slow = max(first.slide_us, self.every_us)
        if slow % first.slide_us or slow % self.every_us:
            raise refuse(
                "a slide that is no multiple of the pulse's FREQUENCY, nor the other way round",
                "the window would move at times that are not equally far apart",
                "write the same time in both",
                first.place,
            )
        return self

    @property
    def every_us(self) -> int:
        """How often the query is asked."""
        return self.windows[0].slide_us if self.pulse is None else self.pulse.every_us

    def __call__(self, time: str) -> str:
        """The FILTER of a time."""
        window = self.windows[0]
        step = max(window.slide_us, self.every_us)
        start = None if self.pulse is None else self.pulse.start
        origin = ""
        if start is not None and int((start - _EPOCH).total_seconds() * 1_000_000) % step:
            time_text = start.replace(tzinfo=None).isoformat()
            origin = f', "{time_text}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
        now = f"<urn:ontoweir:floor>(NOW(), {write_duration(step)}{origin})"
        begin = f" - {write_duration(window.begin_us)}" if window.begin_us else ""
        end = f" - {write_duration(window.end_us)}" if window.end_us else ""
        if not origin and not end and not any(own % step for own in self.steps):
            return f"FILTER(?{time} >= {now}{begin})"  # each is asked at its own time
        return f"FILTER(?{time} >= {now}{begin} && ?{time} <= {now}{end})"


def _warn(pulse: Pulse | None) -> tuple[tuple[str, Source], ...]:
    if pulse is None or not pulse.ends:
        return ()
    said = (
        "START and END of a pulse say at which times it is counted, and do not leave answers "
        "out: give the times of a replay with --from and --to"
    )
    return ((said, pulse.place),)
