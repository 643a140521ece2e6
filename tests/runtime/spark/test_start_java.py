"""Java that does not start says why in one line; what it says while it starts is left out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ontoweir.commands.test_errors import is_one_line
from tests.runtime.kafka_broker import make_settings

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TOML = """
[streams.s]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = "int" }
"""


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ({"spark.jars.packages": "org.example:none_2.13:1.0"}, 2, ":1.0 cannot be had"),
        ({"spark.jars.packages": "none"}, 2, "'groupId:artifactId:version'"),
        ({"spark.driver.memory": "12q"}, 3, "Invalid maximum heap size"),
        ({"spark.master": "here"}, 3, "Master must"),
    ],
)
def test_what_is_asked_for_and_cannot_be(
    settings: dict[str, str], code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    command = [sys.executable, "-m", "ontoweir", "run", str(tmp_path), "--serve", "--once"]
    register = [*command[:3], "register", str(tmp_path), "--sql", str(tmp_path / "q.sql")]
    (tmp_path / "q.sql").write_text("SELECT s.k FROM s")
    assert subprocess.run(register, check=False).returncode == 0
    for name, text in {**make_settings(tmp_path), **settings}.items():
        command += ["--spark", f"{name}={text}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert is_one_line(done.stderr), done.stderr
    assert said in done.stderr
    assert not (tmp_path / "out" / "answers").exists()


def test_a_session_is_quiet_and_leaves_no_files(tmp_path: Path) -> None:
    script = (
        "from ontoweir.runtime.spark.start_session import start_session as s; s().range(3).count()"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
