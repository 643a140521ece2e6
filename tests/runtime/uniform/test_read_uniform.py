"""Lines of JSON that are all alike: what is read is what Arrow's reader and Python's make of them,
and anything else is left to others."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.json as pjson
import pytest

from ontoweir.runtime.uniform.read_uniform import read_uniform

KINDS = {
    "a": pa.string(),
    "n": pa.int64(),
    "é": pa.string(),
    "m": pa.int64(),
    "x": pa.float64(),
    "d": pa.decimal128(36, 2),
    "t": pa.bool_(),
}
FRACTIONS = ("x", "d")
NUMBERS = ("0", "-0", "-0.0", "1.5", "12.25", "1e3", "-1E-05", "123456789012345678.5", "7", "0.1e1")
TEXTS = ("", "x", "four", "fives", "twelve bytes", "thirteen byte", "äöü" * 9, "}{][:", "null", "'")
COMMAS = ("x, y", ",", "twelve, bytes, and more", ",:{}", *TEXTS[:3])
EDGES = (0, 9, 10, 99_999_999, 100_000_000, 9_999_999_999_999_999, -1, -9_999_999_999_999_999)
CHANGES = (
    *(b'"', b",", b"\\", b"{", b"}", b":", b"\n", b"\t", b"\0", b" ", b"-", b"0", b"9", b".", b"e"),
    *(b"null", b"true", b"false", b"tru", b'"x"', b"\xff", b"\xc3", b"\x7f"),
    *(b"\r", b",,", b'","', b'":', b"1" * 17),
    *(b"[", b"]", b"[]", b"},{", b"]}", b'"p":'),
)


def _parse(block: bytes) -> pa.Table:
    """Arrow's reader."""
    schema = pa.schema([(n, k) for n, k in KINDS.items() if n not in FRACTIONS])
    options = pjson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    return pjson.read_json(pa.BufferReader(block), parse_options=options)


def _load(block: bytes) -> list[tuple[Any, ...]] | None:
    """Python's reader, line by line; None: a line is no object, or a value not of its type."""
    rows = []
    for line in block.decode().removesuffix("\n").split("\n"):
        try:
            found = json.loads(line, parse_float=_Number, parse_int=_Number)
        except ValueError:
            return None
        if not isinstance(found, dict):
            return None
        for name, kind in KINDS.items():
            wanted: type = str if pa.types.is_string(kind) else _Number
            wanted = bool if pa.types.is_boolean(kind) else wanted
            if found.get(name) is not None and type(found[name]) is not wanted:
                return None
            if found.get(name) is not None and name not in FRACTIONS and wanted is _Number:
                found[name] = int(found[name])
        rows.append(tuple(found.get(name) for name in KINDS))
    return rows


class _Number(str):
    """A number, as it is written."""


def _make(random: Random) -> bytes:
    """Lines with the same members."""
    names = random.sample([*KINDS, "b", "", "null", "k,y"], random.randint(1, 6))
    blank = random.choice([(", ", ": "), (",", ":"), ("\t, ", " :")])
    texts = {name: random.random() < 0.5 for name in names}
    if random.random() < 0.8:  # as they are declared
        texts |= {name: name in ("a", "é") for name in KINDS}
    nulls = random.choice([0, 0, 0.3, 1])
    long = random.choice([1, 12, 16])
    said = random.choice([TEXTS, COMMAS])
    others = [n for n in names if n not in KINDS or random.random() < 0.03]
    nested = {n: random.randint(1, 5) for n in others if random.random() < 0.5}

    def value(name: str) -> Any:
        if name in nested:
            return put_in(name, nested[name])
        return single(name)

    def put_in(name: str, form: int) -> Any:
        one, more = single(name), single(name)
        forms: list[Any] = [{"p": one, "n": more}, [one], [one, {"a": more}], {"": {"p": [one]}}]
        return forms[form] if form < len(forms) else [[[one]], more]

    def single(name: str) -> Any:
        if random.random() < nulls:
            return None
        if name == "t" and random.random() < 0.97:
            return random.random() < 0.5
        if texts[name]:
            return random.choice(said)
        if name in FRACTIONS or name == "b":
            return f"@{random.choice(NUMBERS)}@"
        whole = random.choice([*EDGES, *[random.randint(-(10**9), 10**long - 1) for _ in EDGES]])
        return whole if long > 1 else abs(whole) % 10

    lines = [
        json.dumps({n: value(n) for n in names}, separators=blank, ensure_ascii=False)
        for _ in range(random.randint(1, 12))
    ]
    text = "\n".join(lines) + random.choice(["\n", ""])
    return text.replace('"@', "").replace('@"', "").encode()


