"""Random CSV files, of cells as they should be and as they should not."""

from collections.abc import Callable
from random import Random

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)

KINDS: dict[str, ColumnType] = {
    "i": IntType(),
    "f": FloatType(),
    "p": DecimalType(6, 2),
    "q": DecimalType(38, 10),
    "z": DecimalType(5, 0),
    "s": StringType(),
    "b": BooleanType(),
    "d": DateType(),
    "w": TimestampType(),
}
COLUMNS = tuple(Column(name, kind) for name, kind in KINDS.items())
NAMES = (*KINDS, "ts")
_TIMES = (
    *("2020-01-02 03:04:05", "2020-01-02T03:04:05Z", "1999-12-31T23:59:59.123456"),
    *("1500-06-01 00:00:00.5", "2020-02-02", "2020-01-02T03:04", "2021-01-01T00:00:00+05:30"),
)
ODD = (
    *("", "", "", " ", "x", "12", "-0", "+5", "007", " 12 ", "\t7", "1.0", "1.", "1e3", "1E3"),
    *(".5", "-.5", ".", "-", "+", "--1", "1_0", "0x1F", "0X1p3", "1L", "1,5", "1f", "1d", "1fd"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "9" * 30, "1e400"),
    *("-1e400", "1e-400", "NaN", "nan", "-nan", "+NaN", "NAN", "inf", "-INFINITY", "infinityx"),
    *("1.256", "1.250", "1.2500000000000000001", "0.005", "9999.995", "10000", "1e-999", "1e999"),
    *("1.5e1", "125e-2", "1256e-3", "123456789012345678901234567.1234567890", "0.00000000001"),
    *("99999", "99999.5", "100000", "1e5", "1e4", "١٢", "TRUE", "t", "y", "yes", "1", "0", "n"),
    *("no", "F", "false ", "on", "2020-1-1", "2020-02-30", "2020-13-01", "2020", "2020-01"),
    *("2020-", "2020-01-", "2020-01-01T", "2020-01-01 ", "2020-01-01Tx", "2020-01-01x"),
    *("20200101", "02020-01-01", "+2020-01-01", "0000-01-01", "0001-01-01", "10000-01-01"),
    *("2020/01/01", "01/02/2020", "1582-10-10", "1900-02-29", "2020-01-01 24:00:00"),
    *("2020-01-01 23:59:60", "2020-01-01 1:2:3", "2020-01-01 12", "2020-01-01T12:30Z"),
    *("2020-01-01T12:30:00+0100", "2020-01-01T12:30:00+01", "2020-01-01T12:30:00 UTC"),
    *("2020-01-01T12:30:00z", "2020-01-01T12:30:00.", "2020-01-01T12:30:00.1234567"),
    *("2020-01-01T12:30:00.123Z", "2020-01-01T12:30:00+18:00", "2020-01-01T12:30:00-19:00"),
    *("2020-01-01T12:30:00+00:60", "12:30", "T12:30", "1577836800", "now", "n/a", "null"),
    *("2020-01-01T12:30+01:00", "9999-12-31T23:59:59.999999", " 2020-01-01 ", "é", "\x7f5"),
)


def make_file(random: Random) -> bytes:
    """A file with the columns NAMES, in this order."""
    odd = random.choice([0, 0, 0.02, 0.2, 1])
    ragged, strange = random.random() < 0.3, random.random() < 0.07
    lines = []
    for _ in range(random.randint(0, 30)):
        cells = [_make_cell(name, odd, random) for name in NAMES]
        chance = random.random() if ragged else 1
        if chance < 0.05:
            cells = cells[: random.randint(1, len(cells))]
        elif chance < 0.1:
            cells += ["more", '"and, more"']
        elif chance < 0.13:
            lines.append(random.choice(["", " ", "\t ", ",,,", "*9,"]))
        if strange and random.random() < 0.2:
            cells[0] = random.choice(['"a""b"', 'a"b', '"a" ', '"x', '"a\nb"', '"a\\"b"', '"\\"'])
        lines.append(",".join(cells))
    end = random.choice(["\n", "\n", "\r\n"])
    text = end.join([",".join(NAMES), *lines]) + random.choice([end, end, ""])
    raw = text.encode()
    if random.random() < 0.1:
        raw = raw.replace("Ø".encode(), b"\xff\xc3")
    return random.choice([b"", b"", b"\xef\xbb\xbf"]) + raw


