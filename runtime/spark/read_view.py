"""Read a temporary view of the user's Spark session, or a DataFrame that stands for one."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ontoweir.errors import DataError, OntoweirError, Source, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VIEW = "view"
"""The format of a source that is a temporary view: its path is the view's name."""


def read_view(
    home: "SparkSession", session: "SparkSession", name: str, *, streaming: bool
) -> "DataFrame":
    """The rows of a temporary view, in a session with settings of its own.

    Args:
        home: the session that has the view.
        session: the one that is to read it.
        name: of the view.
        streaming: whether a stream is wanted, or a history.

    Raises:
        DataError: there is no such view, or it is the other of the two.
        UsageError: the session is one of Spark Connect.
    """
    from pyspark.errors import PySparkException

    try:
        frame = home.table(name)
        stream = frame.isStreaming
    except PySparkException as error:
        raise DataError(
            f"there is no temporary view {name!r}: {str(error).strip().splitlines()[0][:200]}",
            why="the catalog, or sources=, names it",
            fix=f'make it: frame.createOrReplaceTempView("{name}"), on the session of the project',
            source=Source(name),
        ) from error
    if stream != streaming:
        raise DataError(
            f"{name} is a stream" if stream else f"{name} is not a stream",
            why="a replay, and a static relation, need rows that are there"
            if stream
            else "a live run reads every stream by Structured Streaming",
            fix="register the query, or give a history (spark.read…)"
            if stream
            else "replay the query, or give a stream (spark.readStream…)",
            source=Source(name),
        )
    return adopt_frame(frame, session)


def adopt_frame(frame: "DataFrame", session: "SparkSession") -> "DataFrame":
    """The same rows as a DataFrame of another session of the same Spark: what its own columns
    mean stays as it was, what is added to it follows the other session's settings.

    Raises:
        UsageError: it is one of Spark Connect.
    """
    from pyspark.sql import DataFrame

    java = getattr(frame, "_jdf", None)
    if java is None or session._jvm is None:
        raise UsageError(
            "this DataFrame is one of Spark Connect",
            why="its plan is not in this process",
            fix="give one of a session in the driver's process (SparkSession.builder.master(…))",
        )
    made = getattr(session._jvm, "org.apache.spark.sql.classic.Dataset").ofRows(
        session._jsparkSession, java.queryExecution().analyzed()
    )
    return DataFrame(made, session)


def find_home(sources: "Iterable[str | DataFrame]") -> "SparkSession":
    """The session of the first DataFrame, or else the active one.

    Raises:
        UsageError: there is none.
    """
    from pyspark.sql import DataFrame, SparkSession

    for source in sources:
        if isinstance(source, DataFrame):
            return source.sparkSession
    active = SparkSession.getActiveSession()
    if active is None:
        raise UsageError(
            "there is no Spark session that has these views",
            why="sources names temporary views",
            fix="open the project with spark=session",
            source=Source("sources"),
        )
    return active


def name_sources(
    home: "SparkSession", sources: "Mapping[str, str | DataFrame]"
) -> "tuple[SparkSession, dict[str, str]]":
    """A session of its own that has a temporary view for each source, and their names.

    Args:
        home: the user's session, which is not changed.
        sources: by table, the name of a temporary view of that session, or a DataFrame.

    Raises:
        DataError: there is no such view.
        UsageError: a source is neither.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame

    session = home.newSession()
    for table, source in sources.items():
        frame = source
        if isinstance(source, str):
            try:
                frame = home.table(source)
            except PySparkException as error:
                raise DataError(
                    f"there is no temporary view {source!r} for {table}",
                    why=str(error).strip().splitlines()[0][:200],
                    fix=f'make it before: frame.createOrReplaceTempView("{source}")',
                    source=Source("sources"),
                ) from error
        if not isinstance(frame, DataFrame):
            raise UsageError(
                f"the source of {table} is a {type(source).__name__}",
                why="a source is the name of a temporary view, or a Spark DataFrame",
                fix="give one of these; spark.createDataFrame(…) makes one of pandas or Arrow",
                source=Source("sources"),
            )
        try:
            adopt_frame(frame, session).createOrReplaceTempView(_quoted(table))
        except OntoweirError as error:
            error.source = Source("sources")
            raise
    return session, {table: _quoted(table) for table in sources}


def _quoted(name: str) -> str:
    """A name of a view: the table's own, unless SQL would need quotes for it."""
    if name.isascii() and name.isidentifier():
        return name
    return "source_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in name)
