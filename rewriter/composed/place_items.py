"""Of which parts of a SPARQL group what stands beside them is."""

from collections.abc import Iterator, Sequence

from ontoweir.rewriter.clauses.list_items import Item, ItemKind, list_variables
from ontoweir.rewriter.composed.list_visible import list_given, list_visible
from ontoweir.rewriter.composed.text_part import (
    BESIDE,
    STATIC,
    TextPart,
    is_apart,
    is_said,
    read_beside,
    read_comparison,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


def place_items(
    tokens: Sequence[SparqlToken],
    items: Sequence[Item],
    parts: list[TextPart],
    *,
    around: bool = False,
) -> list[Item] | None:
    """The FILTERs and BINDs that are said of what is joined, where all else is of some part, to
    which it is added; static patterns are one part if they are beside no other (None: something is
    of none).

    Args:
        tokens: of the text.
        items: of the outermost group.
        parts: of it, which are added to.
        around: FILTERs of values of the latest of keys are said of what is joined.
    """
    plain = [p for p in parts if not p.left]
    absent = [i for i in items if i.kind in BESIDE and not is_apart(tokens, i)]
    latest = {v for i in absent for v in list_variables(tokens, i.places)}
    _place_static(tokens, items, parts, latest)
    plain = [p for p in parts if not p.left]
    if any(_is_undefined(tokens, i) for i in items) or not _are_bound_before(tokens, items, parts):
        return None
    bound = {v for part in parts if part.is_shown for v in part.bound}
    made = _list_made(tokens, items, bound)
    if made is None:
        return None
    rest: list[Item] = []
    for item in items:
        if item.kind is ItemKind.BIND:
            rest.append(item)
        if item.kind is not ItemKind.FILTER and item not in absent:
            continue
        read = set(list_variables(tokens, item.places))
        read = read & bound if item.kind in BESIDE else read
        home = next((p for p in plain if read <= p.bound and p.is_open), None)
        if around and home is not None and home.time in latest and is_said(tokens, item):
            home = None
        apart = read_beside(tokens, item) if item.kind in BESIDE else None
        # beside the latest of keys, or what always holds
        alone = apart is not None and (len(parts) == 1 or (home is not None and home.static))
        if home is not None and not alone:
            home.kept.append((item.first, item.last))
            home.beside += [item] if item.kind in BESIDE else []
            continue
        if apart is not None and read <= {v for p in plain for v in p.bound}:
            parts.append(apart)
            continue
        if item.kind is not ItemKind.FILTER or item.braces or not read <= bound | made:
            return None
        compared = read_comparison(tokens, item)
        if compared is None or not _say(compared, plain):
            rest.append(item)
    return rest if all(_is_own(tokens, part, bound) for part in parts) else None


def _say(compared: tuple[str, str, str], plain: Sequence[TextPart]) -> bool:
    """Whether a comparison is of variables of two parts, where both have values."""
    one, _, other = compared
    last = max((n for n, p in enumerate(plain) if {one, other} & p.bound), default=None)
    if last is None or not {one, other} <= {v for p in plain for v in p.bound}:
        return False
    if {one, other} <= plain[last].bound:
        return False
    plain[last].said.append(compared)
    return True


def _place_static(
    tokens: Sequence[SparqlToken], items: Sequence[Item], parts: list[TextPart], named: set[str]
) -> None:
    """Put static patterns beside a part that binds a variable of theirs, rather one that is not
    the first or latest of keys (`named`: variables of NOT EXISTS); or in a part of their own."""
    waiting = [i for i in items if i.kind in STATIC]
    homes = sorted(
        (p for p in parts if not p.left), key=lambda p: bool(p.beside) or p.time in named
    )
    while waiting:
        found = next(_find_homes(tokens, waiting, homes), None)
        if found is None:
            break
        item, part = found
        part.kept.append((item.first, item.last))
        part.bound |= set(list_variables(tokens, item.places))
        waiting.remove(item)
    if waiting:
        bound = {v for i in waiting for v in list_variables(tokens, i.places)}
        parts.append(TextPart([(i.first, i.last) for i in waiting], bound, static=True))


def _is_undefined(tokens: Sequence[SparqlToken], item: Item) -> bool:
    """Whether VALUES leaves a variable without a value."""
    undefined = (tokens[n].text.upper() == "UNDEF" for n in item.places)
    return item.kind is ItemKind.VALUES and any(undefined)


def _find_homes(
    tokens: Sequence[SparqlToken], items: Sequence[Item], parts: Sequence[TextPart]
) -> Iterator[tuple[Item, TextPart]]:
    """Static patterns, and parts that bind a variable of theirs."""
    for item in items:
        read = set(list_variables(tokens, item.places))
        for part in parts:
            if part.is_open and read & part.bound:
                yield item, part


def _list_made(
    tokens: Sequence[SparqlToken], items: Sequence[Item], bound: set[str]
) -> set[str] | None:
    """The variables that BIND makes, of what is bound before it, and no pattern binds (None:
    others)."""
    made: set[str] = set()
    for item in items:
        if item.kind is not ItemKind.BIND:
            continue
        *read, name = list_variables(tokens, item.places)
        before = list_given(tokens, [i for i in items if i.last < item.first], optional=True)
        if not set(read) <= (before & bound) | made or name in made:
            return None
        made.add(name)
    others = (i for i in items if i.kind not in (ItemKind.BIND, ItemKind.FILTER))
    seen = {v for i in others for v in list_variables(tokens, i.places)}
    return None if made & seen else made


def _are_bound_before(
    tokens: Sequence[SparqlToken], items: Sequence[Item], parts: Sequence[TextPart]
) -> bool:
    """Whether what OPTIONAL shares with others has a value before it."""
    optional = [i for i in items if i.kind is ItemKind.OPTIONAL or is_apart(tokens, i)]
    left = [p for p in parts if p.left]
    plain = {v for p in parts if not p.left for v in p.bound}
    shown = {v for p in parts if p.is_shown for v in p.bound}
    compared = {
        item: _list_compared(tokens, part, item)
        for item, part in zip(optional, left, strict=True)
        if not part.is_shown and not part.minus
    }
    for item, part in zip(optional, left, strict=True):
        before = list_given(tokens, [i for i in items if i.last < item.first])
        others = {v for p in parts if p is not part and p.is_shown for v in p.bound}
        if part.minus and not part.bound & before:
            return False  # it takes nothing away
        before = (
            before if part.is_shown or part.minus else plain
        )  # NOT EXISTS sees all of its group
        others |= {v for a, _, b in part.said for v in (a, b)} - part.bound
        read = set(list_variables(tokens, item.places))
        before = before | compared.get(item, set()) & shown
        if part.own is not None:  # what it does not show has its own names
            said = {v for i in part.on for v in list_variables(tokens, i.places)}
            read = part.bound | (others & read if part.said else set()) | said
        if not read & others <= before:
            return False
        mine = part.bound - before
        for other in items:
            alike = not part.is_shown and is_apart(tokens, other)  # the name is of each of both
            visible = list_visible(tokens, other) - compared.get(other, set())
            if other is not item and not alike and mine & visible:
                if part.is_shown and other.kind in (ItemKind.BIND, ItemKind.FILTER):
                    continue  # it is said of what is joined
                return False
    return True


def _list_compared(tokens: Sequence[SparqlToken], part: TextPart, item: Item) -> set[str]:
    """The variables that FILTERs of NOT EXISTS or EXISTS alone have of it: without a value
    they are an error there, and there is no match."""
    compared = {v for i in part.on for v in list_variables(tokens, i.places)}
    compared |= {v for a, _, b in part.said for v in (a, b)}
    kept = {n for first, last in part.kept for n in range(first, last + 1)}
    return compared - {*list_variables(tokens, sorted(kept & {*item.places}))}


def _is_own(tokens: Sequence[SparqlToken], part: TextPart, bound: set[str]) -> bool:
    """Whether what is beside a part reads nothing of the others, nor names in its braces what is
    bound around them."""
    read = {v for i in part.beside for v in list_variables(tokens, i.places)}
    return read & bound <= part.bound and not part.apart & (bound | part.bound)