def make_dialect(random: Random) -> tuple[tuple[tuple[str, str], ...], bytes]:
    """Options, and a file that is written so, of the columns a (text), n (int), x (double) and b
    (text); these names are in its header, or it has none."""
    mark = random.choice([",", ",", ";", "|", "\t", "^", "]"])
    quote = random.choice(['"', '"', "'", "~"])
    escape = random.choice([quote, "\\"])
    header, multiline = random.random() < 0.7, random.random() < 0.5
    null = random.choice(["", "", "NA", "-"])
    codec = random.choice(["", "", "utf-8", "ISO-8859-1", "US-ASCII"])
    options = {"sep": mark, "quote": quote, "escape": escape, "nullValue": null, "encoding": codec}
    options |= {"header": str(header).lower(), "multiLine": str(multiline).lower()}
    given = tuple((name, text) for name, text in options.items() if text)
    end = random.choice(["\n", "\n", "\r\n"])
    inner = ["", "", "p", "é x", " ", "1", "a\\b", "\\", "\\\\", "'", '"', "~", mark, "NA", "ü"]
    inner += [end, "x"] if multiline else ["x"]
    odd = random.random() < 0.1

    def write(text: str) -> str:
        special = any(c in text for c in (mark, quote, "\n"))
        if not special and random.random() < 0.7:
            return text
        if odd and random.random() < 0.1:
            return random.choice([quote + text, f"{quote}{text}{quote} ", f" {quote}{text}{quote}"])
        if escape == "\\":
            text = text.replace("\\", "\\\\") if random.random() < 0.8 else text.replace("\\", "")
        return quote + text.replace(quote, escape + quote) + quote

    lines = [mark.join(("a", "n", "x", "b"))] if header else []
    ragged = random.random() < 0.3
    for row in range(random.randint(0 if header else 1, 20)):
        cells = [
            write("".join(random.choices(inner, k=random.randint(0, 4)))),
            write(random.choice(["1", "-22", "", "x", "NA"] if random.random() < 0.2 else ["7"])),
            write(random.choice(["1.5", "-", "1e3"] if random.random() < 0.2 else ["0.25"])),
            write("".join(random.choices(inner, k=random.randint(0, 3)))),
        ]
        if ragged and row and random.random() < 0.2:
            cells = random.choice([cells[:2], [*cells, "more"], [""]])
        lines.append(mark.join(cells))
    text = end.join(lines) + random.choice([end, end, ""])
    return given, text.encode(codec or "utf-8", "replace")


def _make_cell(name: str, odd: float, random: Random) -> str:
    cell = random.choice(ODD) if random.random() < odd else GOOD[name](random)
    if "," in cell or random.random() < 0.05:
        cell = cell.replace(",", "") if "\\" in cell else f'"{cell}"'
    return cell


GOOD: dict[str, Callable[[Random], str]] = {
    "i": lambda r: str(r.randint(-(10 ** r.randint(1, 18)), 10 ** r.randint(1, 18))),
    "f": lambda r: repr(r.choice([r.random(), r.random() * 1e300, -1e-300, 5.0, 1e22])),
    "p": lambda r: f"{r.randint(-9999, 9999)}.{r.randint(0, 99):02d}",
    "q": lambda r: f"{r.randint(-(10**20), 10**20)}.{r.randint(0, 10**10)}",
    "z": lambda r: str(r.randint(-99999, 99999)),
    "s": lambda r: r.choice(["a", "Ø x", " b ", "'", "#", "a\\b", "日本", "\u00a0", "-"]),
    "b": lambda r: r.choice(["true", "false"]),
    "d": lambda r: f"{r.randint(1, 9999):04d}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}",
    "w": lambda r: r.choice(_TIMES),
    "ts": lambda r: r.choice(_TIMES),
}
