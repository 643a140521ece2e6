"""A view's branches, ready for chunks of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.units import choose_units
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.mappings.model.catalog import Catalog, DataSource, Stream
from ontoweir.rewriter.algebra.equality_classes import valued_attributes
from ontoweir.rewriter.model.spj import (
    Attribute,
    NotNull,
    Occurrence,
    SpjQuery,
    View,
    ViewBranch,
    column_attributes,
)
from ontoweir.runtime.ingest.encode_statics import StaticData, encode_statics, needed_columns
from ontoweir.runtime.ingest.select_candidates import Selection, select_candidates
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_table import TextTable

ONE_ROW = Stream("one row", DataSource("view", None), "t", 1, 1, ())
"""A stream of one row, which a branch over static relations is joined with."""


@dataclass(frozen=True, slots=True)
class PreparedBranch:
    """A branch whose rows one member of a normal form selects; `present`: attributes that are not
    NULL, which the form does not look at."""

    branch: ViewBranch
    form: NormalForm
    present: tuple[Attribute, ...]
    statics: Mapping[str, StaticData]
    texts: TextTable
    selection: Selection


@dataclass(frozen=True, slots=True)
class PreparedView:
    """A view with its branches ready; `catalog`: with ONE_ROW; `without`: those whose rows it does
    not have."""

    view: View
    branches: tuple[PreparedBranch, ...]
    catalog: Catalog
    without: tuple[PreparedBranch, ...] = ()


def prepare_view(view: View, catalog: Catalog, statics: Mapping[str, pa.Table]) -> PreparedView:
    """A view's branches with their static data encoded."""
    catalog = replace(catalog, streams={**catalog.streams, ONE_ROW.name: ONE_ROW})
    branches, without = (
        tuple(_prepare(b, catalog, statics) for b in some) for some in (view.branches, view.without)
    )
    return PreparedView(view, branches, catalog, without)


def list_columns(view: View, catalog: Catalog) -> dict[str, set[str]]:
    """Per table, the columns (other than timestamps) that a view's branches look at."""
    catalog = replace(catalog, streams={**catalog.streams, ONE_ROW.name: ONE_ROW})
    needed: dict[str, set[str]] = {}
    for branch in (*view.branches, *view.without):
        form, present = _select_rows(branch, catalog)
        for table, columns in needed_columns(form, catalog).items():
            needed.setdefault(table, set()).update(columns)
        tables = {o.alias: o.table for o in branch.occurrences}
        for attribute in (*present, *(a for c in branch.columns for a in column_attributes(c))):
            name = tables[attribute.alias]
            if catalog.table(name).column(attribute.column) is not None:
                needed.setdefault(name, set()).add(attribute.column)
    needed.pop(ONE_ROW.name, None)
    return needed


def _select_rows(branch: ViewBranch, catalog: Catalog) -> tuple[NormalForm, tuple[Attribute, ...]]:
    """The form whose one member selects a branch's rows, and what must not be NULL besides."""
    compared = {
        a for c in branch.conditions if not isinstance(c, NotNull) for a in valued_attributes(c)
    }
    conditions = tuple(
        c for c in branch.conditions if not isinstance(c, NotNull) or c.attribute in compared
    )
    present = {
        c.attribute: None
        for c in branch.conditions
        if isinstance(c, NotNull) and c.attribute not in compared
    }
    occurrences = branch.occurrences
    if branch.time is None:
        occurrences = (Occurrence(ONE_ROW.name, ONE_ROW.name), *occurrences)
    query = SpjQuery(occurrences, conditions, ())
    return normalise_query(query, distinct=False, catalog=catalog), tuple(present)


def _prepare(
    branch: ViewBranch, catalog: Catalog, statics: Mapping[str, pa.Table]
) -> PreparedBranch:
    form, present = _select_rows(branch, catalog)
    pool = StringPool()
    for text in sorted(choose_units(form.query, catalog).strings):
        pool.code(text)
    encoded = encode_statics(form, catalog, statics, pool, {})
    (member,) = form.members
    selection = select_candidates(member, form, catalog.streams[member.stream])
    return PreparedBranch(branch, form, present, encoded, pool.others, selection)
