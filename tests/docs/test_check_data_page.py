"""The page about checking data: its commands are run, and the output compared."""

import contextlib
import io
import re
from pathlib import Path

from ontoweir.cli import main
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "check-data.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_output_is_as_shown(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(_blocks("toml")[0])
    (tmp_path / "passages.csv").write_text(_blocks("csv")[0])
    (tmp_path / "gates.csv").write_text("name\nnorth\nsouth\neast\n")
    (tmp_path / "again.sql").write_text(_blocks("sql")[0])
    first, second = (block.splitlines() for block in _blocks("console"))
    out = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(out):
        assert main(_arguments(first[0])) == 1
        for shown in _blocks("text"):
            assert shown in out.getvalue()
        # what it says is mended, as the page says, and replayed
        toml = _blocks("toml")[0].replace('"1 second"', '"1 second", lateness = "2 seconds"')
        bounded = "max_per_timestamp = 2\n[streams.passage.columns]"
        toml = toml.replace("[streams.passage.columns]", bounded)
        badge = 'badge = { type = "int", min = 0, max = 999 }'
        Path("ontoweir.toml").write_text(toml.replace('badge = "int"', badge))
        assert main(_arguments(second[0])) == 0
        assert main(_arguments(second[1])) == 0
    assert "west" in out.getvalue()


def _arguments(line: str) -> list[str]:
    return line.removeprefix("$ ontoweir ").split()
