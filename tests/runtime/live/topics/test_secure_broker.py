"""What Spark is given for a broker, and what the client of this process is given for the same."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ontoweir.runtime.live.topics.secure_broker import translate_options
from ontoweir.runtime.live.topics.topic_client import is_read_here
from tests.runtime.kafka_broker import MISSING, list_jars, start_broker
from tests.runtime.live.topics.test_topic_client import open_client, read_until, stream

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
LOGIN = ' required username="u" password="p \\"q\\" \\\\ ;";'
SERVER = {"kafka.bootstrap.servers": "h:1"}
WHO = {"sasl.username": "u", "sasl.password": 'p "q" \\ ;'}


def sasl(
    protocol: str = "SASL_SSL", mechanism: str = "PLAIN", login: str = PLAIN + LOGIN
) -> dict[str, str]:
    return {
        **SERVER,
        "kafka.security.protocol": protocol,
        "kafka.sasl.mechanism": mechanism,
        "kafka.sasl.jaas.config": login,
    }


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (SERVER, {}),
        ({**SERVER, "kafka.client.id": "c"}, {"client.id": "c"}),
        (
            sasl("SASL_PLAINTEXT"),
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN", **WHO},
        ),
        (
            sasl(mechanism="SCRAM-SHA-512", login=SCRAM + LOGIN),
            {"security.protocol": "SASL_SSL", "sasl.mechanisms": "SCRAM-SHA-512", **WHO},
        ),
        (
            {
                **SERVER,
                "kafka.security.protocol": "SSL",
                "kafka.ssl.truststore.type": "PEM",
                "kafka.ssl.truststore.location": "/ca.pem",
                "kafka.ssl.keystore.type": "PEM",
                "kafka.ssl.keystore.location": "/me.pem",
                "kafka.ssl.key.password": "k",
                "kafka.ssl.endpoint.identification.algorithm": "",
            },
            {
                "security.protocol": "SSL",
                "ssl.ca.location": "/ca.pem",
                "ssl.certificate.location": "/me.pem",
                "ssl.key.location": "/me.pem",
                "ssl.key.password": "k",
                "ssl.endpoint.identification.algorithm": "none",
            },
        ),
    ],
)
def test_the_client_is_given_what_spark_is(given: dict[str, str], wanted: dict[str, str]) -> None:
    found = translate_options(given)
    assert found == {"bootstrap.servers": "h:1", **wanted}
    consumer = pytest.importorskip("confluent_kafka").Consumer
    if "/ca.pem" not in found.values():  # files are looked for at once
        consumer({**found, "group.id": "g"}).close()


@pytest.mark.parametrize(
    "given",
    [
        {**SERVER, "kafka.max.poll.records": "5"},
        {**SERVER, "kafka.security.protocol": "ssl"},
        {**SERVER, "kafka.sasl.mechanism": "PLAIN"},
        sasl(mechanism="GSSAPI"),
        sasl(mechanism="SCRAM-SHA-256"),
        sasl(login=PLAIN + ' sufficient username="u" password="p";'),
        sasl(login=PLAIN + ' required username="u" password="p" user_x="y";'),
        sasl(login=PLAIN + ' required username="u";'),
        sasl(login="another.Module" + LOGIN),
        {**sasl(), "kafka.ssl.truststore.location": "/trust.jks"},
        {**sasl(), "kafka.ssl.truststore.password": "p"},
        {**sasl(), "kafka.ssl.keystore.location": "/key.jks"},
        {**sasl(), "kafka.ssl.endpoint.identification.algorithm": "other"},
    ],
)
def test_what_is_not_known_to_mean_the_same_is_left_to_spark(given: dict[str, str]) -> None:
    assert translate_options(given) is None


BROKER = """
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:SASL_SSL
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.plaintext.plain.sasl.jaas.config={module} required username="b" password="b" \\
  user_b="b" user_u="hunter-two";
ssl.keystore.type=PEM
ssl.keystore.location={pem}
ssl.truststore.type=PEM
ssl.truststore.location={trusted}
"""


def test_a_broker_that_asks_for_a_login_over_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real one: with the password from the environment, and with a wrong one."""
    confluent = pytest.importorskip("confluent_kafka")
    if not list_jars("broker"):
        pytest.skip(MISSING)
    if shutil.which("openssl") is None:
        pytest.skip("NOT TESTED: there is no openssl to make a certificate")
    key, certificate, both = (tmp_path / name for name in ("key.pem", "ca.pem", "both.pem"))
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout"]
    make += [str(key), "-out", str(certificate), "-subj", "/CN=127.0.0.1"]
    make += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(make, check=True, capture_output=True)
    both.write_text(key.read_text() + certificate.read_text())
    monkeypatch.setenv("LOGIN", PLAIN + ' required username="u" password="hunter-two";')
    options = {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": "env:LOGIN",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(certificate),
    }
    with start_broker(BROKER.format(module=PLAIN, pem=both, trusted=certificate)) as broker:
        given = {**options, "kafka.bootstrap.servers": broker}
        given["kafka.sasl.jaas.config"] = PLAIN + ' required username="u" password="hunter-two";'
        producer = confluent.Producer(translate_options(given))
        producer.produce("t", "1", partition=0)
        assert producer.flush(20) == 0
        mine = stream(broker, "t", **options)
        assert is_read_here(mine)
        client = open_client(mine)
        assert read_until(client, 1) == ["1"]
        client.close()
        given["kafka.sasl.jaas.config"] = PLAIN + ' required username="u" password="wrong";'
        refused: list[object] = []
        wrong = {**(translate_options(given) or {}), "error_cb": refused.append}
        admin = confluent.admin.AdminClient(wrong)
        with pytest.raises(confluent.KafkaException):
            admin.list_topics(timeout=5)
