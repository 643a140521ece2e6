"""Random JSON lines, of values as they should be and as they should not."""

import json
from random import Random

from tests.runtime.csv_files import COLUMNS, GOOD, NAMES, ODD

_BARE = (
    *("null", "true", "false", "1", "-0", "12.50", "1e3", "1E+05", "1e400", "-1e-400", "NaN"),
    *("9223372036854775807", "9223372036854775808", "0.1234567890123456789", "1.256", "100000"),
    *("[]", "{}", '[1, "x\\"y"]', '{"a" : [ 1,{"b":"\\u00e9"} ]}', '"\\u00e9\\n"', '"\\ud800x"'),
    *('"\\ud83d\\ude00"', '"\\/"', '"\\\\"', '"\\\\\\""', '"{"', '"},"', '": 1,"', '"[\\\\\\\\"'),
    *("-Infinity", "Infinity", '"a\\u0000b"', '""', '"null"', "1577836800", "20200101"),
)
_WRONG = (
    *("tru", "nul", "01", "1.", ".5", "-", "Inf", "-Inf", "-NaN", "+1", "x", '"x\ty"', '"\\q"'),
    *('"x', "[1,]", "[1", "{", "", '{"a":}', "1 2", '"a" "b"', "NaNx", "[Inf]", '{"a":-NaN}'),
)
_LINES = (
    *("", " ", "\t ", "{}", " { } ", "12", "null", '"x"', "x", "}", "{", '{"i":1', '{"i"', '{"i":'),
    *('{"i":1}}', '{"i":1}xx', '{"i":1} {"i":2}', '{"i":1,}', '{"i" 1}', "{i:1}", "[1", '{"I":1}'),
    *('{"\\u0069":7}', '{"i":1,"i":2}', '{"i":1,"i":null}', '{"":1}', '{"x":{"i":5},"i":2}'),
    *('\ufeff{"i":3}', '/**/{"i":1}', '{"i":1}//', '{"__corrupt":"w","i":1}', "\x0b", "\u00a0"),
    *('{"i":1}\r{"i":2}', '{"i":\r1}', '{"s":"a\rb"}', '{"s":"it\'s'),
)
RARE = (
    *(
        "[]",
        '[{"i":1},{"i":2}]',
        "{'i':1}",
        '{"i":+INF}',
        "{\"s\":'x'}",
        '{"i":' + "1" * 1001 + "}",
    ),
    *('{"s":' + "[" * 1200 + "]" * 1200 + "}", "\0{}"),
)
"""Lines that are left to Spark."""

__all__ = ["COLUMNS", "RARE", "make_lines"]


def make_lines(random: Random) -> bytes:
    """A file of objects with the members NAMES, or some of them, or something else."""
    odd = random.choice([0, 0, 0, 0.02, 0.2, 1])
    broken = random.choice([0, 0, 0, 0.05])
    as_text = random.random() < 0.3
    lines = []
    for _ in range(random.randint(0, 30)):
        line = _make_object(random, odd, broken, as_text=as_text)
        if broken and random.random() < 0.2:
            line = random.choice(_LINES)
        if broken and random.random() < 0.03:
            line = random.choice(RARE)
        lines.append(line)
    end = random.choice(["\n", "\n", "\r\n"])
    raw = (end.join(lines) + random.choice([end, end, ""])).encode("utf-8", "surrogatepass")
    if broken and random.random() < 0.3:
        raw = raw.replace("Ø".encode(), random.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x80"]))
    if broken and random.random() < 0.1:
        raw = raw[: random.randint(0, len(raw))]
    return random.choice([b"", b"", b"\xef\xbb\xbf"]) + raw


def _make_object(random: Random, odd: float, broken: float, *, as_text: bool) -> str:
    names = list(NAMES)
    if random.random() < 0.3:
        names = random.sample([*NAMES, "more", "I", "é"], random.randint(0, len(names)))
    if odd and random.random() < 0.05:
        names += random.sample(names, 1) if names else []
    room = random.choice(["", "", " ", "\t"])
    members = [
        f"{json.dumps(n)}{room}:{room}{_make_value(n, random, odd, broken, as_text=as_text)}"
        for n in names
    ]
    return f"{{{room}" + f"{room},{room}".join(members) + f"{room}}}"


def _make_value(name: str, random: Random, odd: float, broken: float, *, as_text: bool) -> str:
    chance = random.random()
    if chance < broken / 5:
        return random.choice(_WRONG)
    if random.random() < odd:
        return random.choice(_BARE) if random.random() < 0.5 else json.dumps(random.choice(ODD))
    if name not in GOOD or chance > 0.9:
        return random.choice(("null", "null", "7", '"Ø"'))
    text = GOOD[name](random)
    bare = name in ("i", "f", "p", "q", "z", "b") and not as_text
    return text if bare else json.dumps(text, ensure_ascii=random.random() < 0.5)
