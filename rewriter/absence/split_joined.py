"""Solutions that come and go by themselves, side by side in a SPARQL text, as texts of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.lift_clauses import tidy_stops
from ontoweir.rewriter.clauses.list_items import (
    Item,
    ItemKind,
    close_of,
    is_now,
    is_select,
    list_bound,
    list_items,
    list_variables,
)
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_BESIDE = (ItemKind.ABSENT, ItemKind.PRESENT)
_STATIC = (ItemKind.TRIPLES, ItemKind.VALUES)
_KINDS = {
    ItemKind.OPTIONAL: JoinKind.LEFT,
    ItemKind.ABSENT: JoinKind.ABSENT,
    ItemKind.PRESENT: JoinKind.PRESENT,
}
_SIGNS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@dataclass(frozen=True, slots=True)
class PartOfText:
    """`text`: a query of the solutions of a part, of `variables`; `kind`: it is in OPTIONAL, or
    must be there, or must not; `said`: what is compared of its variables and those before it,
    with an operator of SQL."""

    text: str
    variables: tuple[str, ...]
    kind: JoinKind
    said: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class JoinedText:
    """`parts`, which are joined where variables of one name are equal; `head`: what is shown."""

    parts: tuple[PartOfText, ...]
    head: tuple[str, ...]
    distinct: bool


@dataclass
class _Part:
    """The places of its items, of what is `bound` in it; `own`: the variables that a subquery
    shows (None: it is none)."""

    kept: list[tuple[int, int]]
    bound: set[str]
    time: str = ""
    kind: JoinKind = JoinKind.INNER
    own: tuple[str, ...] | None = None
    beside: list[Item] = field(default_factory=list)
    said: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def left(self) -> bool:
        """Whether it is no part of what is before it."""
        return self.kind is not JoinKind.INNER

    @property
    def is_shown(self) -> bool:
        """Whether others may read its variables."""
        return self.kind in (JoinKind.INNER, JoinKind.LEFT)


def split_joined(text: str) -> JoinedText | None:
    """`GRAPH ?t { A } … GRAPH ?u { B } FILTER NOT EXISTS { … }`, several GRAPHs of times of their
    own, in braces, subqueries of plain variables or OPTIONAL or in none of these, each with the
    conditions of its variables alone, with comparisons of two variables of two of them, and with
    static patterns; and FILTER NOT EXISTS and EXISTS of a GRAPH in a window, or of the latest of
    each key (None: it is something else).

    The join of groups does not depend on their order, where all variables have values; those of
    OPTIONAL that others read must be bound before it.

    Args:
        text: a query.
    """
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or close_of(tokens, opens) != len(tokens) - 1 or is_select(tokens, opens):
        return None
    items = list_items(tokens, opens)
    head = read_head(tokens, 0, opens)
    parts = None if head is None else _list_parts(tokens, items)
    if head is None or parts is None or len(parts) < 2:
        return None
    select, names, distinct = head
    bound = {v for part in parts if part.is_shown for v in part.bound}
    shown = [v for v in list_variables(tokens, range(opens, len(tokens))) if v in bound]
    names = shown if names == ["*"] else names
    if not set(names) <= bound or not _place(tokens, items, parts):
        return None
    parts.sort(key=lambda p: (p.left, not p.is_shown))
    made = []
    for part in parts:
        wanted = part.own or _list_wanted(tokens, parts, part, names)
        one = _write(text, select, opens, part, wanted)
        made.append(PartOfText(one, tuple(wanted), part.kind, tuple(part.said)))
    return JoinedText(tuple(made), tuple(names), distinct)


def read_head(
    tokens: Sequence[SparqlToken], start: int, opens: int
) -> tuple[int, list[str], bool] | None:
    """The place of SELECT before a group, the plain variables that it names (["*"]: all), and
    whether it is DISTINCT (None: it is something else)."""
    places = [n for n in range(start, opens) if tokens[n].text.upper() == "SELECT"]
    if not places:
        return None
    rest = list(tokens[places[-1] + 1 : opens])
    distinct = bool(rest) and rest[0].text.upper() == "DISTINCT"
    rest = rest[1:] if distinct else rest
    if rest and rest[-1].text.upper() == "WHERE":
        rest = rest[:-1]
    if [t.text for t in rest] == ["*"]:
        return places[-1], ["*"], distinct
    if not rest or any(t.kind != "var" for t in rest):
        return None
    return places[-1], [t.text[1:] for t in rest], distinct


def _list_parts(tokens: Sequence[SparqlToken], items: Sequence[Item]) -> list[_Part] | None:
    """The parts, with what is in their own braces (None: some item is none of these)."""
    parts: list[_Part] = []
    for item in items:
        if item.kind is ItemKind.GRAPH:
            time = _time_of(tokens, item)
            same = next((p for p in parts if p.time == time and not p.left), None)
            if not time:
                return None
            if same is None:
                same = _Part([], set(), time)
                parts.append(same)
            same.kept.append((item.first, item.last))
            same.bound |= set(list_variables(tokens, item.places))
        elif item.kind in (ItemKind.GROUP, ItemKind.OPTIONAL) or _is_apart(tokens, item):
            made = _read_group(tokens, item)
            if made is None:
                return None
            parts.append(made)
        elif item.kind not in (*_STATIC, *_BESIDE, ItemKind.FILTER):
            return None
    return parts


def _is_apart(tokens: Sequence[SparqlToken], item: Item) -> bool:
    """Whether it is NOT EXISTS, or EXISTS, of a GRAPH in a window or of the latest of each key, so
    that what is found comes and goes by itself."""
    if item.kind not in _BESIDE or len(item.braces) != 1 or is_select(tokens, item.braces[0][0]):
        return False
    inner = list_items(tokens, item.braces[0][0])
    now = any(is_now(tokens[n]) for i in inner if i.kind is ItemKind.FILTER for n in i.places)
    return now or any(i.kind is ItemKind.ABSENT for i in inner)


def _time_of(tokens: Sequence[SparqlToken], item: Item) -> str:
    """The variable of GRAPH ("": a constant)."""
    word = tokens[item.first + 1]
    plain = [t.text.upper() for t in tokens[item.first + 2 : item.last]]
    clauses = {"FILTER", "OPTIONAL", "MINUS", "BIND", "VALUES", "UNION", "SELECT"}
    return "" if word.kind != "var" or clauses & {*plain} else word.text[1:]


def _read_group(tokens: Sequence[SparqlToken], item: Item) -> _Part | None:
    """A group, a subquery, or what is in OPTIONAL."""
    if len(item.braces) != 1:
        return None
    ((first, last),) = item.braces
    kind = _KINDS.get(item.kind, JoinKind.INNER)
    left = kind is not JoinKind.INNER
    if is_select(tokens, first):
        opens = next((n for n in range(first + 1, last) if tokens[n].text == "{"), last)
        head = read_head(tokens, first, opens)
        if left or head is None or head[2] or head[1] == ["*"]:
            return None
        if close_of(tokens, opens) != last - 1:
            return None
        return _Part([(first + 1, last - 1)], set(head[1]), own=tuple(head[1]))
    inner = list_items(tokens, first)
    graphs = [i for i in inner if i.kind is ItemKind.GRAPH]
    wanted = (ItemKind.GRAPH, ItemKind.FILTER, *_BESIDE)
    if len(graphs) != 1 or any(i.kind not in wanted for i in inner):
        return None
    time = _time_of(tokens, graphs[0])
    part = _Part([(graphs[0].first, graphs[0].last)], list_bound(tokens, graphs), time, kind)
    for one in inner:
        if one.kind is ItemKind.GRAPH:
            continue
        if (
            one.kind is ItemKind.FILTER
            and not set(list_variables(tokens, one.places)) <= part.bound
        ):
            compared = _read_comparison(tokens, one) if left else None
            if compared is None or not {compared[0], compared[2]} & part.bound:
                return None
            part.said.append(compared)
            continue
        part.kept.append((one.first, one.last))
        part.beside += [one] if one.kind in _BESIDE else []
    return part if time else None


def _read_comparison(tokens: Sequence[SparqlToken], item: Item) -> tuple[str, str, str] | None:
    """FILTER(?one < ?other)."""
    words = tokens[item.first + 1 : item.last + 1]
    if len(words) != 5 or words[1].kind != "var" or words[3].kind != "var":
        return None
    if words[0].text != "(" or words[2].text not in _SIGNS:
        return None
    return words[1].text[1:], _SIGNS[words[2].text], words[3].text[1:]


def _place(tokens: Sequence[SparqlToken], items: Sequence[Item], parts: list[_Part]) -> bool:
    """Whether all that is said is of some part, to which it is added."""
    plain = [p for p in parts if not p.left]
    waiting = [i for i in items if i.kind in _STATIC]
    absent = [i for i in items if i.kind in _BESIDE and not _is_apart(tokens, i)]
    named = {v for i in absent for v in list_variables(tokens, i.places)}
    homes = sorted(plain, key=lambda p: bool(p.beside) or p.time in named)  # first rows alone
    while waiting:
        found = next(_find_homes(tokens, waiting, homes), None)
        if found is None:
            return False
        item, part = found
        if any(tokens[n].text.upper() == "UNDEF" for n in item.places):
            return False
        part.kept.append((item.first, item.last))
        part.bound |= set(list_variables(tokens, item.places))
        waiting.remove(item)
    if not _are_bound_before(tokens, items, parts):
        return False
    bound = {v for part in parts if part.is_shown for v in part.bound}
    for item in items:
        if item.kind is not ItemKind.FILTER and item not in absent:
            continue
        read = set(list_variables(tokens, item.places))
        read = read & bound if item.kind in _BESIDE else read
        home = next((p for p in plain if read <= p.bound and p.own is None), None)
        if home is not None:
            home.kept.append((item.first, item.last))
            home.beside += [item] if item.kind in _BESIDE else []
            continue
        compared = _read_comparison(tokens, item) if item.kind is ItemKind.FILTER else None
        if compared is None:
            return False
        one, _, other = compared
        last = max((n for n, p in enumerate(plain) if {one, other} & p.bound), default=None)
        if last is None or not {one, other} <= {v for p in plain for v in p.bound}:
            return False
        plain[last].said.append(compared)
    return all(_is_own(tokens, part, bound) for part in parts)


def _find_homes(
    tokens: Sequence[SparqlToken], items: Sequence[Item], parts: Sequence[_Part]
) -> Iterator[tuple[Item, _Part]]:
    """Static patterns, and parts that bind a variable of theirs."""
    for item in items:
        read = set(list_variables(tokens, item.places))
        for part in parts:
            if part.own is None and read & part.bound:
                yield item, part


def _are_bound_before(
    tokens: Sequence[SparqlToken], items: Sequence[Item], parts: Sequence[_Part]
) -> bool:
    """Whether what OPTIONAL shares with others has a value before it."""
    optional = [i for i in items if i.kind is ItemKind.OPTIONAL or _is_apart(tokens, i)]
    left = [p for p in parts if p.left]
    plain = {v for p in parts if not p.left for v in p.bound}
    for item, part in zip(optional, left, strict=True):
        before = list_bound(tokens, [i for i in items if i.last < item.first])
        others = {v for p in parts if p is not part and p.is_shown for v in p.bound}
        before = before if part.is_shown else plain  # NOT EXISTS sees all of its group
        others |= {v for a, _, b in part.said for v in (a, b)} - part.bound
        read = set(list_variables(tokens, item.places))
        if not read & others <= before:
            return False
        mine = part.bound - before
        for other in items:
            alike = not part.is_shown and _is_apart(tokens, other)  # the name is of each of both
            if other is not item and not alike and mine & {*list_variables(tokens, other.places)}:
                return False
    return True


def _is_own(tokens: Sequence[SparqlToken], part: _Part, bound: set[str]) -> bool:
    """Whether what is beside a part reads nothing of the others."""
    read = {v for i in part.beside for v in list_variables(tokens, i.places)}
    return read & bound <= part.bound


def _list_wanted(
    tokens: Sequence[SparqlToken], parts: Sequence[_Part], part: _Part, names: Sequence[str]
) -> list[str]:
    """The variables of a part that are shown, are those of others too, or tell what is beside."""
    others = (p for p in parts if p is not part and (p.is_shown or part.is_shown))
    wanted = {*names, *(v for p in others for v in p.bound)}
    wanted |= {v for p in parts for a, _, b in p.said for v in (a, b)}
    wanted |= {v for i in part.beside for v in list_variables(tokens, i.places)} - {part.time}
    places = (n for first, last in part.kept for n in range(first, last + 1))
    made = [v for v in list_variables(tokens, places) if v in part.bound & wanted]
    return made or [part.time]


def _write(text: str, select: int, opens: int, part: _Part, wanted: Sequence[str]) -> str:
    """The text of a part, on its lines."""
    edit = Edit(text)
    kept = {n for first, last in part.kept for n in range(first, last + 1)}
    end = len(edit.tokens) - 1
    for n in range(opens + 1, end):
        if n not in kept:
            edit.blank(n, n)
    for first, _ in part.kept if part.own is None else ():
        edit.before(first, " . ")
    if part.own is not None:
        edit.blank(select, opens)
        edit.blank(end, end)
        return edit.finish()
    edit.blank(select + 1, opens - 1)
    edit.after(select, " " + " ".join(f"?{v}" for v in wanted) + " ")
    return tidy_stops(edit.finish())
