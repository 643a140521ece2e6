"""Groups by a row that another SELECT reads, as by the time of the row, too."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import ItemKind, close_of, is_select, list_items
from ontoweir.rewriter.grouped.group_times import is_open
from ontoweir.rewriter.model.spj import (
    Attribute,
    LiteralOutput,
    SpjQuery,
    SpjUnion,
    output_attributes,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_NODE = {"{", "."}
_OTHERS = {"DISTINCT", "REDUCED", "FROM"}


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Groups inside of a query: `keys`, what they are made by; `time`, a variable of a GRAPH;
    `pattern`, a query that shows both of their solutions; `select`, `last`: the places of SELECT
    and of the last key."""

    keys: tuple[str, ...]
    time: str
    pattern: str
    select: int
    last: int


def time_groups(text: str, is_one_time: Callable[[RowGroups], bool]) -> str | None:
    """`{ SELECT ?s ?l (COUNT(*) AS ?n) { GRAPH ?s { ?l … } … } GROUP BY ?l ?s }` for groups by ?l
    inside of a query: they are the same where each ?l is of one time, and are final when no other
    solution of that time may come (None: there are none).

    Args:
        text: a query.
        is_one_time: whether what groups are made by is of one time.
    """
    edit, changed = Edit(text), False
    words = [t.text.upper() for t in edit.tokens]
    if "NOW" in words or ("SELECT", "*") in pairwise(words):  # windows; a time would be shown
        return None
    done = set[int]()
    for groups in _list_groups(text, edit.tokens):
        if groups.last not in done and is_one_time(groups):
            edit.after(groups.select, f" {groups.time}")
            edit.after(groups.last, f" {groups.time}")
            done.add(groups.last)
            changed = True
    return edit.finish() if changed else None


def _list_groups(text: str, tokens: Sequence[SparqlToken]) -> Iterator[RowGroups]:
    for n, token in enumerate(tokens):
        if token.text != "{" or not is_select(tokens, n):
            continue
        end = close_of(tokens, n)
        opens = next((k for k in range(n + 1, end) if tokens[k].text == "{"), None)
        if opens is None:
            continue
        closes = close_of(tokens, opens)
        tail = tokens[closes + 1 : end]
        if [t.text.upper() for t in tail[:2]] != ["GROUP", "BY"]:
            continue
        names = list[str]()
        for one in tail[2:]:
            if one.kind != "var":
                break
            names.append(one.text)
        rest = tail[2 + len(names) :]
        shown = {t.text.upper() for t in tokens[n + 2 : opens]}
        if not names or (rest and rest[0].text.upper() != "HAVING") or _OTHERS & shown:
            continue  # groups of time, or of what is computed
        first = next(k for k, t in enumerate(tokens) if t.text.upper() == "SELECT")
        for item in list_items(tokens, opens):
            if item.kind is not ItemKind.GRAPH or tokens[item.first + 1].kind != "var":
                continue
            time = tokens[item.first + 1].text
            inside = range(item.first + 2, item.last)
            rows = any(tokens[k].text in _NODE and tokens[k + 1].text in names for k in inside)
            others = (t.text for k, t in enumerate(tokens) if not n < k < end)
            if time in names or not rows or time in others:
                continue
            head = text[: tokens[first].offset]
            pattern = text[tokens[opens].offset : tokens[closes].offset + 1]
            probe = f"{head}SELECT {' '.join(names)} {time} {pattern}"
            last = closes + 2 + len(names)
            yield RowGroups(tuple(names), time, probe, n + 1, last)


def is_of_row(union: SpjUnion, groups: RowGroups, catalog: Catalog) -> bool:
    """Whether the keys of groups tell rows of which a key has one, whatever their time is, so that
    they tell that time, too: in each disjunct, and a key that has no domain.

    Args:
        union: `groups.pattern`.
        groups: the groups.
        catalog: the tables, with those of the query.
    """
    return bool(union.disjuncts) and all(_is_of_row(q, groups, catalog) for q in union.disjuncts)


def _is_of_row(query: SpjQuery, groups: RowGroups, catalog: Catalog) -> bool:
    outputs, types = dict(query.outputs), Types(catalog, query.occurrences)
    equal = EqualityClasses(query.occurrences, query.conditions)
    time = outputs.get(groups.time[1:])
    if not isinstance(time, LiteralOutput) or not is_bucket(time.value.column):
        return False
    shown = [outputs.get(key[1:]) for key in groups.keys]
    told = {
        equal.find(a)
        for output in shown
        if output is not None and is_injective(output, types)
        for a in output_attributes(output)
    }
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    own = tables[time.value.alias]
    assert isinstance(own, Stream)
    stamp = equal.find(Attribute(time.value.alias, own.timestamp))
    for alias, stream in tables.items():
        if not isinstance(stream, Stream) or stream.versions is not None:
            continue
        if equal.find(Attribute(alias, stream.timestamp)) != stamp:
            continue
        for key in stream.keys:
            if stream.timestamp in key or not is_open(stream, key):
                continue
            if {equal.find(Attribute(alias, column)) for column in key} <= told:
                return True
    return False
