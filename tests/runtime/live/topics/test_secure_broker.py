"""What Spark is given for a broker, and what the client of this process is given for the same."""

import pytest

from ontoweir.runtime.live.topics.secure_broker import translate_options

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
