"""How a broker is reached, in librdkafka's words: the options that Spark hands to Kafka's own
client are Java's."""

import re
from collections.abc import Mapping

_PREFIX = "kafka."
_PLAIN = {"bootstrap.servers": "bootstrap.servers", "client.id": "client.id"}
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_LOGIN = re.compile(r'\s*([\w.]+)\s+required((?:\s+\w+\s*=\s*"(?:[^"\\]|\\.)*")*)\s*;\s*')
_ENTRY = re.compile(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_CHECKED = {"https": "https", "": "none"}


def translate_options(options: Mapping[str, str]) -> dict[str, str] | None:
    """The client's configuration (None: some option is not known to mean the same there, so that
    Spark has to read).

    Login is by PLAIN or SCRAM; certificates are PEM, in files or in the options themselves. Java's
    own key stores (JKS, PKCS12), Kerberos and OAuth are left to Spark.

    Args:
        options: those of a stream that begin with `kafka.`, secrets filled in.

    >>> translate_options({"kafka.bootstrap.servers": "h:1", "kafka.security.protocol": "SSL"})
    {'bootstrap.servers': 'h:1', 'security.protocol': 'SSL'}
    >>> translate_options({"kafka.bootstrap.servers": "h:1", "kafka.max.poll.records": "5"})
    """
    given = {name.lower().removeprefix(_PREFIX): value for name, value in options.items()}
    found = {new: given.pop(name) for name, new in _PLAIN.items() if name in given}
    protocol = given.pop("security.protocol", "PLAINTEXT")
    if protocol not in _PROTOCOLS:
        return None
    if protocol != "PLAINTEXT":
        found["security.protocol"] = protocol
    more: list[dict[str, str] | None] = []
    if protocol.startswith("SASL"):
        more.append(_take_login(given))
    if protocol.endswith("SSL"):
        more += [_take_trust(given), _take_key(given)]
    for part in more:
        if part is None:
            return None
        found |= part
    return None if given else found


def _take_login(given: dict[str, str]) -> dict[str, str] | None:
    mechanism, login = given.pop("sasl.mechanism", "GSSAPI"), given.pop("sasl.jaas.config", "")
    read = _LOGIN.fullmatch(login)
    if mechanism not in _MODULES or read is None or read.group(1) != _MODULES[mechanism]:
        return None
    entries = {n: re.sub(r"\\(.)", r"\1", v) for n, v in _ENTRY.findall(read.group(2))}
    if entries.keys() != {"username", "password"}:
        return None
    return {
        "sasl.mechanisms": mechanism,
        "sasl.username": entries["username"],
        "sasl.password": entries["password"],
    }


def _take_trust(given: dict[str, str]) -> dict[str, str] | None:
    """Which certificates of brokers are trusted, and whether their names are looked at."""
    found = {}
    checked = given.pop("ssl.endpoint.identification.algorithm", "https")
    if checked not in _CHECKED:
        return None
    if checked != "https":
        found["ssl.endpoint.identification.algorithm"] = _CHECKED[checked]
    kind = given.pop("ssl.truststore.type", "JKS")
    for name, new in (("location", "ssl.ca.location"), ("certificates", "ssl.ca.pem")):
        if (value := given.pop(f"ssl.truststore.{name}", None)) is not None:
            if kind != "PEM":
                return None
            found[new] = value
    return found


def _take_key(given: dict[str, str]) -> dict[str, str] | None:
    """The client's own certificate and key."""
    found: dict[str, str] = {}
    kind = given.pop("ssl.keystore.type", "JKS")
    names = {
        "location": ("ssl.certificate.location", "ssl.key.location"),  # one file has both
        "certificate.chain": ("ssl.certificate.pem",),
        "key": ("ssl.key.pem",),
    }
    for name, several in names.items():
        if (value := given.pop(f"ssl.keystore.{name}", None)) is not None:
            if kind != "PEM":
                return None
            found |= dict.fromkeys(several, value)
    if (password := given.pop("ssl.key.password", None)) is not None:
        found["ssl.key.password"] = password
    return found
