"""Which keys of the tables hold of a view over streams."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from ontoweir.mappings.model.catalog import Catalog, Column, Scalar
from ontoweir.rewriter.model.spj import Attribute, Constant, ViewBranch
from ontoweir.rewriter.views.find_key import determine_rows


def pass_keys(
    branches: Sequence[ViewBranch],
    columns: Sequence[Column],
    domains: Sequence[Sequence[Column]],
    catalog: Catalog,
) -> tuple[tuple[int, ...], ...]:
    """The keys with the timestamp that hold of a view: places of its columns, by which, with the
    time, each branch has one row at most, and which rows of two branches never share, as one of
    the columns has another domain in each.

    Args:
        branches: of the view, over streams.
        columns: of the view.
        domains: for each branch what it says of each column; without a name: a constant.
        catalog: the tables.
    """
    first = branches[0]
    assert first.time is not None
    alias = first.time.alias
    stream = next(o.table for o in first.occurrences if o.alias == alias)
    places = {
        column.column: place
        for place, column in reversed(list(enumerate(first.columns)))
        if isinstance(column, Attribute) and column.alias == alias
    }
    found = []
    for key in catalog.streams[stream].keys:
        named = [c for c in key if c != catalog.streams[stream].timestamp]
        if not named or not all(c in places for c in named):
            continue
        shown = tuple(dict.fromkeys(places[c] for c in named))
        apart = len(branches) == 1 or any(_exclude([d[n] for d in domains]) for n in shown)
        if apart and all(_is_key(branch, shown, catalog) for branch in branches):
            found.append(shown)
    return tuple(dict.fromkeys(found))


def _is_key(branch: ViewBranch, places: Sequence[int], catalog: Catalog) -> bool:
    """Whether a branch has one row at most for values in some columns at a time."""
    shown = [branch.columns[place] for place in places]
    if not all(isinstance(column, Attribute | Constant) for column in shown):
        return False
    assert branch.time is not None
    known = {column for column in shown if isinstance(column, Attribute)} | {branch.time}
    return determine_rows(branch.occurrences, branch.conditions, known, catalog) is not None


def _exclude(domains: Sequence[Column]) -> bool:
    """Whether no two of some domains have a value in common."""
    if all(d.enum is not None for d in domains):
        values = [v for d in domains for v in dict.fromkeys(d.enum or ())]
        return len(values) == len(set(values))
    spans = []
    for domain in domains:
        span = _span(domain)
        if span is None:
            return False
        spans.append(span)
    spans.sort()
    return all(before[1] < after[0] for before, after in pairwise(spans))


def _span(domain: Column) -> tuple[Decimal, Decimal] | None:
    """The least and the greatest number of a domain (None: it has none, or is not of numbers)."""
    ends: Sequence[Scalar | None] = domain.enum or (domain.minimum, domain.maximum)
    if any(end is None or isinstance(end, str | bool) for end in ends):
        return None
    numbers = [Decimal(str(end)) for end in ends]
    return min(numbers), max(numbers)
