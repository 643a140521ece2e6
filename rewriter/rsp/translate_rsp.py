"""RSP-QL and C-SPARQL as SPARQL with GRAPH ?t and NOW()."""

from ontoweir.errors import Source
from ontoweir.rewriter.rsp.read_head import (
    STREAMS,
    Reader,
    is_form,
    read_register,
    read_windows,
)
from ontoweir.rewriter.rsp.window import Known, RspQuery, RspWindow, refuse
from ontoweir.rewriter.rsp.write_body import BodyWriter
from ontoweir.rewriter.rsp.write_lines import LineWriter
from ontoweir.rewriter.syntax.locate_tokens import Tokens


def translate_rsp(text: str, file: str, known: Known) -> RspQuery:
    """A query of RSP-QL or C-SPARQL as SPARQL, of which each token is on its line.

    Raises:
        QueryError: what is not read, by its name and place.
    """
    tokens = Tokens(text)
    reader, writer = Reader(tokens, file, known), LineWriter(tokens)
    stream, every, asked = read_register(reader)
    while reader.is_word("PREFIX", "BASE"):
        _copy_prologue(reader, writer)
    if stream is None and every is None:
        stream, every, asked = read_register(reader)
    while reader.is_word("PREFIX", "BASE"):
        _copy_prologue(reader, writer)
    if not is_form(reader):
        raise reader.unexpected("SELECT or CONSTRUCT")
    windows: list[RspWindow] = []
    stream = _copy_head(reader, writer, windows) or stream
    for window in windows:
        _check(window, every, asked)
    named = {w.name: w for w in windows if w.name is not None}
    merged = tuple(w for w in windows if w.name is None)
    if merged and named:
        raise refuse(
            "FROM STREAM beside FROM NAMED WINDOW",
            "one is C-SPARQL's, the other one RSP-QL's",
            "write FROM NAMED WINDOW for each",
            merged[0].source,
        )
    body = BodyWriter(reader, writer, named, merged)
    body.write_group(())
    while reader.at < len(tokens.tokens):
        body.put()
    warnings = tuple(
        (f"the window {name} has no patterns, and changes no answer", window.source)
        for name, window in named.items()
        if name not in body.asked
    )
    taken = {t.text[1:] for t in tokens.tokens if t.kind == "var"} & body.seen.keys()
    if taken:
        raise refuse(
            f"a variable ?{min(taken)}",
            "times of windows are called so",
            "give it another name",
            Source(file, tokens.line_of(f"?{min(taken)}")),
        )
    return RspQuery(
        writer.text, tuple(body.seen.items()), stream or "rstream", writer.columns, warnings
    )


def _copy_prologue(reader: Reader, writer: LineWriter) -> None:
    """PREFIX or BASE."""
    word = reader.take()
    writer.put(word)
    if word.text.upper() == "PREFIX":
        prefix, iri = reader.take(), reader.token
        writer.put(prefix)
        reader.prefixes[prefix.text.removesuffix(":")] = iri.text[1:-1]
    writer.put(reader.take())


def _copy_head(reader: Reader, writer: LineWriter, windows: list[RspWindow]) -> str | None:
    """All up to the patterns; what is written, where it stands behind the form."""
    first = reader.take()
    form, stream = first.text.upper(), None
    if form == "DESCRIBE":
        raise refuse(
            f"{form} of windows",
            "what describes a resource is not defined",
            "write SELECT DISTINCT of a variable, which has rows while it holds",
            reader.place(first),
        )
    writer.put(first)
    if reader.is_word(*STREAMS):
        stream = reader.take().text.lower()
    depth = 0
    while True:
        token = reader.token
        if not depth and token.text == "*":
            raise refuse(
                "SELECT * of windows",
                "times of windows are variables, too",
                "write the variables that are shown",
                reader.place(),
            )
        if not depth and reader.is_word("FROM"):
            windows += read_windows(reader)
            continue
        if not depth and reader.is_word("WHERE"):
            writer.put(reader.take())
            return stream
        if not depth and token.text == "{" and form == "SELECT":
            return stream
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(token.text, 0)
        writer.put(reader.take())


def _check(window: RspWindow, every: int | None, asked: Source | None) -> None:
    """Raise QueryError for a query that is computed at other times than its windows move."""
    if every is not None and every != window.step_us:
        raise refuse(
            "COMPUTED EVERY another time than a window's STEP",
            "answers are those of the times at which windows move",
            "write the same time in both",
            asked or window.source,
        )
