"""Load static relations, and check them against what the catalog declares.

Local files of Parquet, CSV and JSON lines are read here, and simple views evaluated; everything
else is by Spark: of local files that are not large its rows are collected, of all else its tasks
write them (materialize_frame), as their number is not known.
"""

import tempfile
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.errors import CatalogError, DataError, Source
from ontoweir.files.name_formats import POSTGRES
from ontoweir.mappings.model.catalog import Catalog, FloatType, Relation
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.runtime.columnar.check_domain import arrow_type, check_domain
from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys
from ontoweir.runtime.located.locate_source import Located, locate_source
from ontoweir.runtime.packed.read_packed import is_packed
from ontoweir.runtime.sources.find_line import find_line
from ontoweir.runtime.sources.read_source import (
    BAD,
    WantedColumns,
    literal_path,
    missing_column,
    read_source,
    refuse_nested,
    unreadable,
)
from ontoweir.runtime.spark.explain_java import java_errors
from ontoweir.runtime.spark.materialize_frame import (
    LARGEST_COLLECTED,
    materialize_frame,
    not_written,
)
from ontoweir.runtime.statics.read_relation import read_relation
from ontoweir.runtime.text.csv_dialect import number_first

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Session: TypeAlias = "SparkSession | Callable[[], SparkSession]"
"""A session, or what gives it where it is needed."""

_NONE: Mapping[str, Collection[str]] = MappingProxyType({})
_DENSE = 8
"""About how much more rows take than what is compressed."""


def load_statics(
    spark: "Session",
    catalog: Catalog,
    names: Iterable[str],
    beside: Path | None = None,
    *,
    here: bool = True,
    verified: Mapping[str, Collection[str]] = _NONE,
) -> dict[str, pa.Table]:
    """The declared columns of static relations, in their declared types.

    Args:
        spark: the session whose readers and SQL are used, or what gives it where it is needed.
        catalog: the declarations.
        names: the relations wanted.
        beside: a file or folder to be, beside which Spark's tasks can write what this process sees
            (default: the system's temporary files).
        here: local text is read in this process where it can be, not by Spark.
        verified: of those whose rows are known to keep what is declared, the columns wanted.

    Raises:
        DataError: a file or column is missing, or a row breaks a type, domain, key or max_rows.
        CatalogError: a view is wrong.
        RunError: what tasks write beside it is not visible here.
    """
    with ExitStack() as stack:
        loader = _Loader(spark, catalog, _find_folder(beside), stack, here=here)
        checked = sorted(set(names) - verified.keys())
        loaded = {name: loader.load(name) for name in checked}
        for name, columns in verified.items():
            loaded[name] = loader.read(_narrow(catalog.relations[name], columns))
        return loaded


def _narrow(relation: Relation, columns: Collection[str]) -> Relation:
    """Some columns of a relation, of which nothing is declared but their types; one at least, as a
    table without columns does not know how many rows it has."""
    kept = [c for c in relation.columns if c.name in columns] or relation.columns[:1]
    plain = tuple(replace(c, minimum=None, maximum=None, enum=None) for c in kept)
    return replace(relation, columns=plain, keys=(), max_rows=None)


def _find_folder(beside: Path | None) -> Path:
    """The folder that something is to be in: the nearest that is there."""
    if beside is None:
        return Path(tempfile.gettempdir())
    return next(p for p in beside.absolute().parents if p.is_dir())


def _is_small(located: Located) -> bool:
    """Whether a source is local files whose rows can be collected."""
    if located.files is None:
        return False
    sizes = ((Path(f).stat().st_size, Path(f).suffix) for f in located.files)
    return (
        sum(n if kind in (".csv", ".json", ".txt") else n * _DENSE for n, kind in sizes)
        < LARGEST_COLLECTED
    )


