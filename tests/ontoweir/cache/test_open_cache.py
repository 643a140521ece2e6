"""Entries come back as they were written, and nothing else ever does."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest

from ontoweir.cache import open_cache as opening
from ontoweir.cache.encode_values import decode_values, encode_values
from ontoweir.cache.open_cache import Cache, open_cache
from ontoweir.errors import Source
from ontoweir.ontology.axioms import Because, Exists, NamedClass, Role, SubConcept


def read(cache: Cache, key: object) -> object:
    return cache.read("thing", key, lambda entry: entry)


def entries(cache: Cache) -> list[Path]:
    return sorted(cache.folder.iterdir())


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    made = open_cache(str(tmp_path / "cache"))
    assert made is not None
    return made


def test_an_entry_comes_back_under_its_key_alone(cache: Cache) -> None:
    cache.write("thing", ["a", 1], {"x": [1, None, "é"]})
    assert read(cache, ["a", 1]) == {"x": [1, None, "é"]}
    assert read(cache, ["a", 2]) is None
    assert cache.read("other", ["a", 1], lambda entry: entry) is None


def test_a_corrupted_or_foreign_entry_is_not_there_and_is_written_again(cache: Cache) -> None:
    cache.write("thing", 1, "whole")
    (file,) = entries(cache)
    whole = file.read_bytes()
    for wrong in (
        b"",
        whole[:-1],
        whole.replace(b"whole", b"wrong"),
        b"\x80\x04",
        b"\n",
        b"0" * 99,
    ):
        file.write_bytes(wrong)
        assert read(cache, 1) is None
    cache.write("thing", 1, "whole")
    assert file.read_bytes() == whole
    file.unlink()
    file.mkdir()
    assert read(cache, 1) is None
    cache.write("thing", 1, "whole")  # it cannot be: nobody is told


def test_what_cannot_be_made_of_an_entry_is_not_there(cache: Cache) -> None:
    cache.write("thing", 1, [["Popen", [[0]]]])
    assert cache.read("thing", 1, lambda entry: decode_values(entry, [Source])) is None


def test_another_program_has_other_entries(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("thing", 1, "old")
    monkeypatch.setattr(opening, "digest_program", lambda: "another")
    assert read(cache, 1) is None
    cache.write("thing", 1, "new")
    assert len(entries(cache)) == 2


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o770)
    assert open_cache(str(folder)) is None
    folder.chmod(0o750)
    assert open_cache(str(folder)) is not None
    file = tmp_path / "file"
    file.write_text("")
    assert open_cache(str(file)) is None


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_cache() is None  # the tests switch it off
    monkeypatch.delenv(opening.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    found = open_cache()
    assert found is not None
    assert found.folder == tmp_path / "xdg" / "ontoweir"
    assert found.folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (again := open_cache()) is not None
    assert again.folder == tmp_path / ".cache" / "ontoweir"
    assert open_cache("off") is None


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1000)
    for n in range(3):
        cache.write("thing", n, "x" * 200)
    files = {n: cache._file("thing", n) for n in range(5)}
    for n in range(3):
        os.utime(files[n], (n, n))
    assert read(cache, 0) is not None  # used just now
    cache.write("thing", 3, "x" * 200)
    cache.write("thing", 4, "x" * 2000)  # more than all
    assert [n for n in files if files[n].exists()] == [0, 2, 3]


def test_many_at_once_write_the_same_entry(cache: Cache) -> None:
    value = list(range(5000))

    def use(n: int) -> bool:
        cache.write("thing", n % 2, value)
        return read(cache, n % 2) in (None, value)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(64)))
    assert read(cache, 0) == read(cache, 1) == value
    assert all(file.suffix == ".json" for file in entries(cache))


USE = """
import sys
from pathlib import Path
from ontoweir.cache.open_cache import Cache
cache, n = Cache(Path(sys.argv[1]), limit=30_000), int(sys.argv[2])  # it holds a few of them
for round in range(20):
    cache.write("thing", [n, round % 3], ["x" * 4000, n])
    other = (n + 1) % 4
    found = cache.read("thing", [other, round % 3], lambda entry: entry)
    assert found in (None, ["x" * 4000, other])
