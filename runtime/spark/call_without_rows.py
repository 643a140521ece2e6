"""foreachBatch for micro-batches whose rows are not asked of Spark."""

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_OURS = "ontoweir.BatchSink"
_SINKS = "org.apache.spark.sql.execution.streaming.sources"


def call_without_rows(
    writer: "DataStreamWriter",
    session: "SparkSession",
    take: Callable[[None, int], None],
    wanted: bool,
) -> bool:
    """Let Spark call `take(None, batch)` for every micro-batch, as foreachBatch would, but without
    making a DataFrame of it in Python, which takes longer than anything we do then.

    Returns:
        whether it will: if not `wanted`, or Spark is not as expected, use foreachBatch.
    """
    from pyspark.java_gateway import ensure_callback_server_started

    gateway = session.sparkContext._gateway
    if not wanted or gateway is None:
        return False
    ours: Any = getattr(session._jvm, _OURS, None)
    helper: Any = getattr(session._jvm, f"{_SINKS}.PythonForeachBatchHelper", None)
    if callable(getattr(ours, "put", None)):
        name = uuid.uuid4().hex
        ours.put(name, _NumberCaller(take))
        writer.format(_OURS).option("caller", name)
    elif callable(getattr(helper, "callForeachBatch", None)):
        helper.callForeachBatch(writer._jwrite, _Caller(take))
    else:
        return False
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    return True


class _NumberCaller:
    """What our sink calls."""

    def __init__(self, take: Callable[[None, int], None]) -> None:
        self.take = take

    def call(self, batch: int) -> None:
        self.take(None, batch)

    class Java:
        implements = (f"{_OURS}$Caller",)


class _Caller:
    """What Spark's own foreachBatch calls."""

    def __init__(self, take: Callable[[None, int], None]) -> None:
        self.take = take

    def call(self, rows: Any, batch: int) -> None:
        self.take(None, batch)

    class Java:
        implements = (f"{_SINKS}.PythonForeachBatchFunction",)
