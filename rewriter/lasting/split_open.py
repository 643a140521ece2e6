"""What came some time before NOW(), and nothing later ends, in SPARQL: as texts of its parts."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.lift_clauses import lift_clauses
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    is_now,
    list_items,
    list_variables,
)
from ontoweir.rewriter.lasting.list_conjuncts import list_conjuncts
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_DURATION = "<http://www.w3.org/2001/XMLSchema#dayTimeDuration>"


@dataclass(frozen=True, slots=True)
class OpenText:
    """`every`: the query without its comparisons of `time` with NOW(); `window`: the query with
    these and without NOT EXISTS, whose pattern has a time of its own, `later`."""

    every: str
    window: str
    time: str
    later: str

    def write_within(self, wait_us: int) -> str:
        """`every`, of which the pattern in NOT EXISTS is so long after `time` at most."""
        tokens = Tokens(self.every).tokens
        (item,) = _find_clauses(tokens)
        seconds = f"{wait_us // 1_000_000}.{wait_us % 1_000_000:06}"
        edit = Edit(self.every)
        last = f'?{self.time} + "PT{seconds}S"^^{_DURATION}'
        edit.before(item.braces[0][1], f" FILTER(?{self.later} <= {last}) ")
        return edit.finish()


def split_open(text: str, file: str) -> OpenText | None:
    """`GRAPH ?t { … } FILTER(?t <= NOW() - d) FILTER NOT EXISTS { GRAPH ?u { … } FILTER(?u > ?t) }`
    (None: it is something else).

    Raises:
        QueryError: a clause cannot be moved into the outermost group.
    """
    lifted = lift_clauses(text, file) if "NOW" in text.upper() else None
    if lifted is None or len(lifted.texts) != 1:
        return None
    (text,) = lifted.texts
    tokens = Tokens(text).tokens
    items, clauses = _list_outer(tokens), _find_clauses(tokens)
    windows = [i for i in items if any(is_now(tokens[n]) for n in i.places)]
    plain = all(i.kind is ItemKind.FILTER and not i.braces for i in windows)
    if not windows or not plain or [i.kind for i in clauses] != [ItemKind.ABSENT]:
        return None
    graphs = [i for i in items if i.kind is ItemKind.GRAPH]
    times = {tokens[i.first + 1].text[1:] for i in graphs if tokens[i.first + 1].kind == "var"}
    inner = list_items(tokens, clauses[0].braces[0][0])
    later = {tokens[i.first + 1] for i in inner if i.kind is ItemKind.GRAPH}
    names = {t.text[1:] for t in later if t.kind == "var"}
    if len(times) != 1 or len(later) != 1 or len(names - times) != 1:
        return None
    (time,), (other,) = times, names
    every, window = Edit(text), Edit(text)
    window.blank(clauses[0].first, clauses[0].last)
    for item in windows:
        said = list_conjuncts(tokens, item)
        late = [c for c in said if any(is_now(tokens[n]) for n in c)]
        if any(list_variables(tokens, c) != (time,) for c in late):
            return None
        kept = " ".join(f"FILTER({_write(text, tokens, c)})" for c in said if c not in late)
        every.blank(item.first, item.last)
        every.before(item.first, f" {kept} ")
    return OpenText(every.finish(), window.finish(), time, other)


def _list_outer(tokens: Sequence[SparqlToken]) -> list[Item]:
    """The items of the outermost group."""
    return list_items(tokens, next(n for n, t in enumerate(tokens) if t.text == "{"))


def _find_clauses(tokens: Sequence[SparqlToken]) -> list[Item]:
    return [i for i in _list_outer(tokens) if i.kind in CLAUSES]


def _write(text: str, tokens: Sequence[SparqlToken], places: range) -> str:
    """The text of some tokens, on one line."""
    last = tokens[places[-1]]
    found = text[tokens[places[0]].offset : last.offset + len(last.text)]
    return " ".join(found.split("\n"))
