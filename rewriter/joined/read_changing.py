"""Rows that hold until others take their place, or end them, in SQL."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.delays.hold_rows import hold_rows
from ontoweir.rewriter.earlier.read_earlier import read_earlier
from ontoweir.rewriter.joins.read_latest import read_latest
from ontoweir.rewriter.latest.read_first import read_first
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.nulls.null_places import NullPlaces
from ontoweir.rewriter.standing.read_over_latest import read_over_latest
from ontoweir.rewriter.standing.read_standing import read_standing
from ontoweir.rewriter.standing.unite_standing import unite_standing

if TYPE_CHECKING:
    from sqlglot import exp


def read_changing(
    tree: "exp.Query",
    catalog: Catalog,
    read: "Callable[..., SpjUnion]",
    whole: "Callable[..., SpjUnion]",
) -> "tuple[exp.Query, Catalog, SpjUnion | None]":
    """The first rows of keys, the latest ones, and those that others end, as a query; or a tree
    and a catalog for what is read as it is, and None.

    Args:
        tree: the query, in the words that are read.
        catalog: the tables.
        read: reads a SELECT over tables, of which the columns at some places may be NULL; over
            another catalog, if one is given.
        whole: reads a query with subqueries likewise.

    Raises:
        SqlRefusal: it is beyond what is read of them.
    """
    refused: SqlRefusal | None = None
    try:
        if (held := read_first(tree, catalog, read)) is not None:
            return tree, catalog, hold_rows(held, catalog)
    except SqlRefusal as refusal:
        refused = refusal  # but the latest rows may be joined in more ways than the first ones
    if refused is None:
        tree, catalog = read_earlier(tree, catalog)
    try:
        ended = read_over_latest(tree, catalog)
    except SqlRefusal as refusal:
        raise refused or refusal from None
    if refused is not None and (ended is None or not ended.beside):
        raise refused
    latest = read_latest(tree if ended is None else ended.rows, catalog)
    if ended is None and latest.key is None:
        ended = read_standing(latest.tree, catalog)
    if ended is not None:
        one = partial(whole if ended.beside else read, over=catalog)
        if (united := unite_standing(ended, one, catalog)) is not None:
            return latest.tree, catalog, united
    if latest.key is None:
        return latest.tree, catalog, None
    places = frozenset(range(len(latest.tree.selects))) - set(latest.key)
    made = whole(latest.tree, NullPlaces(shown=places), catalog)
    key = tuple(made.variables[n] for n in latest.key)
    return latest.tree, catalog, hold_rows(replace(made, standing=Standing(key)), catalog)
