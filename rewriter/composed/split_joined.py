"""Solutions that come and go by themselves, side by side in a SPARQL text, as texts of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.lift_clauses import tidy_stops
from ontoweir.rewriter.clauses.list_items import (
    Item,
    ItemKind,
    close_of,
    is_now,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.composed.list_visible import list_given
from ontoweir.rewriter.composed.place_items import place_items
from ontoweir.rewriter.composed.read_select import Head, read_select
from ontoweir.rewriter.composed.text_part import TextPart, list_parts
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


@dataclass(frozen=True, slots=True)
class PartOfText:
    """`text`: a query of the solutions of a part, of `variables`; `kind`: it is in OPTIONAL, or
    must be there, or must not; `said`: what is compared of its variables and those before it,
    with an operator of SQL; `on`: a query of one row of all variables with the FILTERs that it is
    joined by (None: there are none); `static`: it is of patterns that always hold."""

    text: str
    variables: tuple[str, ...]
    kind: JoinKind
    said: tuple[tuple[str, str, str], ...]
    on: str | None = None
    static: bool = False

    @property
    def counts(self) -> bool:
        """Whether it may group, in a SELECT within it too: how often solutions are found is told
        then."""
        words = [t.text.upper() for t in Tokens(self.text).tokens]
        computes = "AS" in words[: words.index("{")]
        return computes or words.count("SELECT") > 1 or bool({"GROUP", "LIMIT"} & {*words})


@dataclass(frozen=True, slots=True)
class JoinedText:
    """`parts`, which are joined where variables of one name are equal; `head`: what is shown, or
    read by `around`: a query of one row of them that computes and groups what is joined (None:
    nothing is). `late`: variables that may have no value; `unites`: they are sides of a UNION."""

    parts: tuple[PartOfText, ...]
    head: tuple[str, ...]
    distinct: bool
    around: str | None
    late: frozenset[str]
    unites: bool = False


def split_joined(text: str, *, around: bool = False) -> JoinedText | None:
    """`GRAPH ?t { A } … GRAPH ?u { B } FILTER NOT EXISTS { … }`, several GRAPHs of times of their
    own, in braces, subqueries of variables or of groups, or OPTIONAL or in none of these, each with
    the conditions of its variables alone; FILTERs and BINDs of several of them; static patterns;
    FILTER NOT EXISTS and EXISTS of a GRAPH in a window, of the latest of each key, or of a
    subquery; and what SELECT computes and groups of them (None: it is something else).

    The join of groups does not depend on their order, where all variables have values; those of
    OPTIONAL that others read must be bound before it.

    Args:
        text: a query.
        around: FILTERs of values of the latest of keys are said of what is joined, which may then
            be one part.
    """
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or is_select(tokens, opens):
        return None
    closes = close_of(tokens, opens)
    items, head = list_items(tokens, opens), read_select(tokens, 0, opens)
    parts = None if head is None else list_parts(tokens, items, around=around)
    rest = None if parts is None else place_items(tokens, items, parts, around=around)
    if head is None or parts is None or rest is None:
        return None
    if not _are_parts(tokens, rest, parts, around=around):
        return None
    if not all(part.bound or part.time for part in parts):
        return None
    after = range(closes + 1, len(tokens))
    if any(tokens[n].text.upper() in ("VALUES", "{") for n in after):
        return None
    bound = {v for part in parts if part.is_shown for v in part.bound}
    named = [v for v in list_variables(tokens, range(opens, closes)) if v in bound]
    made = [list_variables(tokens, i.places)[-1] for i in rest if i.kind is ItemKind.BIND]
    shown = [*named, *made] if head.is_all else list(head.names)
    computed = head.computes or bool(rest) or bool(after)
    if not computed and not set(shown) <= bound:
        return None
    if not computed and len(parts) == 1 and parts[0].united:
        return None  # it is split by split_union
    if computed:
        places = [*range(head.place, opens), *after, *(n for i in rest for n in i.places)]
        read = {*list_variables(tokens, places)} | ({*named} if head.is_all else set())
        wanted = [v for v in named if v in read] or _pick(tokens, named, items)
    else:
        wanted = shown
    parts.sort(key=lambda p: (p.left, not p.is_shown))
    writer = _Writer(text, tokens, head, (opens, closes), parts)
    return JoinedText(
        tuple(writer.write_part(part, wanted) for part in parts),
        tuple(wanted),
        head.distinct,
        writer.write_around(shown, rest, wanted) if computed else None,
        _list_late(tokens, parts, rest),
    )


def _pick(tokens: Sequence[SparqlToken], named: Sequence[str], items: Sequence[Item]) -> list[str]:
    """A variable, where none is read: one that has a value on all sides of a UNION."""
    sides = [
        list_given(tokens, [replace(item, braces=(brace,))])
        for item in items
        if item.kind is ItemKind.GROUP and len(item.braces) > 1
        for brace in item.braces
    ]
    every = {v for side in sides for v in side}
    loose = {v for v in every if not all(v in side for side in sides)}
    return [v for v in named if v not in loose][:1] or list(named[:1])


def _are_parts(
    tokens: Sequence[SparqlToken],
    rest: Sequence[Item],
    parts: Sequence[TextPart],
    *,
    around: bool,
) -> bool:
    """Whether there are several, or one of groups; and what is computed is of their values."""
    said = [*rest, *(i for p in parts for i in p.on)]
    plain = not any(tokens[n].text == "{" or is_now(tokens[n]) for i in said for n in i.places)
    several = len(parts) > 1 or any(p.grouped for p in parts)
    return plain and (several or (around and bool(rest or any(p.on for p in parts))))


def _list_late(
    tokens: Sequence[SparqlToken], parts: Sequence[TextPart], rest: Sequence[Item]
) -> frozenset[str]:
    """The variables of OPTIONAL, of aggregates, which may have no value over nothing, of BINDs, and
    of FILTERs, also of those by which parts are joined, which are then computed."""
    said = [*rest, *(i for p in parts for i in p.on)]
    late = {v for i in said for v in list_variables(tokens, i.places)}
    plain = {v for p in parts if not p.left and not p.grouped for v in p.bound}
    others = {v for p in parts if p.is_shown and (p.left or p.grouped) for v in p.bound}
    return frozenset(late | (others - plain))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the texts, on the lines of the text."""

    text: str
    tokens: Sequence[SparqlToken]
    head: Head
    braces: tuple[int, int]
    parts: Sequence[TextPart]

    def write_part(self, part: TextPart, names: Sequence[str]) -> PartOfText:
        wanted = part.own or self._list_wanted(part, names)
        on = None
        if part.on:
            read = [v for i in part.on for v in list_variables(self.tokens, i.places)]
            on = self.write_around(("*",), part.on, tuple(dict.fromkeys(read)))
        said = tuple(part.said)
        text = self._write(part, wanted)
        return PartOfText(text, tuple(wanted), part.kind, said, on, part.static)

    def _list_wanted(self, part: TextPart, names: Sequence[str]) -> list[str]:
        """The variables of a part that are shown, are those of others too, or tell what is beside
        them."""
        others = (p for p in self.parts if p is not part and (p.is_shown or part.is_shown))
        wanted = {*names, *(v for p in others for v in p.bound)}
        wanted |= {v for p in self.parts for a, _, b in p.said for v in (a, b)}
        beside = (i for p in self.parts for i in p.on)
        wanted |= {v for i in beside for v in list_variables(self.tokens, i.places)}
        mine = {v for i in part.beside for v in list_variables(self.tokens, i.places)}
        wanted |= mine - {part.time}
        places = (n for first, last in part.kept for n in range(first, last + 1))
        made = [v for v in list_variables(self.tokens, places) if v in part.bound & wanted]
        return made or [part.time or min(part.bound)]

    def _write(self, part: TextPart, wanted: Iterable[str]) -> str:
        """The text of a part."""
        opens, closes = self.braces
        edit = Edit(self.text)
        kept = {n for first, last in part.kept for n in range(first, last + 1)}
        for n in range(opens + 1, closes):
            if n not in kept:
                edit.blank(n, n)
        for first, _ in part.kept if part.own is None else ():
            edit.before(first, " . ")
        edit.blank(closes + 1, len(self.tokens) - 1)
        if part.own is not None:
            edit.blank(self.head.place, opens)
            edit.blank(closes, closes)
            return edit.finish()
        edit.blank(self.head.place + 1, opens - 1)
        edit.after(self.head.place, " " + " ".join(f"?{v}" for v in wanted) + " ")
        return tidy_stops(edit.finish())

    def write_around(self, shown: Sequence[str], rest: Sequence[Item], read: Sequence[str]) -> str:
        """The text of what is said of one row of the variables that are read."""
        opens, closes = self.braces
        edit = Edit(self.text)
        kept = {n for i in rest for n in i.places}
        for n in range(opens + 1, closes):
            if n not in kept:
                edit.blank(n, n)
        taken = {t.text[1:] for t in self.tokens if t.kind == "var"}
        row = next(name for n in count() if (name := f"row{n or ''}") not in taken)
        edit.after(opens, " " + " ".join(f"?{row} <{ROW}{v}> ?{v} ." for v in read) + " ")
        if self.head.is_all or tuple(shown) == ("*",):
            names = read if tuple(shown) == ("*",) else shown
            edit.blank(self.head.place + 1, opens - 1)
            edit.after(self.head.place, " " + " ".join(f"?{v}" for v in names) + " ")
            if tuple(shown) == ("*",):
                edit.blank(closes + 1, len(self.tokens) - 1)
        return edit.finish()


ROW = "urn:ontoweir:row/"
"""How the properties of a row of joined solutions begin."""
