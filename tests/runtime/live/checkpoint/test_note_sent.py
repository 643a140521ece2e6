"""A checkpoint restored from an older copy, when answers have been sent since: refused."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from ontoweir.errors import UsageError
from ontoweir.runtime.live.live_options import LiveOptions
from ontoweir.runtime.live.output.sinks.kafka import KafkaSink
from tests.runtime.fork_cycles import choose, run


def test_what_has_been_sent_is_not_sent_as_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr(
        KafkaSink, "publish", lambda sink, query, batch, *_: sent.append((query, batch))
    )
    job, batches = choose(7)
    options = LiveOptions(tmp_path / "check", tmp_path / "out", sink=KafkaSink("t", {}))
    run(tmp_path, job, batches[:3], options)
    shutil.copytree(tmp_path / "check", tmp_path / "copy")
    run(tmp_path, job, batches[:5], options)  # the twin: it goes on
    assert len(sent) == len(set(sent))
    shutil.rmtree(tmp_path / "check")
    shutil.copytree(tmp_path / "copy", tmp_path / "check")
    before: Any = list(sent)
    with pytest.raises(UsageError, match=r"up to micro-batch 4 have been sent.* is at 2"):
        run(tmp_path, job, batches, options)
    assert sent == before
