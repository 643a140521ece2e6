"""The page about scripts of SQL: its commands are run, and the output compared."""

import contextlib
import io
import re
from pathlib import Path

from ontoweir.cli import main
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "scripts.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_output_is_as_shown(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(_blocks("sql")[0])
    first, second = (block.splitlines()[0] for block in _blocks("console"))
    out = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(out):
        assert main(_arguments(first)) == 1
        for block in _blocks("text"):
            for line in block.splitlines():
                assert line in out.getvalue().splitlines()
        Path("ontoweir.toml").write_text(_blocks("toml")[0])
        assert main(_arguments(second)) == 0


def _arguments(line: str) -> list[str]:
    return line.removeprefix("$ ontoweir ").split()
