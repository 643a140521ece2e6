"""`ontoweir init --from` of zips, of UTF-16, and of what Excel writes for itself."""

import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

ROWS = "".join(
    f'2026-03-01T{n // 4:02}:{n % 4 * 15:02}:00;d{n % 3};{n};"ok, ""so""\nand on"\n'
    for n in range(90)
)
TEXT = f"Zeit;Gerät;Wert;Note\n{ROWS}"


def _make(kind: str, folder: Path) -> Path:
    file = folder / "meter.csv"
    match kind:
        case "utf-16" | "latin-1":
            file.write_text(f"sep=;\n{TEXT}", encoding=kind)
        case "plain":
            file.write_text(TEXT, encoding="utf-8")
        case _:
            file.write_text(f"sep=;\r\n{TEXT}", encoding="utf-16")
            packed = folder / "all.zip"
            with zipfile.ZipFile(packed, "w") as made:
                made.write(file, "export/meter.csv")
                made.writestr("__MACOSX/export/._meter.csv", b"\0\1")
            return packed
    return file


@pytest.mark.parametrize("kind", ["plain", "utf-16", "latin-1", "zip"])
def test_they_are_read(kind: str, tmp_path: Path, run: Run) -> None:
    project = tmp_path / "p"
    told = run("init", project, "--from", _make(kind, tmp_path))
    assert told.code == 0, told.err
    made = tomllib.loads((project / "ontoweir.toml").read_text())["streams"]["meter"]
    assert {*made["columns"]} == {"Gerät", "Wert", "Note"}
    assert ("skip" in made["source"]["options"]) == (kind != "plain")
    assert ("copied, as of now: data/meter.csv" in told.out) == (kind in ("utf-16", "zip"))
    checked = run("check", project, "--data")
    assert "meter: what is declared is true of 90 rows" in checked.out, checked.err


def test_two_tables_in_a_zip(tmp_path: Path, run: Run) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as made:
        for name in ("a", "b"):
            made.writestr(f"{name}.csv", TEXT)
    assert "2 streams (a, b)" in run("init", tmp_path / "p", "--from", tmp_path / "all.zip").out


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["x/a.csv", "y/a.csv"], "it has two files called a.csv"),
        ([".a.csv"], "it has no file"),
        (None, "not a zip file"),
    ],
)
def test_zips_that_are_refused(
    names: list[str] | None, said: str, tmp_path: Path, run: Run
) -> None:
    file = tmp_path / "all.zip"
    if names is None:
        file.write_bytes(b"PK")
    else:
        with zipfile.ZipFile(file, "w") as made:
            for name in names:
                made.writestr(name, TEXT)
    told = run("init", tmp_path / "p", "--from", file)
    assert (told.code, said in told.err) == (2, True), told.err
    cut = tmp_path / "cut.csv"
    cut.write_bytes(TEXT.encode("utf-16")[:-1])
    assert "it begins as UTF-16, and is none" in run("init", tmp_path / "q", "--from", cut).err


@pytest.mark.parametrize(("inside", "copied"), [("m.zip", "m.csv"), ("m.csv.zip", "m.csv")])
def test_what_pandas_calls_as_its_zip(inside: str, copied: str, tmp_path: Path, run: Run) -> None:
    packed = tmp_path / "m.zip"
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr(inside, TEXT)
    ran = run("init", tmp_path / "p", "--from", packed)
    assert ran.code == 0, ran.err
    assert (tmp_path / "p" / "data" / copied).read_text() == TEXT


def test_a_zip_in_a_zip_is_unpacked_too(tmp_path: Path, run: Run) -> None:
    packed, outer = _make("zip", tmp_path), tmp_path / "outer.zip"
    with zipfile.ZipFile(outer, "w") as made:
        made.write(packed, "inner.zip")
    assert run("init", tmp_path / "p", "--from", outer).code == 0
