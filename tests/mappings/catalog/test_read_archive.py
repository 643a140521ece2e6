"""What is declared of an archive, and what cannot be one."""

from pathlib import Path

import pytest

from ontoweir.errors import CatalogError
from ontoweir.project.project import load_project

STREAM = """
[streams.{0}]
source = {{ {1} }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ k = "int" }}
"""
RELATION = """
[relations.{0}]
source = {{ {1} }}
columns = {{ k = "int" }}
"""
FILES = 'format = "csv", path = "in"'


def archives(folder: Path, **sources: str) -> dict[str, str | None]:
    text = "[project]\n"
    for name, source in sources.items():
        text += (RELATION if name.startswith("r") else STREAM).format(name, source)
    (folder / "ontoweir.toml").write_text(text)
    streams = load_project(folder, environ={}).catalog.streams
    return {name: stream.data.archive for name, stream in streams.items()}


def test_archives(tmp_path: Path) -> None:
    found = archives(
        tmp_path,
        s=f'{FILES}, archive = "old/s"',
        t='format = "parquet", path = "t/*.parquet", archive = "/old/t"',
        u='format = "mqtt", path = "u", archive = "old/u", options = { host = "h", topic = "t" }',
        v='format = "csv", path = "v"',
        r='format = "csv", path = "r.csv"',
    )
    assert found == {"s": f"{tmp_path}/old/s", "t": "/old/t", "u": f"{tmp_path}/old/u", "v": None}


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({"s": 'format = "kafka", archive = "old"'}, "only local files are moved"),
        ({"s": 'format = "orc", path = "in", archive = "old"'}, "only local files are moved"),
        ({"s": 'format = "csv", path = "s3://b/in", archive = "old"'}, "only local files"),
        ({"s": f'{FILES}, archive = "s3://b/old"'}, "only local files are moved"),
        ({"s": f'{FILES}, archive = "old/*"'}, r"has archive = .*old/\*"),
        ({"s": f'{FILES}, archive = "old/day=1"'}, "has archive = "),
        ({"s": f'{FILES}, archive = "in/old"'}, "is, has, or is in, the folder .*/in of s"),
        ({"s": 'format = "csv", path = "a/in", archive = "a"'}, "the folder .*/a/in of s"),
        ({"s": f'{FILES}, archive = "old"', "t": 'format = "csv", path = "in"'}, "of t"),
        ({"s": f'{FILES}, archive = "old"', "t": 'format = "csv", path = "old/t"'}, "of t"),
        (
            {
                "s": f'{FILES}, archive = "old"',
                "t": 'format = "csv", path = "other", archive = "old/t"',
            },
            "of t",
        ),
        ({"s": f'{FILES}, archive = "old"', "r": 'format = "csv", path = "in/r.csv"'}, "of r"),
        ({"r": 'format = "csv", path = "in", archive = "old"'}, "unknown key 'archive'"),
        ({"s": f"{FILES}, archive = 7"}, "must be"),
    ],
)
def test_what_is_none(tmp_path: Path, sources: dict[str, str], said: str) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        archives(tmp_path, **sources)
    assert error.value.source is not None
    assert error.value.source.line == 4
