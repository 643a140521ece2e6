"""Topics that this process reads, of a real broker: one that stops, comes back, or has others."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.live.topics.read_messages import Messages
from ontoweir.runtime.live.topics.topic_client import MessagesGone, TopicClient, is_read_here
from tests.runtime.kafka_broker import MISSING, Broker, list_jars, start_broker
from tests.waiting import wait_until

pytest.importorskip("confluent_kafka")
from confluent_kafka import Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it lists fewer than it has
    AdminClient,
    NewPartitions,
    NewTopic,
)

SERVERS = "kafka.bootstrap.servers"


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    if not list_jars("broker"):
        pytest.skip(MISSING)
    with start_broker() as started:
        yield started


def stream(broker: str, topic: str, name: str = "s", **more: str) -> Stream:
    options = {SERVERS: broker, "subscribe": topic, **more}
    return Stream(name, DataSource("kafka", None, tuple(options.items())), "ts", 1, None, ())


def make_topic(broker: str, topic: str, partitions: int = 2) -> None:
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(topic, partitions)])[topic].result()


def send(broker: str, topic: str, *values: str, partition: int = 0, whole: str = "") -> None:
    """Messages to a partition. `whole`: the name of a transaction that they are."""
    more = {"transactional.id": whole} if whole else {}
    producer = Producer({"bootstrap.servers": broker, **more})
    if whole:
        producer.init_transactions()
        producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=partition)
    if whole:
        producer.commit_transaction()
    assert producer.flush(20) == 0


def read_until(client: TopicClient, count: int, name: str = "s") -> list[str]:
    """The next so many messages; a test's time limit ends it."""
    found: list[str] = []
    while len(found) < count:
        came = client.poll(0.1).get(name, Messages())
        found += [(value or b"").decode() for value in came.values]
    return found


def open_client(*streams: Stream, **reach: dict[str, int]) -> TopicClient:
    client = TopicClient(streams, dict(reach))
    while not client.is_open:
        client.poll(0.1)
    return client


def test_messages_come_once_in_order_and_from_an_offset_on(broker: Broker) -> None:
    make_topic(broker, "a")
    send(broker, "a", "1", "2", "3")
    send(broker, "a", "4", partition=1)
    client = open_client(stream(broker, "a"))
    assert client.reach == {"s": {"a/0": 0, "a/1": 0}}
    found = read_until(client, 4)
    assert [v for v in found if v != "4"] == ["1", "2", "3"]
    assert client.is_at_end
    assert client.reach == {"s": {"a/0": 3, "a/1": 1}}
    client.close()
    again = open_client(stream(broker, "a"), s={"a/0": 2, "a/1": 1})
    send(broker, "a", "5", partition=1)
    assert sorted(read_until(again, 2)) == ["3", "5"]
    again.close()


def test_two_streams_of_a_topic_are_each_where_they_are(broker: Broker) -> None:
    make_topic(broker, "b", 1)
    send(broker, "b", "1", "2")
    client = open_client(stream(broker, "b"), stream(broker, "b", "other"), other={"b/0": 1})
    found: dict[str, list[bytes | None]] = {"s": [], "other": []}
    while not client.is_at_end:
        for name, came in client.poll(0.1).items():
            found[name] += came.values
    assert found == {"s": [b"1", b"2"], "other": [b"2"]}
    client.close()


def test_markers_of_transactions_are_passed(broker: Broker) -> None:
    """What ends a transaction has an offset, and is no message: the end is reached nevertheless."""
    make_topic(broker, "c", 1)
    send(broker, "c", "1", whole="t")
    client = open_client(stream(broker, "c"))
    assert read_until(client, 1) == ["1"]
    more: list[object] = []

    def is_past() -> bool:  # of the marker the client may hear later than of the message
        more.extend(client.poll(0.1))
        return client.reach == {"s": {"c/0": 2}}

    wait_until(is_past)
    assert (more, client.is_at_end) == ([], True)
    client.close()


def test_partitions_that_come_later_are_read_from_their_beginning(broker: Broker) -> None:
    make_topic(broker, "d", 1)
    client = open_client(stream(broker, "d"))
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_partitions([NewPartitions("d", 2)])["d"].result()
    send(broker, "d", "new", partition=1)
    send(broker, "d", "old", partition=0)
    assert sorted(read_until(client, 2)) == ["new", "old"]
    assert client.reach == {"s": {"d/0": 1, "d/1": 1}}
    client.close()


