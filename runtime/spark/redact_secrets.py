"""Secrets in the options of sources and sinks: read from the environment, never shown."""

import os
import re
from collections.abc import Mapping

from ontoweir.errors import CatalogError, Source

_SECRET = re.compile(
    r"passw|secret|jaas|token|credential|private|keystore\.key|keystore\.certificate|access\.?key"
    r"|api\.?key|authorization",
    re.IGNORECASE,
)
_MASK = "***"


def is_secret(option: str) -> bool:
    """Whether an option's value must not be shown.

    >>> [is_secret(n) for n in ("kafka.sasl.jaas.config", "kafka.ssl.keystore.password", "topic")]
    [True, True, False]
    """
    return _SECRET.search(option) is not None


def resolve_options(
    options: Mapping[str, str],
    source: Source | None = None,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Options with `env:NAME` replaced by that variable of the environment.

    Raises:
        CatalogError: there is no such variable.
    """
    resolved = {}
    for name, value in options.items():
        variable = value.removeprefix("env:")
        if value.startswith("env:") and variable not in environ:
            raise CatalogError(
                f"the option {name} needs the environment variable {variable}",
                why=f"its value is env:{variable}, and there is no such variable",
                fix=f"set {variable}, or write the option's value",
                source=source,
            )
        resolved[name] = environ[variable] if value.startswith("env:") else value
    return resolved


def redact_secrets(text: str, options: Mapping[str, str]) -> str:
    """A text without the values of secret options, nor the quoted parts of them.

    >>> redact_secrets("no login for u with pw1", {"kafka.sasl.password": "pw1"})
    'no login for u with ***'
    """
    secrets: set[str] = set()
    for name, value in options.items():
        if is_secret(name) and value:
            secrets.add(value)
            secrets.update(part for part in re.findall(r'"([^"]*)"', value) if len(part) > 2)
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text
