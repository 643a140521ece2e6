"""What is wrong in the rows of a static relation, and the rows as they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.files.name_formats import LOGGED, POSTGRES
from ontoweir.mappings.model.catalog import FloatType, Relation
from ontoweir.runtime.columnar.check_domain import check_domain
from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.located.locate_source import Located, locate_source
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.statics.read_relation import read_relation
from ontoweir.runtime.text.csv_dialect import number_first
from ontoweir.runtime.violations.find_strays import find_strays
from ontoweir.runtime.violations.find_violations import ViolationKeeper, quote_examples
from ontoweir.runtime.violations.violation import Found, TableViolations


@dataclass(frozen=True, slots=True)
class StaticRows:
    """The rows of a relation in their declared types, wrong ones too, with BAD; `places`: for each
    file in order its name, the number of its first row, and how many rows it has."""

    table: pa.Table
    places: tuple[tuple[str, int, int], ...]


def read_static(relation: Relation, catalog_file: str, folder: Path) -> StaticRows | None:
    """The rows of a relation.

    Args:
        relation: what is declared.
        catalog_file: where.
        folder: for rows that take much memory.

    Returns:
        None: it is a view, or only Spark is certain to read its files.

    Raises:
        DataError: there is no file, or one lacks a column or cannot be read.
    """
    if relation.data.view is not None:
        return None
    located = locate_source(relation.data, relation.name, catalog_file)
    tables, places = [], []
    apart = [Located(file, (file,)) for file in located.files or ()]
    if relation.data.format in (*LOGGED, POSTGRES):  # which say themselves what is there
        apart = [located]
    for part in apart:
        file, rows = part.path, read_relation(relation, part, lambda: folder)
        if rows is None:
            return None
        tables.append(rows)
        places.append((file, number_first(relation.data), rows.num_rows))
    return StaticRows(pa.concat_tables(tables), tuple(places)) if tables else None


def find_static_violations(
    relation: Relation, static: StaticRows, others: Mapping[str, pa.Table]
) -> TableViolations:
    """Hold the rows of a relation to its types, domains, keys, references and max_rows.

    Args:
        relation: what is declared.
        static: its rows.
        others: the rows of relations by name; references to others are not looked at.
    """
    search = _Search(relation, static)
    search.find()
    for reference in relation.references:
        if reference.relation in others:
            to = others[reference.relation]
            strays = find_strays(static.table, relation.name, reference, to)
            if strays is not None:
                search.mark(*strays)
    limit = relation.max_rows
    if limit is not None:
        over = np.arange(static.table.num_rows) >= limit
        search.mark(f"{relation.name} has more than max_rows = {limit} rows", over)
    violations = quote_examples(search.kept.finish(), relation.data)
    return TableViolations(relation.name, static.table.num_rows, True, violations)


class _Search:
    """Rows that are wrong, each for the first reason."""

    def __init__(self, relation: Relation, static: StaticRows) -> None:
        self.relation, self.table, self.places = relation, static.table, static.places
        self.good = np.ones(static.table.num_rows, dtype=np.bool_)
        self.kept = ViolationKeeper()

    def find(self) -> None:
        """By types, domains and keys."""
        bad = self.table.column(BAD)
        for entry in pc.unique(bad.drop_null()).to_pylist():
            mask = pc.fill_null(pc.equal(bad, entry), False).to_numpy()
            self.mark(f"{entry} is not of its type", mask)
        for column in self.relation.columns:
            values = self.table.column(column.name)
            place = f"{self.relation.name}.{column.name}"
            if isinstance(column.type, FloatType):
                nan = pc.fill_null(pc.is_nan(values), False).to_numpy()
                self.mark(f"{place} is NaN", nan)
            inside = check_domain(values, column).to_numpy()
            self.mark(f"{place} is outside its declared domain", ~inside)
        for key in self.relation.keys:
            index = np.flatnonzero(self.good)
            rows = self.table.take(pa.array(index))
            again = find_repeated_keys(
                np.zeros(len(index), dtype=np.int64), [rows.column(name) for name in key]
            )
            mask = np.zeros(len(self.good), dtype=np.bool_)
            mask[index[again]] = True
            self.mark(f"{self.relation.name} repeats the key ({', '.join(key)})", mask)

    def mark(self, reason: str, mask: Array) -> None:
        """Rows that are wrong, those that are not yet."""
        mask = mask & self.good
        self.good &= ~mask
        rows = self.table.drop_columns([BAD])
        start = 0
        for file, first, count in self.places:
            index = np.flatnonzero(mask[start : start + count])
            if len(index):
                none = np.zeros(len(index), dtype=np.int64)
                mine = rows.take(pa.array(index + start))
                self.kept.add(Found(reason, file, index + first, none, none > 0, mine))
            start += count
