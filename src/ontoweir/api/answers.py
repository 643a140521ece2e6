"""The answers of a query, as Arrow, Spark, pandas, polars and RDF."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ontoweir.errors import UsageError
from ontoweir.report.describe_rejects import describe_rejects
from ontoweir.rewriter.model.spj import (
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.standing.take_shown import take_shown

EmitName: TypeAlias = Literal[
    "answers", "intervals", "changes", "snapshots", "insertions", "deletions"
]
"""How answers are written (Emit)."""

if TYPE_CHECKING:
    import altair
    import pandas
    import polars
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession
    from rdflib.query import Result

    from ontoweir.api.plot_answers import Picture

MULTIPLICITY = "multiplicity"
_SHOWN = 20
"""Rows that a notebook shows."""


@dataclass(frozen=True, repr=False)
class Answers:
    """The answers of a replay, or of a live query so far.

    There is a row for each solution, with a column for each variable, and `at`: the timestamp of
    the step that completed the answer (UTC). IRIs are strings, literals are values: whole numbers,
    decimals, floats, booleans, dates, timestamps and strings; an unbound variable is NULL. `terms`
    gives the kind of RDF term in each column. With `raw=True`, equal solutions (of SELECT without
    DISTINCT) are one row, with their number in `multiplicity`, as in the file.

    The rows are in a Parquet file, or a folder of them, `file`, which is removed with this object
    unless the caller named it.

    `summary`: what `replay --summary json` prints.
    """

    union: SpjUnion
    file: Path
    summary: dict[str, Any]
    spark: "SparkSession | None" = None
    folder: "_Folder | None" = field(default=None, repr=False)

    def __repr__(self) -> str:
        count = self.summary.get("results")
        size = "" if count is None else f"{count:,} rows, "
        return f"Answers({self.union.name!r}, {size}columns {', '.join(self._variables())})"

    def _repr_html_(self) -> str:
        from ontoweir.progress.notebook import html_table

        if self.file.is_dir() and not any(self.file.glob("part-*.parquet")):
            return f"<p><b>{escape(self.union.name)}</b>: no answers yet</p>"
        table = self.to_arrow(raw=True)
        shown = [[_say(v) for v in row.values()] for row in table.slice(0, _SHOWN).to_pylist()]
        size = f"{table.num_rows:,} rows"
        if table.num_rows > _SHOWN:
            size += f", the first {_SHOWN} of which are shown"
        rejected = describe_rejects({"tuples": 0, "rejected": 0, "rejects": {}, **self.summary})
        colours = "color: #ffffff; background: #b3261e; padding: 0 .3em"
        warned = "" if rejected is None else f'<p style="{colours}">{escape(rejected)}</p>'
        moments = [str(kind).startswith("timestamp") for kind in table.schema.types]
        names = [f"{n} (UTC)" if m else n for n, m in zip(table.column_names, moments, strict=True)]
        body = html_table(names, shown)
        return f"<div><p><b>{escape(self.union.name)}</b>: {size}</p>{warned}{body}</div>"

    def __len__(self) -> int:
        """The number of solutions."""
        table = self.to_arrow(raw=True)
        if MULTIPLICITY not in table.column_names or not table.num_rows:
            return int(table.num_rows)
        return int(sum(table.column(MULTIPLICITY).to_pylist()))

    @property
    def terms(self) -> dict[str, str]:
        """The kind of RDF term in each variable's column: "IRI", "blank node", "literal",
        or "literal" with its datatype or language, as in "literal xsd:integer" or "literal @en";
        several, if disjuncts differ."""
        return {name: _describe(self.union, name) for name in self._variables()}

    def to_arrow(self, *, raw: bool = False) -> "pyarrow.Table":
        """The rows as an Arrow table; the metadata of its fields has `terms`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.file.is_dir():
            table = pa.concat_tables(_read_parts(self.file))
        else:
            table = pq.read_table(self.file)
        return table if raw else _solutions(table, self.terms)

    def plot(self, value: str | None = None) -> "Picture":
        """A number of the answers over time, a line for each of what they are about, as a picture:
        SVG, which needs no other package.

        Args:
            value: the column of numbers (default: the first with fractions, else the first).

        Raises:
            UsageError: no answer has a number and a time.
        """
        from ontoweir.api.plot_answers import plot_answers

        return plot_answers(self.to_arrow(raw=True), self.union.name, value)

    def to_altair(self, value: str | None = None) -> "altair.Chart":
        """The same as a chart of Altair's (`pip install 'ontoweir[altair]'`), to be changed.

        Args:
            value: the column of numbers (default: the first with fractions, else the first).

        Raises:
            UsageError: no answer has a number and a time, or Altair is not installed.
        """
        _require("altair", "plot()")
        from ontoweir.api.plot_answers import chart_altair

        return chart_altair(self.to_arrow(raw=True), self.union.name, value)

    def to_spark(self, *, raw: bool = False) -> "DataFrame":
        """The rows as a Spark DataFrame, on the session that the project was opened with.

        Raises:
            UsageError: it was opened without one.
        """
        if self.spark is None:
            raise UsageError(
                "there is no Spark session to read the answers with",
                why="the project was opened without one",
                fix="open_project(…, spark=session)",
            )
        frame = self.spark.read.parquet(self.file.absolute().as_uri())
        if raw or MULTIPLICITY not in frame.columns:
            return frame
        names = [f"`{c}`" for c in frame.columns if c != MULTIPLICITY]
        times = f"explode(array_repeat(1, cast({MULTIPLICITY} AS INT)))"
        again = frame.selectExpr(*names, f"{times} AS {MULTIPLICITY}")
        return again.drop(MULTIPLICITY)

    def to_pandas(self, *, raw: bool = False) -> "pandas.DataFrame":
        """The rows as a pandas DataFrame (pandas must be installed); `attrs["terms"]` has
        `terms`."""
        _require("pandas")
        frame = self.to_arrow(raw=raw).to_pandas()
        frame.attrs["terms"] = self.terms
        return frame

    def to_polars(self, *, raw: bool = False) -> "polars.DataFrame":
        """The rows as a polars DataFrame (polars must be installed)."""
        _require("polars")
        import polars

        frame = polars.from_arrow(self.to_arrow(raw=raw))
        assert isinstance(frame, polars.DataFrame)  # of a table
        return frame

    def to_rdf(self) -> "Result":
        """As `to_rdflib`."""
        return self.to_rdflib()

    def to_rdflib(self) -> "Result":
        """The answers as an rdflib SPARQL result: RDF terms, a row for each multiplicity.

        Raises:
            UsageError: disjuncts give a variable different kinds of terms.
        """
        from rdflib.query import Result
        from rdflib.term import Variable

        result = Result("SELECT")
        result.vars = [Variable(name) for name in self._variables()]
        result.bindings = [
            {Variable(n): v for n, v in row.items() if v is not None} for row in self._terms()
        ]
        return result

    def _variables(self) -> tuple[str, ...]:
        shown = take_shown(self.union)
        if shown.aggregation is not None:
            return shown.aggregation.columns
        return tuple(v for v in shown.variables if v not in shown.ends)

    def _terms(self) -> Iterator[dict[str, Any]]:
        makers = {name: _maker(self.union, name) for name in self._variables()}
        for row in self.to_arrow(raw=True).to_pylist():
            made = {n: None if row[n] is None else make(row[n]) for n, make in makers.items()}
            for _ in range(row.get(MULTIPLICITY, 1)):
                yield made


