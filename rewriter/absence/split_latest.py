"""Static solutions with the latest of each beside them, by OPTIONAL, as texts without it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.errors import Source
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.lift_clauses import tidy_stops
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    close_of,
    is_select,
    list_bound,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


@dataclass(frozen=True, slots=True)
class LatestText:
    """`static`: a query of the solutions around OPTIONAL; `joined`: of these, with those inside of
    it, later ones or not; `latest`: of what is inside, with what says that there is no later one.
    `head`: the answer variables; `own`: those that `static` shows; `shared`: of these the ones that
    are inside, too; `time`: of what is inside."""

    static: str
    joined: str
    latest: str
    head: tuple[str, ...]
    own: tuple[str, ...]
    shared: tuple[str, ...]
    time: str
    distinct: bool
    source: Source


def split_latest(text: str, file: str) -> LatestText | None:
    """`A OPTIONAL { GRAPH ?t { B } FILTER NOT EXISTS { … } }` of patterns A outside GRAPH, where
    plain variables are selected (None: it is something else).

    Args:
        text: a query.
        file: where it is.
    """
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or close_of(tokens, opens) != len(tokens) - 1 or is_select(tokens, opens):
        return None
    items = list_items(tokens, opens)
    clauses = [i for i in items if i.kind in CLAUSES]
    plain = (*CLAUSES, ItemKind.TRIPLES, ItemKind.FILTER, ItemKind.VALUES)
    if len(clauses) != 1 or any(i.kind not in plain for i in items):
        return None
    (optional,) = clauses
    if optional.kind is not ItemKind.OPTIONAL or any(i.braces for i in items if _is_filter(i)):
        return None
    ((first, last),) = optional.braces
    inner = [] if is_select(tokens, first) else list_items(tokens, first)
    graphs = [i for i in inner if i.kind is ItemKind.GRAPH]
    absent = [i for i in inner if i.kind is ItemKind.ABSENT]
    wanted = (ItemKind.GRAPH, ItemKind.ABSENT, ItemKind.FILTER)
    if len(graphs) != 1 or len(absent) != 1 or any(i.kind not in wanted for i in inner):
        return None
    if any(i.braces for i in inner if _is_filter(i)) or tokens[graphs[0].first + 1].kind != "var":
        return None
    bound, inside = list_bound(tokens, items), list_bound(tokens, graphs)
    around = {v for i in items if _is_filter(i) for v in list_variables(tokens, i.places)}
    time = tokens[graphs[0].first + 1].text[1:]
    named = list_variables(tokens, range(opens, len(tokens)))
    every = [v for v in named if v in bound | inside and v != time]
    shown = _read_head(tokens, opens, every)
    if shown is None or time in bound or not around <= bound:
        return None
    before = list_bound(tokens, [i for i in items if i.last < optional.first])
    said = {v for i in inner if i is not graphs[0] for v in list_variables(tokens, i.places)}
    if not bound & inside <= before or said & (bound - inside):
        return None  # what is behind OPTIONAL is joined with what it has found
    select, head, distinct = shown
    if not set(head) <= bound | inside:
        return None
    shared = tuple(sorted(bound & inside))
    own = tuple(dict.fromkeys((*(v for v in head if v in bound), *shared)))
    later = tuple(dict.fromkeys((*(v for v in head if v not in bound), time)))

    def write(variables: tuple[str, ...], blanks: tuple[tuple[int, int], ...]) -> str:
        edit = Edit(text)
        for one, other in blanks:
            edit.blank(one, other)
            edit.before(one, " . ")
        edit.blank(select + 1, opens - 1)
        edit.after(select, " " + " ".join(f"?{v}" for v in variables) + " ")
        return tidy_stops(edit.finish())

    gone = ((optional.first, first), (absent[0].first, absent[0].last), (last, last))
    outside = (*((i.first, i.last) for i in items if i is not optional), gone[0], gone[2])
    return LatestText(
        write(own, ((optional.first, optional.last),)),
        write((*own, *later), gone),
        write(tuple(dict.fromkeys((*shared, *later))), outside),
        tuple(head),
        own,
        shared,
        time,
        distinct,
        Source(file, tokens[select].line),
    )


def _is_filter(item: Item) -> bool:
    return item.kind is ItemKind.FILTER


def _read_head(
    tokens: Sequence[SparqlToken], opens: int, every: list[str]
) -> tuple[int, list[str], bool] | None:
    """The place of SELECT, the variables, and whether it is DISTINCT (None: it is something
    else)."""
    words = [t.text.upper() for t in tokens[:opens]]
    if "SELECT" not in words:
        return None
    select = max(n for n, word in enumerate(words) if word == "SELECT")
    rest = list(tokens[select + 1 : opens])
    distinct = bool(rest) and rest[0].text.upper() == "DISTINCT"
    rest = rest[1:] if distinct else rest
    if rest and rest[-1].text.upper() == "WHERE":
        rest = rest[:-1]
    if [t.text for t in rest] == ["*"]:
        return select, every, distinct
    if not rest or any(t.kind != "var" for t in rest):
        return None
    return select, [t.text[1:] for t in rest], distinct
