"""What is declared of a schema registry, and what is none."""

from pathlib import Path

import pytest

from ontoweir.errors import CatalogError
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.project.project import load_project

TOML = """[project]
[streams.s]
source = {{ format = "{format}", {more} }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ k = "int" }}
"""


def source(folder: Path, registry: str, form: str = "kafka") -> DataSource:
    more = f"registry = {registry}" + ("" if form == "kafka" else ', path = "x"')
    (folder / "ontoweir.toml").write_text(TOML.format(format=form, more=more))
    return load_project(folder, environ={}).catalog.streams["s"].data


@pytest.mark.parametrize(
    ("text", "registry"),
    [
        ('"http://r:8081/"', {"url": "http://r:8081/"}),
        ('{ url = "env:REGISTRY" }', {"url": "env:REGISTRY"}),
        (
            '{ url = "https://r", user = "u", password = "env:P", ca = "c.pem" }',
            {"url": "https://r", "user": "u", "password": "env:P", "ca": "c.pem"},
        ),
    ],
)
def test_registries(tmp_path: Path, text: str, registry: dict[str, str]) -> None:
    assert dict(source(tmp_path, text).registry) == registry


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ('"http://r"', "json", "has a registry, and format = 'json'"),
        ('"registry:8081"', "kafka", "URL is 'registry:8081'"),
        ('"http://me:secret@r"', "kafka", r"URL is 'http://\*\*\*@r'"),
        ('{ user = "u" }', "kafka", "has no url"),
        ('{ url = "http://r", password = "p" }', "kafka", "has no user"),
        ('{ url = "http://r", colour = "p" }', "kafka", "unknown key 'colour'"),
        ("7", "kafka", "it must be"),
    ],
)
def test_what_is_none(tmp_path: Path, text: str, form: str, said: str) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        source(tmp_path, text, form)
    assert error.value.source is not None
    assert error.value.source.line == 3
    assert "secret" not in str(error.value)


def test_without_one_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML.format(format="kafka", more="options = {}"))
    assert load_project(tmp_path, environ={}).catalog.streams["s"].data.registry == ()
