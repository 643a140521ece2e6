"""Offsets of topics as Spark writes them, and how many messages are taken at once."""

import json

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.read_stream import KAFKA_DEFAULTS

SUBSCRIBED = frozenset({"subscribe", "subscribepattern", "assign"})
"""Options that say which topics are read."""
_BEGINNING = frozenset({"startingoffsets", "startingoffsetsbytimestamp", "startingtimestamp"})
_AT_ONCE = "maxOffsetsPerTrigger"


def read_topic_offsets(text: str) -> dict[str, int]:
    """The next offset of each partition, by topic/partition.

    Raises:
        ValueError, AttributeError, TypeError: the text is not as expected.

    >>> read_topic_offsets('{"t":{"0":5,"1":7}}')
    {'t/0': 5, 't/1': 7}
    """
    nested = json.loads(text)
    return {f"{t}/{p}": int(last) for t, parts in nested.items() for p, last in parts.items()}


def most_at_once(stream: Stream) -> int:
    """How many messages of a stream a micro-batch takes in."""
    given = {n.lower(): v for n, v in stream.data.options}
    text = given.get(_AT_ONCE.lower(), KAFKA_DEFAULTS[_AT_ONCE])
    return max(int(text), 1) if text.isascii() and text.isdigit() else 1


def begins_with_all(stream: Stream) -> bool:
    """Whether a query that reads a stream begins with all messages that are there."""
    given = {n.lower(): v for n, v in stream.data.options if n.lower() in _BEGINNING}
    return given in ({}, {"startingoffsets": "earliest"})