def test_a_broker_that_stops_is_waited_for(broker: Broker) -> None:
    """It does not answer for a while; nothing is lost, nothing comes twice."""
    make_topic(broker, "e", 1)
    send(broker, "e", "1")
    client = open_client(stream(broker, "e"))
    assert read_until(client, 1) == ["1"]
    broker.process.send_signal(signal.SIGSTOP)
    try:
        late = TopicClient([stream(broker, "e")], {"s": {"e/0": 1}})
        for _ in range(3):
            assert not client.poll(0.05)
            assert not late.poll(0.05)
        assert not late.is_open
    finally:
        broker.process.send_signal(signal.SIGCONT)
    send(broker, "e", "2")
    assert read_until(client, 1) == ["2"]
    assert read_until(late, 1) == ["2"]
    client.close()
    late.close()


@pytest.mark.parametrize("at", [{"f/0": 3}, {"f/0": 0}, {"f/0": 2, "f/1": 0}])
def test_messages_that_are_gone_are_told(broker: Broker, at: dict[str, int]) -> None:
    """Behind the end, before the beginning, and of a partition that is not there."""
    if not AdminClient({"bootstrap.servers": broker}).list_topics().topics.get("f"):
        make_topic(broker, "f", 1)
        send(broker, "f", "1", "2")
        _cut(broker, "f", 1)
    with pytest.raises(MessagesGone):
        open_client(stream(broker, "f"), s=at)


def _cut(broker: str, topic: str, first: int) -> None:
    """Remove the messages before an offset."""
    from confluent_kafka import TopicPartition

    admin = AdminClient({"bootstrap.servers": broker})
    for done in admin.delete_records([TopicPartition(topic, 0, first)]).values():
        done.result()


def test_a_topic_that_is_made_anew_is_told_while_it_is_read(broker: Broker) -> None:
    make_topic(broker, "g", 1)
    send(broker, "g", "1", "2", "3")
    client = open_client(stream(broker, "g"))
    assert len(read_until(client, 3)) == 3
    admin = AdminClient({"bootstrap.servers": broker})
    admin.delete_topics(["g"])["g"].result()
    with pytest.raises(MessagesGone):
        read_until(client, 1)
    client.close()


def test_a_topic_that_is_made_anew_is_told_although_it_is_as_long(broker: Broker) -> None:
    make_topic(broker, "h", 1)
    send(broker, "h", "1")
    client = open_client(stream(broker, "h"))
    client.close()
    admin = AdminClient({"bootstrap.servers": broker})
    admin.delete_topics(["h"])["h"].result()
    make_topic(broker, "h", 1)
    send(broker, "h", "1")
    again = TopicClient([stream(broker, "h")], {"s": {"h/0": 1}}, client.ids)
    with pytest.raises(MessagesGone) as caught:
        read_until(again, 1)
    assert caught.value.anew == {"s": "the topic h has been made anew"}
    fresh = TopicClient([stream(broker, "h")], {}, client.ids)
    assert read_until(fresh, 1) == ["1"]
    fresh.close()


@pytest.mark.parametrize(
    ("more", "here"),
    [
        ({}, True),
        ({"startingOffsets": "earliest", "maxOffsetsPerTrigger": "10"}, True),
        ({"failOnDataLoss": "TRUE"}, False),
        ({"failOnDataLoss": "false"}, False),
        ({"startingOffsets": "latest"}, False),
        ({"kafka.isolation.level": "read_committed"}, False),
        ({"kafka.security.protocol": "SSL"}, True),
        ({"kafka.security.protocol": "SASL_SSL", "kafka.sasl.mechanism": "GSSAPI"}, False),
        ({"subscribePattern": "x.*"}, False),
        ({"minPartitions": "4"}, False),
        ({"kafka.sasl.jaas.config": "env:NOT_THERE"}, False),
    ],
)
def test_only_topics_whose_options_are_known_are_read_here(
    more: dict[str, str], here: bool
) -> None:
    assert is_read_here(stream("nowhere:1", "x", **more)) == here


def test_files_are_not_read_as_topics(tmp_path: Path) -> None:
    assert not is_read_here(Stream("s", DataSource("json", str(tmp_path)), "ts", 1, None, ()))
