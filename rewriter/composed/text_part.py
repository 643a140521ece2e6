"""The parts of a SPARQL group whose solutions come and go by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ontoweir.rewriter.clauses.list_items import (
    Item,
    ItemKind,
    close_of,
    is_now,
    is_select,
    list_items,
    list_variables,
)
from ontoweir.rewriter.composed.list_visible import list_given, list_visible
from ontoweir.rewriter.composed.read_select import read_select
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

BESIDE = (ItemKind.ABSENT, ItemKind.PRESENT)
STATIC = (ItemKind.TRIPLES, ItemKind.VALUES)
_KINDS = {
    ItemKind.OPTIONAL: JoinKind.LEFT,
    ItemKind.ABSENT: JoinKind.ABSENT,
    ItemKind.PRESENT: JoinKind.PRESENT,
    ItemKind.MINUS: JoinKind.ABSENT,
}
_SIGNS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@dataclass
class TextPart:
    """The places of its items, of what is `bound` in it; `own`: the variables that a subquery
    shows (None: it is none). `on`: FILTERs of it and of what is before it; `static`: it is of
    patterns that always hold; `grouped`: it is of groups, or distinct; `minus`: it is of MINUS;
    `united`: of UNION; `closed`: no more is said in its own query; `apart`: variables of clauses
    in its braces, which are not those of what is around these."""

    kept: list[tuple[int, int]]
    bound: set[str]
    time: str = ""
    kind: JoinKind = JoinKind.INNER
    own: tuple[str, ...] | None = None
    beside: list[Item] = field(default_factory=list)
    said: list[tuple[str, str, str]] = field(default_factory=list)
    on: list[Item] = field(default_factory=list)
    static: bool = False
    grouped: bool = False
    minus: bool = False
    apart: set[str] = field(default_factory=set)
    united: bool = False
    closed: bool = False

    @property
    def left(self) -> bool:
        """Whether it is no part of what is before it."""
        return self.kind is not JoinKind.INNER

    @property
    def is_open(self) -> bool:
        """Whether more may be said of its variables in its own query."""
        return self.own is None and not self.united and not self.closed

    @property
    def is_shown(self) -> bool:
        """Whether others may read its variables."""
        return self.kind in (JoinKind.INNER, JoinKind.LEFT)


def list_parts(
    tokens: Sequence[SparqlToken], items: Sequence[Item], *, around: bool = False
) -> list[TextPart] | None:
    """The parts, with what is in their own braces (None: some item is none of these).

    Args:
        tokens: of the text.
        items: of the outermost group.
        around: what is said of the latest of keys is said around them.
    """
    parts: list[TextPart] = []
    for item in items:
        if item.kind is ItemKind.GRAPH:
            time = _time_of(tokens, item)
            same = next((p for p in parts if p.time == time and not p.left), None)
            if not time:
                return None
            if same is None:
                same = TextPart([], set(), time)
                parts.append(same)
            same.kept.append((item.first, item.last))
            same.bound |= set(list_variables(tokens, item.places))
        elif item.kind in BESIDE and _is_cut(tokens, item):
            return None
        elif item.kind in (ItemKind.GROUP, ItemKind.OPTIONAL) or is_apart(tokens, item):
            made = _read_group(tokens, item, around=around)
            if made is None:
                return None
            made.minus = item.kind is ItemKind.MINUS
            if made.minus and (made.said or made.on):
                return None  # it sees nothing of what is around it
            parts.append(made)
        elif item.kind not in (*STATIC, *BESIDE, ItemKind.FILTER, ItemKind.BIND):
            return None
    return parts


def _is_cut(tokens: Sequence[SparqlToken], item: Item) -> bool:
    """Whether LIMIT is inside of it: values of solutions are put into EXISTS (SPARQL 1.1, 18.6), so
    that the first ones would be others for each solution."""
    return any(tokens[n].text.upper() in ("LIMIT", "OFFSET") for n in item.places)


def is_apart(tokens: Sequence[SparqlToken], item: Item) -> bool:
    """Whether it is NOT EXISTS, EXISTS or MINUS of a GRAPH in a window, of the latest of each key,
    or of a subquery, so that what is found comes and goes by itself; or MINUS of static patterns.
    """
    if item.kind not in (*BESIDE, ItemKind.MINUS) or len(item.braces) != 1:
        return False
    if is_select(tokens, item.braces[0][0]):
        return True
    inner = list_items(tokens, item.braces[0][0])
    if any(i.kind is ItemKind.GROUP and is_select(tokens, i.first) for i in inner):
        return True
    if item.kind is ItemKind.MINUS and is_static(inner):
        return True
    now = any(is_now(tokens[n]) for n in item.places)
    return now or any(i.kind is ItemKind.ABSENT for i in inner)


def _time_of(tokens: Sequence[SparqlToken], item: Item) -> str:
    """The variable of GRAPH, in which there are triples, FILTERs of them and VALUES ("": a
    constant, or of others)."""
    word = tokens[item.first + 1]
    inner = list_items(tokens, item.first + 2)
    bound = {
        v
        for i in inner
        if i.kind in (ItemKind.TRIPLES, ItemKind.VALUES)
        for v in list_variables(tokens, i.places)
    }
    for one in inner:
        words = {tokens[n].text.upper() for n in one.places}
        read = set(list_variables(tokens, one.places))
        filters = one.kind is ItemKind.FILTER and not one.braces and read <= bound
        values = one.kind is ItemKind.VALUES and "UNDEF" not in words
        if not filters and not values and one.kind is not ItemKind.TRIPLES:
            return ""
    return word.text[1:] if word.kind == "var" else ""


def _read_group(
    tokens: Sequence[SparqlToken], item: Item, *, around: bool = False
) -> TextPart | None:
    """A group, a subquery, what is in OPTIONAL, or a UNION."""
    if len(item.braces) > 1 and item.kind is ItemKind.GROUP:
        bound = list_given(tokens, [item])
        return TextPart([(item.first, item.last)], bound, grouped=True, united=True)
    if len(item.braces) != 1:
        return None
    first = item.braces[0][0]
    kind = _KINDS.get(item.kind, JoinKind.INNER)
    if is_select(tokens, first):
        return _read_subquery(tokens, first, kind)
    inner = list_items(tokens, first)
    selects = [i for i in inner if i.kind is ItemKind.GROUP and is_select(tokens, i.first)]
    alone = len(selects) == 1 and len(selects[0].braces) == 1  # and no side of a UNION
    if alone and all(i in selects or i.kind is ItemKind.FILTER for i in inner):
        part = _read_subquery(tokens, selects[0].first, kind)
        rest = [i for i in inner if i not in selects]
        apart = item.kind is ItemKind.MINUS and rest  # what it says is of its own
        if part is not None and not apart:
            return part if all(_put(tokens, part, i, inside=False) for i in rest) else None
    if selects:
        return _read_nested(tokens, inner, kind)
    if is_static(inner):
        return _read_static(tokens, inner, kind)
    graphs = [i for i in inner if i.kind is ItemKind.GRAPH]
    wanted = (ItemKind.GRAPH, ItemKind.FILTER, *BESIDE)
    if len(graphs) != 1 or any(i.kind not in wanted for i in inner):
        return _read_nested(tokens, inner, kind)
    time = _time_of(tokens, graphs[0])
    part = TextPart(
        [(graphs[0].first, graphs[0].last)],
        set(list_variables(tokens, graphs[0].places)),
        time,
        kind,
    )
    rest = [i for i in inner if i not in graphs]
    latest = around and any(one.kind is ItemKind.ABSENT for one in rest)
    put = (_put(tokens, part, i, inside=not (latest and is_said(tokens, i))) for i in rest)
    return part if time and all(put) else None


def is_said(tokens: Sequence[SparqlToken], item: Item) -> bool:
    """Whether it is a FILTER of values alone.

    Args:
        tokens: of the text.
        item: of a group.
    """
    filters = item.kind is ItemKind.FILTER and not item.braces
    return filters and not any(is_now(tokens[n]) for n in item.places)


def _read_nested(
    tokens: Sequence[SparqlToken], inner: Sequence[Item], kind: JoinKind
) -> TextPart | None:
    """Braces with several patterns, or clauses, as solutions of their own, which are joined with
    the others by what is bound in them: SPARQL evaluates them by themselves (18.2.2), and those of
    NOT EXISTS with values for variables that are bound in them, too."""
    bound = list_given(tokens, inner, optional=True)
    said = [
        i
        for i in inner
        if i.kind is ItemKind.FILTER
        and not i.braces
        and not set(list_variables(tokens, i.places)) <= bound
    ]
    own = [i for i in inner if i not in said]
    if not bound or not own:
        return None
    part = TextPart([(i.first, i.last) for i in own], bound, kind=kind, closed=True)
    part.apart = {v for i in own for v in list_visible(tokens, i)} - bound
    return part if all(_put(tokens, part, one, inside=False) for one in said) else None


def is_static(inner: Sequence[Item]) -> bool:
    """Whether items are of static patterns, with FILTERs.

    Args:
        inner: of a group.
    """
    kinds = {i.kind for i in inner}
    return ItemKind.TRIPLES in kinds and kinds <= {ItemKind.TRIPLES, ItemKind.FILTER}


def has_patterns(text: str) -> bool:
    """Whether a query of static patterns has more than VALUES, and FILTERs of these.

    Args:
        text: of the query.
    """
    tokens = Tokens(text).tokens
    opens = next(n for n, token in enumerate(tokens) if token.text == "{")
    plain = (ItemKind.VALUES, ItemKind.FILTER)
    return any(item.kind not in plain for item in list_items(tokens, opens))


def read_beside(tokens: Sequence[SparqlToken], item: Item) -> TextPart | None:
    """NOT EXISTS, or EXISTS, of static patterns as a part of its own (None: of others).

    Args:
        tokens: of the text.
        item: of the outermost group.
    """
    if len(item.braces) != 1 or is_select(tokens, item.braces[0][0]):
        return None
    inner = list_items(tokens, item.braces[0][0])
    return _read_static(tokens, inner, _KINDS[item.kind]) if is_static(inner) else None


def _read_static(
    tokens: Sequence[SparqlToken], inner: Sequence[Item], kind: JoinKind
) -> TextPart | None:
    """Static patterns in braces, or in OPTIONAL, with FILTERs."""
    triples = [i for i in inner if i.kind is ItemKind.TRIPLES]
    bound = {v for i in triples for v in list_variables(tokens, i.places)}
    part = TextPart([(i.first, i.last) for i in triples], bound, kind=kind, static=True)
    rest = [i for i in inner if i not in triples]
    return part if all(_put(tokens, part, one, inside=True) for one in rest) else None


def _put(tokens: Sequence[SparqlToken], part: TextPart, item: Item, *, inside: bool) -> bool:
    """Whether an item of a part's braces is read: it is of it alone, which may be said `inside` of
    its query; or a FILTER of it and of what is before it."""
    read = set(list_variables(tokens, item.places))
    if inside and (item.kind is not ItemKind.FILTER or read <= part.bound):
        part.kept.append((item.first, item.last))
        if item.kind in BESIDE:
            part.beside.append(item)
            part.apart |= read - part.bound
        return True
    if item.kind is not ItemKind.FILTER or item.braces or not read & part.bound:
        return False
    if not part.left and not read <= part.bound:
        return False
    compared = read_comparison(tokens, item)
    if compared is None or read <= part.bound:
        part.on.append(item)
    else:
        part.said.append(compared)
    return True


def _read_subquery(tokens: Sequence[SparqlToken], first: int, kind: JoinKind) -> TextPart | None:
    last = close_of(tokens, first)
    opens = next((n for n in range(first + 1, last) if tokens[n].text == "{"), last)
    head = read_select(tokens, first, opens)
    if head is None or head.is_all:
        return None
    grouped = head.computes or head.distinct or close_of(tokens, opens) != last - 1
    own = head.names
    return TextPart([(first + 1, last - 1)], {*own}, kind=kind, own=own, grouped=grouped)


def read_comparison(tokens: Sequence[SparqlToken], item: Item) -> tuple[str, str, str] | None:
    """FILTER(?one < ?other) as both, and an operator of SQL (None: it says something else)."""
    words = tokens[item.first + 1 : item.last + 1]
    if len(words) != 5 or words[1].kind != "var" or words[3].kind != "var":
        return None
    if words[0].text != "(" or words[2].text not in _SIGNS:
        return None
    return words[1].text[1:], _SIGNS[words[2].text], words[3].text[1:]
