"""Answers of a query, as the libraries that people compute with want them."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import UsageError
from ontoweir.rewriter.spj import (
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    Output,
    SpjUnion,
    TemplateLiteralOutput,
)

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession
    from rdflib.query import Result


@dataclass(frozen=True)
class Answers:
    """The answers of a replay: a column for each variable, `at` (the timestamp of the step that
    completed the answer, UTC), and for SELECT without DISTINCT `multiplicity`.

    IRIs are strings, literals have the type of their column. The rows are in a Parquet file,
    `file`, which goes with this object unless it was asked for.

    `summary`: what `replay --summary json` prints.
    """

    union: SpjUnion
    file: Path
    summary: dict[str, Any]
    spark: "SparkSession | None" = None
    folder: "_Folder | None" = field(default=None, repr=False)

    def __len__(self) -> int:
        """How many rows there are."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.file) as opened:
            return int(opened.metadata.num_rows)

    def to_arrow(self) -> "pyarrow.Table":
        """The rows as an Arrow table."""
        import pyarrow.parquet as pq

        return pq.read_table(self.file)

    def to_spark(self) -> "DataFrame":
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
        return self.spark.read.parquet(self.file.absolute().as_uri())

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a pandas DataFrame (pandas must be installed)."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """The rows as a polars DataFrame (polars must be installed)."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)  # of a table
        return frame

    def to_rdflib(self) -> "Result":
        """The answers as an rdflib SPARQL result: RDF terms, a row for each multiplicity.

        Raises:
            UsageError: disjuncts make a variable of different kinds of terms.
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
        aggregation = self.union.aggregation
        return self.union.variables if aggregation is None else aggregation.columns

    def _terms(self) -> Iterator[dict[str, Any]]:
        makers = {name: _maker(self.union, name) for name in self._variables()}
        for row in self.to_arrow().to_pylist():
            made = {n: None if row[n] is None else make(row[n]) for n, make in makers.items()}
            for _ in range(row.get("multiplicity", 1)):
                yield made


class _Folder:
    """A temporary folder that goes when nothing refers to it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="ontoweir-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def make_folder() -> _Folder:
    """A temporary folder for answers."""
    return _Folder()


def _maker(union: SpjUnion, name: str) -> Any:
    """What makes an RDF term of a value of a variable."""
    from rdflib.term import BNode, Literal, URIRef

    made = [dict(query.outputs) for query in union.disjuncts]
    kinds = {_kind(outputs[name]) for outputs in made if name in outputs}
    if not kinds:  # an aggregate
        return Literal
    if len(kinds) > 1:
        raise UsageError(
            f"?{name} is made of different kinds of terms",
            why="its mappings make " + " and ".join(sorted(k[0] for k in kinds)),
            fix="use to_arrow(), or ask for one kind",
        )
    kind, datatype, language = kinds.pop()
    if kind == "an IRI":
        return URIRef
    if kind == "a blank node":
        return BNode
    if datatype is not None:
        return lambda v: Literal(_lexical(v), datatype=URIRef(datatype))
    return lambda v: Literal(v, lang=language)


def _kind(output: Output) -> tuple[str, str | None, str | None]:
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