class _Loader:
    def __init__(
        self,
        spark: "Session",
        catalog: Catalog,
        place: Path,
        stack: ExitStack,
        *,
        here: bool,
    ) -> None:
        self.spark, self.catalog = spark, catalog
        self.place, self.stack, self.here = place, stack, here
        self._folder: Path | None = None
        self._session: SparkSession | None = None
        self.tables: dict[str, pa.Table] = {}
        self.open: list[str] = []

    @property
    def home(self) -> "SparkSession":
        """The session given, which has the user's temporary views."""
        return self.spark() if callable(self.spark) else self.spark

    @property
    def session(self) -> "SparkSession":
        """A session in UTC, with temporary views of its own."""
        if self._session is None:
            self._session = self.home.newSession()
            self._session.conf.set("spark.sql.session.timeZone", "UTC")
        return self._session

    @property
    def folder(self) -> Path:
        """A folder for rows, which is removed in the end."""
        if self._folder is None:
            try:
                made = tempfile.TemporaryDirectory(
                    prefix=".ontoweir-static-", dir=self.place, ignore_cleanup_errors=True
                )
            except OSError as error:
                raise not_written(self.place, error) from None
            self._folder = Path(self.stack.enter_context(made))
        return self._folder

    def load(self, name: str) -> pa.Table:
        """One relation, once."""
        if name not in self.tables:
            relation = self.catalog.relations[name]
            if name in self.open:
                raise CatalogError(
                    f"the view {name} is made from itself: {' → '.join([*self.open, name])}",
                    why="a view is computed from relations that are there before it",
                    fix="break the circle",
                    source=relation.source,
                )
            self.open.append(name)
            self.tables[name] = self.read(relation)
            self.open.pop()
        return self.tables[name]

    def read(self, relation: Relation) -> pa.Table:
        """The rows of a relation, held to its declarations."""
        view, place = relation.data.view, relation.data.path or self.catalog.file
        collected = False
        if view is None:
            located = locate_source(relation.data, relation.name, self.catalog.file)
            place, collected = located.path, _is_small(located)
            typed = relation.data.format in ("parquet", POSTGRES)
            if self.here or typed or is_packed(relation.data, located):
                rows = read_relation(relation, located, lambda: self.folder)
            else:
                rows = None
        else:
            from ontoweir.runtime.statics.evaluate_view import evaluate_view  # brings sqlglot

            rows = evaluate_view(relation, view, self.catalog, self.load)
        source = Source(place) if view is None else relation.source
        if rows is not None:
            return _check(relation, rows, source)

        if view is None:
            refuse_nested(relation)
            wanted = WantedColumns(relation.columns)
            frame = read_source(self.session, relation.data, place, wanted, home=self.home)
        else:
            frame = self._view(relation, view)
        try:
            table = frame.toArrow() if collected else materialize_frame(frame, self.folder)
        except java_errors() as error:
            raise unreadable(place, error) from error
        return _check(relation, table, source)

    def _view(self, relation: Relation, view: str) -> "DataFrame":
        """A view's rows, over temporary views of what it mentions."""
        from pyspark.sql import functions as fn

        from ontoweir.runtime.statics.evaluate_view import mentioned

        for other in mentioned(view, relation, self.catalog):
            self._give(self.load(other)).createOrReplaceTempView(other)
        try:
            frame = self.session.sql(view)
            there = frame.columns
        except java_errors() as error:
            raise CatalogError(
                f"the view {relation.name} is wrong: {str(error).strip().splitlines()[0][:300]}",
                why="a view is Spark SQL over the declared columns of the other relations",
                fix="correct it",
                source=relation.source,
            ) from error
        for column in relation.columns:
            if column.name not in there:
                missing = missing_column(column.name, there, relation.name, relation.data)
                missing.source = relation.source
                raise missing
        return frame.select(*[fn.col(f"`{c.name}`") for c in relation.columns])

    def _give(self, table: pa.Table) -> "DataFrame":
        """Rows as Spark's: many by a file, as they would be copied into Java's memory."""
        if table.nbytes < LARGEST_COLLECTED:
            return self.session.createDataFrame(table)
        file = str(self.folder / f"{uuid.uuid4().hex}.parquet")
        try:
            pq.write_table(table, file, row_group_size=1 << 20)
        except OSError as error:
            raise not_written(self.folder, error) from None
        schema = self.session.createDataFrame(table.slice(0, 0)).schema
        reader = self.session.read.schema(schema).option("datetimeRebaseMode", "CORRECTED")
        return reader.parquet(literal_path(file))


def _check(relation: Relation, table: pa.Table, source: Source | None) -> pa.Table:
    """Enforce types, domains, keys and max_rows; without BAD."""
    if BAD in table.column_names:
        bad = table.column(BAD)
        if bad.null_count < len(bad):
            row = int(np.flatnonzero(pc.is_valid(bad).to_numpy(zero_copy_only=False))[0])
            name = bad[row].as_py()
            kind = relation.column(name)
            raise _broken(
                relation,
                row,
                source,
                f"{name} is not {name_column_type(kind.type) if kind else 'of its type'}",
                "the catalog declares the column's type",
            )
        table = table.drop_columns([BAD])
    typed = {}
    for column in relation.columns:
        try:
            values = table.column(column.name).cast(arrow_type(column.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"{relation.name}.{column.name} holds {table.column(column.name).type}",
                why=str(error).splitlines()[0],
                fix="declare the type the data has, or correct the data",
                source=source,
            ) from error
        good = check_domain(values, column).to_numpy()
        if isinstance(column.type, FloatType):
            good &= ~pc.fill_null(pc.is_nan(values), False).to_numpy()
        if not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise _broken(
                relation,
                row,
                source,
                f"{column.name} is {values[row].as_py()}",
                "that is outside the column's declared domain",
            )
        typed[column.name] = values
    whole = pa.table(typed)
    if relation.max_rows is not None and whole.num_rows > relation.max_rows:
        raise DataError(
            f"{relation.name} has {whole.num_rows} rows",
            why=f"the catalog declares max_rows = {relation.max_rows}, which verdicts rest on",
            fix="declare a greater max_rows, or reduce the data",
            source=source,
        )
    for key in relation.keys:
        _check_key(relation, whole, key, source)
    return whole


def _check_key(
    relation: Relation, table: pa.Table, key: tuple[str, ...], source: Source | None
) -> None:
    rows = np.zeros(table.num_rows, dtype=np.int64)
    if not find_repeated_keys(rows, [table.column(name) for name in key]).any():
        return
    numbered = table.select(list(dict.fromkeys(key))).append_column(
        "__row", pa.array(np.arange(table.num_rows))
    )
    numbered = numbered.drop_null()
    groups = numbered.group_by(list(dict.fromkeys(key))).aggregate(
        [("__row", "max"), ("__row", "count")]
    )
    twice = groups.filter(pc.greater(groups.column("__row_count"), 1))
    if twice.num_rows:
        first = twice.sort_by("__row_max").slice(0, 1).to_pylist()[0]
        shown = ", ".join(f"{c} = {first[c]}" for c in key)
        raise _broken(
            relation,
            int(first["__row_max"]),
            source,
            f"{shown} occurs {first['__row_count']} times",
            f"the catalog declares the key ({', '.join(key)})",
        )


def _broken(relation: Relation, row: int, source: Source | None, what: str, why: str) -> DataError:
    """The error of a row, counted from 0; a CSV's line."""
    number = row + 1
    if source is not None and relation.data.format in ("csv", "json"):
        line = find_line(relation.data, source.file, row + number_first(relation.data))
        source = Source(source.file, line)
    return DataError(
        f"{relation.name}, row {number}: {what}",
        why=why,
        fix="correct the row, or the declaration",
        source=source,
    )
