"""Which messages a span has: what Spark hands over, what is read again, what is no longer there."""

from typing import Any

import pyarrow as pa
import pytest

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.live.topics import topic_span
from ontoweir.runtime.live.topics.open_topic import Histories
from ontoweir.runtime.live.topics.topic_offsets import begins_with_all, most_at_once
from ontoweir.runtime.live.topics.topic_span import Handed, TopicSpan, begin_range, limit_offsets
from ontoweir.runtime.sources.history import History

EARLIEST = {"t/0": 10, "t/1": 0}


def _stream(**options: str) -> Stream:
    source = DataSource("kafka", None, tuple(options.items()))
    return Stream(name="s", columns=(), timestamp="ts", step_us=1, max_per_timestamp=1, data=source)


class Broker:
    """What was read again, and asked."""

    def __init__(self, patch: pytest.MonkeyPatch, earliest: dict[str, int] = EARLIEST) -> None:
        self.read: list[tuple[dict[str, int], dict[str, int]]] = []
        self.error: DataError | None = None

        def read_range(spark: Any, histories: Histories, start: Any, end: Any) -> Any:
            if self.error is not None:
                raise self.error
            self.read.append((dict(start), dict(end)))
            return {key: pa.table({"n": [1]}) for key in histories}

        patch.setattr(topic_span, "read_range", read_range)
        patch.setattr(topic_span, "list_earliest", lambda spark, stream, parts: earliest)


def _span(since: Any, to: Any, *keys: str) -> TopicSpan:
    spark: Any = None
    histories = {key: History(_stream(), (), (), staged=True) for key in keys or ("a",)}
    return TopicSpan(histories, since, to, spark)


def _unasked(histories: Histories) -> dict[str, pa.Table]:
    raise AssertionError


def _handed(since: Any, to: Any, rows: Any = _unasked) -> Handed:
    return Handed(since, to, {"s": frozenset("a")}, rows)


def test_what_spark_hands_over_is_used_if_it_is_just_that(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(monkeypatch)
    before, after = {"s": {"t/0": 11, "t/1": 1}}, {"s": {"t/0": 13, "t/1": 1}}
    used: list[Histories] = []

    def rows(histories: Histories) -> dict[str, pa.Table]:
        used.append(histories)
        return {}

    _span(before, after).read(_handed(before, after, rows))
    assert len(used) == 1
    assert not broker.read
    _span(before, after).read(_handed(before, after, lambda histories: None))  # not settled here
    assert broker.read.pop() == (before["s"], after["s"])
    for span, handed in (
        (_span(before, after), None),
        (_span(before, after), _handed({}, after)),
        (_span(before, after), _handed(before, {"s": {"t/0": 14, "t/1": 1}})),
        (_span(before, after, "a", "b"), _handed(before, after)),  # other columns
    ):
        span.read(handed)
        assert broker.read.pop() == (before["s"], after["s"])
    assert len(used) == 1


def test_nothing_is_read_where_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(monkeypatch)
    same = {"s": {"t/0": 11, "t/1": 1}}
    assert _span(same, same).read(None) == {"a": {}}
    assert _span({}, {"s": {"t/0": 0}}).read(None) == {"a": {}}
    assert _span(same, same).read(_handed(same, same)) == {"a": {}}
    assert not broker.read


def test_who_begins_reads_from_the_first_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a partition that has come since."""
    broker = Broker(monkeypatch)
    span = _span({}, {"s": {"t/0": 12, "t/1": 2}})
    span.read(None)
    assert broker.read.pop() == ({"t/0": 10, "t/1": 0}, {"t/0": 12, "t/1": 2})
    _span({"s": {"t/0": 11}}, {"s": {"t/0": 12, "t/1": 2}}).read(None)
    assert broker.read.pop() == ({"t/0": 11, "t/1": 0}, {"t/0": 12, "t/1": 2})
    assert not span.gaps


def test_what_is_gone_is_a_gap_for_who_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(monkeypatch)
    span = _span({"s": {"t/0": 9, "t/1": 1}}, {"s": {"t/0": 12, "t/1": 2}})
    assert span.read(None) == {"a": {}}
    assert span.gaps.keys() == {"s"}
    assert "t/0 has no longer its offsets from 9 to 9" in span.gaps["s"]
    assert not broker.read
    # nothing of it had come
    span = _span({"s": {"t/0": 9, "t/1": 1}}, {"s": {"t/0": 9, "t/1": 2}})
    span.read(None)
    assert not span.gaps
    assert broker.read.pop() == ({"t/0": 9, "t/1": 1}, {"t/0": 9, "t/1": 2})
    # where loss is allowed
    start, gap = begin_range(Any, _stream(failOnDataLoss="FALSE"), {"t/0": 5}, {"t/0": 12})  # type: ignore[arg-type]
    assert (start, gap) == ({"t/0": 10}, None)


def test_a_partition_that_came_since_began_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has begun lacks what it has lost meanwhile; who begins does not."""
    Broker(monkeypatch, {"t/0": 2, "t/1": 10})
    end = {"t/0": 5, "t/1": 20}
    _, gap = begin_range(Any, _stream(), {"t/0": 5}, end)  # type: ignore[arg-type]
    assert gap is not None
    assert "t/1 has no longer its offsets from 0 to 9" in gap
    start, gap = begin_range(Any, _stream(), {}, end)  # type: ignore[arg-type]
    assert (start, gap) == (end | {"t/0": 2, "t/1": 10}, None)


def test_a_broker_that_does_not_answer_fails_who_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(monkeypatch)
    broker.error = DataError("no", why="-", fix="-")
    span = _span({}, {"s": {"t/0": 12}})
    assert span.read(None) == {"a": {}}
    assert span.broken == {"s": broker.error}


def test_a_share_of_messages_has_one_of_each_partition_at_least() -> None:
    end = {"t/0": 1000, "t/1": 5, "t/2": 7}
    taken = limit_offsets({"t/0": 0, "t/1": 4, "t/2": 7}, end, 0.1)
    assert taken == {"t/0": 100, "t/1": 5, "t/2": 7}
    position = {"t/0": 0, "t/1": 4, "t/2": 7}
    for _ in range(1000):
        position = limit_offsets(position, end, 1e-9)
    assert position == end


def test_which_streams_begin_with_all_that_is_there() -> None:
    assert begins_with_all(_stream(subscribe="t"))
    assert begins_with_all(_stream(startingOffsets="earliest"))
    assert not begins_with_all(_stream(startingOffsets="latest"))
    assert not begins_with_all(_stream(startingoffsets='{"t":{"0":5}}'))
    assert not begins_with_all(_stream(startingTimestamp="5"))
    assert most_at_once(_stream()) == 100_000
    assert most_at_once(_stream(maxoffsetspertrigger="7")) == 7