def _rows(table: pa.Table) -> Sequence[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize("seed", range(8))
def test_random_lines_are_read_as_others_read_them(seed: int) -> None:
    random = Random(seed)
    taken = 0
    for _ in range(200):
        block = _make(random)
        table = read_uniform(block, KINDS)
        if table is None:
            continue
        taken += 1
        table.validate(full=True)
        assert _rows(table) == _load(block)
        shown = [n for n in KINDS if n not in FRACTIONS]
        assert table.select(shown).equals(_parse(block))
    assert taken > 60


@pytest.mark.parametrize("seed", range(8))
def test_what_is_changed_is_read_as_python_reads_it_or_not_at_all(seed: int) -> None:
    """A byte or some, anywhere: most of it makes lines that are no objects any more."""
    random = Random(1000 + seed)
    taken = refused = 0
    for _ in range(1500):
        block = _make(random)
        for _ in range(random.randint(1, 2)):
            place = random.randint(0, len(block))
            gone = random.choice([0, 0, 1, 2])
            block = block[:place] + random.choice((*CHANGES, b"")) + block[place + gone :]
        if not block or b"\0" in block or b"\r" in block:
            continue  # whoever calls has looked for these
        try:
            block.decode()
        except UnicodeDecodeError:
            continue
        table = read_uniform(block, KINDS)
        if table is None:
            refused += 1
            continue
        taken += 1
        assert _rows(table) == _load(block), block
    assert taken > 30
    assert refused > 500


@pytest.mark.parametrize(
    "line",
    [
        '{"n":01}',
        '{"n":-0}',
        '{"n":+1}',
        '{"n":1.0}',
        '{"n":1e3}',
        '{"n":12345678901234567}',
        '{"n":-}',
        '{"n":true}',
        '{"t":1}',
        '{"t":"true"}',
        '{"t":True}',
        '{"t":tru}',
        '{"t":truee}',
        '{"t":fals}',
        '{"a":true}',
        '{"n":"1"}',
        '{"a":1}',
        '{"a":"x\\n"}',
        '{"a":"x","a":"y"}',
        '{"a":["x"]}',
        '{"a":{"n":1}}',
        "{}",
        '{"n":nul1}',
        '{"x":1.}',
        '{"x":.5}',
        '{"x":01.5}',
        '{"x":1.5e}',
        '{"x":1.5.5}',
        '{"x":"1.5"}',
        '{"x":NaN}',
        '{"b":1.}',
        '{"b":1e+}',
        '{"x":1.5555555555555555555555555555555555555555}',
        '{"n":1}}',
        '{"n":1 }',
        '{"a":"x"y"}',
        '{"a":"',
        "[1]",
    ],
)
def test_other_lines_are_left_to_others(line: str) -> None:
    """Alone, and among lines that are alike."""
    for lines in ([line], ['{"n":1}', line], ['{"a":"x"}', line, '{"a":"y"}']):
        assert read_uniform("\n".join(lines).encode(), KINDS) is None


def test_commas_in_texts_and_names() -> None:
    lines = ['{"a":"x,y","k,y":"","n":1}', '{"a":",","k,y":"z","n":2}', '{"a":"","k,y":",,","n":3}']
    table = read_uniform("\n".join(lines).encode(), KINDS)
    assert table is not None
    assert table.column("a").to_pylist() == ["x,y", ",", ""]
    assert table.column("n").to_pylist() == [1, 2, 3]
    for other in ('{"a":"x","y","k,y":"","n":1}', '{"a":"x,y","k.y":"","n":1}', '{"a":"x,y"}'):
        assert read_uniform("\n".join([*lines, other]).encode(), KINDS) is None


def test_objects_and_lists_beside_what_is_wanted() -> None:
    """Where all have the same members, and as many; what is wanted is not among them."""
    lines = [
        f'{{"p":{{"lat":{n}.5,"at":["a,b",{n}]}} ,"n":{n}, "q":[ {{"n":"x"}} ] }}' for n in range(3)
    ]
    table = read_uniform("\n".join(lines).encode(), KINDS)
    assert table is not None
    assert table.column("n").to_pylist() == [0, 1, 2]
    assert table.column("a").null_count == len(lines)
    assert read_uniform("\n".join(lines).encode(), KINDS | {"p": pa.string()}) is None
    for old, new in (
        ("]}", "}]"),
        ("]}", "]]"),
        ('"lat":', '"lon":'),
        (".5", ""),
        (".5", "."),
        (".5", '.5,"lon":1'),
        ('["a,b",', '["a","b",'),
        ('["a,b",', '["a,b"'),
        (" ] }", "]}"),
        ("] }", "] }}"),
    ):
        other = lines[0].replace(old, new)
        assert other != lines[0]
        found = read_uniform("\n".join([*lines, other]).encode(), KINDS)
        assert found is None or (old, new) == (".5", ""), (old, new)


@pytest.mark.parametrize(
    "value",
    [
        "{}",
        "[]",
        '{"a":[]}',
        "[" * 9 + "1" + "]" * 9,
        "[1}",
        '{"a":1]',
        "[1",
        '{"a"}',
        "[1,]",
        "[,1]",
    ],
)
def test_objects_and_lists_that_are_left_to_others(value: str) -> None:
    lines = [f'{{"b":{value},"n":{n}}}' for n in range(2)]
    assert read_uniform("\n".join(lines).encode(), KINDS) is None


def test_a_last_line_that_is_short() -> None:
    name = "long" * 20
    lines = [f'{{"n":{n},"{name}":2}}' for n in range(3)]
    assert read_uniform("\n".join(lines).encode(), KINDS) is not None
    for last in ('{"n":1,"":2}', "{,}", ",}", ","):
        assert read_uniform("\n".join([*lines, last]).encode(), KINDS) is None


def test_quotes_of_one_line_do_not_make_up_for_those_of_another() -> None:
    """There are as many as there should be."""
    assert read_uniform(b'{"a":"z"}\n{"a":"}\n{"a":"x"y"}\n', KINDS) is None
    assert read_uniform(b'{"b":"z"}\n{"b":"}\n{"b":"x"y"}\n', KINDS) is None
    assert read_uniform(b'{"a":"z"}\n{"a":",}\n{"a":"x",y"}\n', KINDS) is None
    assert read_uniform(b'{"a":"z,"}\n{"a":"x}\n{"a":","}\n', KINDS) is None


def test_types_of_others_are_left_to_others() -> None:
    assert read_uniform(b'{"n":1}\n', {"n": pa.date32()}) is None
    assert read_uniform(b'{"n":1}\n', {}) is None