class _Folder:
    """A temporary folder that is removed when nothing refers to it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="ontoweir-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def make_folder() -> _Folder:
    """A temporary folder for answers."""
    return _Folder()


def _solutions(table: "pyarrow.Table", terms: dict[str, str]) -> "pyarrow.Table":
    """A row for each solution, and the terms in the fields' metadata."""
    import numpy as np
    import pyarrow as pa

    if MULTIPLICITY in table.column_names:
        times = table.column(MULTIPLICITY).to_numpy()
        table = table.drop_columns([MULTIPLICITY])
        if len(times) and (times != 1).any():
            table = table.take(pa.array(np.repeat(np.arange(len(times)), times)))
    fields = [
        f.with_metadata({"term": terms[f.name]}) if f.name in terms else f for f in table.schema
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))


def _say(value: object) -> object:
    """A value for a table whose head says that times are UTC."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _require(library: str, instead: str = "to_arrow()") -> None:
    if find_spec(library) is None:
        raise UsageError(
            f"{library} is not installed",
            why="it is optional for ontoweir",
            fix=f"pip install {library}, or use {instead}",
        )


_XSD = "http://www.w3.org/2001/XMLSchema#"


def _read_parts(folder: "Path") -> "list[pyarrow.Table]":
    """The rows of the files that a live run has written; they may be merged meanwhile."""
    import pyarrow.parquet as pq

    files = sorted(folder.glob("part-*.parquet"))
    while True:
        try:
            return [pq.read_table(file) for file in files]
        except FileNotFoundError:
            before, files = files, sorted(folder.glob("part-*.parquet"))
            if files == before:
                raise


def _describe(union: SpjUnion, name: str) -> str:
    made = [dict(query.outputs) for query in take_shown(union).disjuncts]
    kinds = {
        _kind(o): None
        for outputs in made
        if (o := outputs.get(name)) is not None and not isinstance(o, NullOutput)
    }
    shown = []
    for kind, datatype, language in kinds:
        if kind in ("an IRI", "a blank node"):
            shown.append(kind.partition(" ")[2])
        elif language is not None:
            shown.append(f"literal @{language}")
        elif datatype is not None:
            shown.append("literal " + datatype.replace(_XSD, "xsd:"))
        else:
            shown.append("literal")
    return " or ".join(sorted(shown)) or "literal"  # else it is an aggregate


def _maker(union: SpjUnion, name: str) -> Any:
    """A function that makes an RDF term of a variable's value."""
    from rdflib.term import BNode, Literal, URIRef

    made = [dict(query.outputs) for query in take_shown(union).disjuncts]
    kinds = {
        _kind(o)
        for outputs in made
        if (o := outputs.get(name)) is not None and not isinstance(o, NullOutput)
    }
    if not kinds:  # an aggregate
        return Literal
    if len(kinds) > 1:
        raise UsageError(
            f"?{name} is made of different kinds of terms",
            why="its mappings make " + " and ".join(sorted(k[0] for k in kinds)),
            fix="use to_arrow(), or select one kind",
        )
    kind, datatype, language = kinds.pop()
    if kind == "an IRI":
        return URIRef
    if kind == "a blank node":
        return BNode
    if datatype is not None:
        return lambda v: Literal(_lexical(v), datatype=URIRef(datatype))
    return lambda v: Literal(v, lang=language)


def _kind(
    output: IriOutput | LiteralOutput | TemplateLiteralOutput | BlankOutput | ConstantOutput,
) -> tuple[str, str | None, str | None]:
    match output:
        case IriOutput():
            return "an IRI", None, None
        case BlankOutput():
            return "a blank node", None, None
        case ConstantOutput(is_iri=True):
            return "an IRI", None, None
        case (
            LiteralOutput(datatype=datatype, language=language)
            | TemplateLiteralOutput(datatype=datatype, language=language)
            | ConstantOutput(datatype=datatype, language=language)
        ):
            return f"a literal of {datatype or language or 'its column'}", datatype, language


def _lexical(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
