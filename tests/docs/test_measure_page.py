"""The page about measuring: its project is measured, and the output compared."""

import contextlib
import io
import re
from pathlib import Path

from ontoweir.cli import main
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "measure.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_output_is_as_shown(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(_block("toml"))
    (tmp_path / "passages.csv").write_text(_block("csv"))
    (tmp_path / "gates.csv").write_text("name\nnorth\nsouth\neast\n")
    (tmp_path / "again.sql").write_text(_block("sql"))
    out = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(out):
        assert main(["measure", "--sql", "again.sql"]) == 0
    assert re.sub(r"[ \t]+$", "", out.getvalue(), flags=re.MULTILINE) == _block("text")
    command, *last = _block("console").splitlines()
    assert command == "$ ontoweir measure --sql again.sql"
    assert out.getvalue().splitlines()[-len(last) :] == last
