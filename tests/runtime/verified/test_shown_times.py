"""What was verified is used where a query shows the time, too, or computes with columns."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Column, DataSource, IntType, Stream, TimestampType
from ontoweir.mappings.model.expression import Call, Field, Function
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.runtime.engine.configure_run import StreamColumns
from ontoweir.runtime.replay import replay

PLAIN = (Column("a", IntType()), Column("b", IntType()))
TIME = Column("time of the row", TimestampType(), bucket=TimeBucket(Moments()))
SUM = Column(
    "a + b",
    IntType(),
    expression=Call(Function.ADD, (Field("a", IntType()), Field("b", IntType())), IntType()),
)
STREAM = Stream("s", DataSource("parquet", "s"), "ts", 1_000_000, 5, PLAIN)


def test_times_and_what_is_computed_are_no_columns_of_data() -> None:
    def read(*used: str, stream: Stream = STREAM) -> set[str]:
        return replay._read_of_data(StreamColumns(stream, frozenset(used), (), frozenset()))

    wide = replace(STREAM, columns=(*PLAIN, TIME, SUM))
    assert read("a", "ts", TIME.name, stream=wide) == {"a"}
    assert read(SUM.name, stream=wide) == {"a", "b"}
    assert read("a") == {"a"}