"""


def test_many_processes_write_and_remove_at_once(cache: Cache) -> None:
    command = [sys.executable, "-c", USE, str(cache.folder)]
    processes = [subprocess.Popen([*command, str(n)]) for n in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    cache = Cache(cache.folder, limit=30_000)
    cache.write("thing", "last", 1)
    assert all(file.suffix == ".json" for file in entries(cache))
    assert sum(file.stat().st_size for file in entries(cache)) <= 30_000


def test_many_entries_are_written_and_the_folder_looked_through_once(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    trims: list[None] = []
    monkeypatch.setattr(Cache, "_trim", lambda self: trims.append(None))
    cache.write_all("thing", ((n, [n]) for n in range(9)))
    assert [read(cache, n) for n in range(9)] == [[n] for n in range(9)]
    assert len(trims) == 1


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("at", ["mkstemp", "fdopen", "replace", "fill"])
def test_what_cannot_be_written_is_not_kept(
    at: str, code: int, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, also one that fills while an entry is written; a folder that is read-only."""
    cache.write("thing", 1, "old")

    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    class Full(FileIO):
        write = fail

    with monkeypatch.context() as patched:
        if at == "mkstemp":
            patched.setattr(tempfile, "mkstemp", fail)
        elif at == "fill":
            patched.setattr(os, "fdopen", Full)
        else:
            patched.setattr(os, at, fail)
        cache.write("thing", 1, "new")
        cache.write("thing", 2, "new")
    assert read(cache, 1) == "old"
    assert read(cache, 2) is None
    assert [file.suffix for file in entries(cache)] == [".json"]
    cache.write("thing", 1, "new")
    assert read(cache, 1) == "new"


CLASSES = (Because, Exists, NamedClass, Role, Source, SubConcept)
PLACED = Because("SubClassOf(:A :B)", Source("o.ttl", 3, 4, 5))
VALUES = [
    (),
    ("a", 1, True, 1.0, None, Decimal("1.10"), frozenset({"b", "a"}), frozenset()),
    (1, True, 1.0, Decimal(1), "1", 0, False, 0.0),
    SubConcept(NamedClass("A"), Exists(Role("p", True)), PLACED),
    (Source("f", 1, 2, 3), Source("f", 1), Source("f", 1, 9, 10)),
    ((("deep",),), ((),), ("deep",)),
    (Role("a"), NamedClass("a"), "a", ("a",), frozenset({"a"}), (("a", None), ("a", 1, ()))),
    (
        SubConcept(NamedClass("A"), NamedClass("A"), Because("", None)),
        (),
        (((),),),
        NamedClass("A"),
    ),
]


@pytest.mark.parametrize("value", VALUES)
def test_values_are_the_same_after_json(cache: Cache, value: object) -> None:
    cache.write("value", 1, encode_values(value))
    found = cache.read("value", 1, lambda entry: (decode_values(entry, CLASSES),))
    assert found is not None
    assert repr(found[0]) == repr(value) or found[0] == value
    assert type(found[0]) is type(value)


def test_fields_that_are_not_compared_are_kept() -> None:
    one, other = Source("f", 1, 2, 3), Source("f", 1, 9, 10)
    assert [s.column for s in decode_values(encode_values((one, other)), [Source])] == [2, 9]


def test_kinds_of_numbers_are_kept() -> None:
    numbers = (1, True, 1.0, Decimal("1.0"), Fraction(1), 0.0, -0.0, 0)
    made = decode_values(encode_values(numbers), ())
    assert repr(made) == repr(numbers)


class Pair(NamedTuple):
    left: int
    right: str | None


class Box:
    def __init__(self, size: int) -> None:
        self.size = size


def test_named_tuples_dicts_and_opened_classes_are_kept() -> None:
    value: Any = (
        Pair(1, "a"),
        {},
        {1: {"x": (2,)}, Pair(1, None): 3},
        {1: 2},
        (1, 2),
        Box(3),
        Box(4),
    )
    encoded = encode_values(value, {Box: lambda box: (box.size,)})
    made = decode_values(json.loads(json.dumps(encoded)), [Pair], {Box: Box})
    assert made[:5] == value[:5]
    assert list(made[2]) == list(value[2])
    assert list(map(type, made)) == list(map(type, value))
    assert [box.size for box in made[5:]] == [3, 4]


def test_what_json_has_not_is_refused() -> None:
    class Text(str):
        pass

    for value in (Text("x"), [1], {"a": [1]}, object()):
        with pytest.raises(TypeError, match="is not written"):
            encode_values((value,))
