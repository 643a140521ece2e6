"""Sinks by name: every list of them is made of `SINKS`, or agrees with it."""

from pathlib import Path
from typing import Literal, get_args

import pytest

from ontoweir.api import python_api
from ontoweir.errors import UsageError
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.sinks.kafka import KafkaSink
from ontoweir.runtime.live.output.sinks.memory import MemorySink
from ontoweir.runtime.live.output.sinks.sinks import SINKS, make_sink

_GIVEN = {"url": "http://127.0.0.1:9/", "dsn": "postgresql://127.0.0.1:9/x", "table": "a.{query}"}
"""Options' values where not every text is one."""
NAMES = {kind.name for kind in SINKS}


def test_python_and_the_docs_name_the_same_sinks(root: Path) -> None:
    annotation = python_api.OpenProject.register.__annotations__["sink"]
    named, _ = get_args(eval(annotation, {"Literal": Literal, "MemorySink": str}))
    assert set(get_args(named)) == NAMES
    page = (root / "docs" / "live.md").read_text()
    assert not [name for name in NAMES if f"`{name}`" not in page and f"--sink {name}" not in page]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_sink_has_what_it_requires_and_nothing_it_does_not_know(
    name: str, tmp_path: Path
) -> None:
    (kind,) = (kind for kind in SINKS if kind.name == name)
    given = {option: _GIVEN.get(option, "x") for option in kind.required}
    assert make_sink(name, tmp_path, given).describe("q")
    for option in kind.required:
        with pytest.raises(UsageError, match=f"needs the option {option}"):
            make_sink(name, tmp_path, {n: v for n, v in given.items() if n != option})
    if kind.options is None:
        with pytest.raises(UsageError, match=f"the sink {name} has no option k"):
            make_sink(name, tmp_path, {"k": "v"})


def test_a_sink_that_is_not_known(tmp_path: Path) -> None:
    named = "parquet, jsonl, csv, arrow, avro, srj, nq, console, kafka, webhook, table, postgres, "
    named += "delta, iceberg and mqtt"
    with pytest.raises(UsageError, match=named):
        make_sink("nowhere", tmp_path, {})


def test_only_what_keeps_secrets_redacts_them(tmp_path: Path) -> None:
    kafka = KafkaSink("t-{query}", {"kafka.sasl.password": "hush", "kafka.acks": "all"})
    said = "no login with hush for all"
    assert kafka.redact(said) == "no login with *** for all"
    assert kafka.describe("q") == "the Kafka topic t-q"
    assert FileSink(tmp_path).redact(said) == MemorySink().redact(said) == said
    assert kafka.irrevocable
    assert not FileSink(tmp_path).irrevocable
