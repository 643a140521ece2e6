"""Find out how a file of CSV is written: encoding, separator, quotes, header, decimal comma."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.text.csv_dialect import CsvDialect, name_columns, read_dialect
from ontoweir.runtime.text.open_packed import open_packed
from ontoweir.scaffold.texts.find_cell_units import find_cell_units, leave_unit
from ontoweir.scaffold.texts.find_numbers import find_numbers
from ontoweir.scaffold.texts.find_preamble import (
    LeftOut,
    Preamble,
    cut_lines,
    find_preamble,
    list_left_out,
)

_HEAD = 1 << 20
"""So many bytes say how cells are written."""
_BLOCK = 4 << 20
_SEPARATORS = (",", ";", "\t", "|")
_BLANK_ROWS, _BLANK_CELLS = 0.9, 3
"""Blanks part cells where so many of the rows, and cells of a row, are alike."""
_ROWS = 50_000
_BELOW = 100
"""So many rows say whether the first one is a header."""
_NULLS = {"na", "n/a", "#n/a", "null", "none", "nan", "nil", "-", "?"}
"""Texts that stand for what is missing, in any case."""
_NAMES = {"none", "NONE", "nil", "Nil", "NIL"}
"""Those that a column of texts may have as values, too, as in `alarm: none`."""
_NULLS_OF_NUMBERS = re.compile(
    r"[-–—?.*_/#]+|un(available|known|def(ined)?)|missing|\(null\)|[nk]\.? ?[av]\.?|#\S+[!?]?"
)
"""More of them, in lower case, where all else is numbers."""
_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?")
_WITH_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_GROUPED = re.compile(
    r"[+-]?[0-9]{1,3}(?:([.,'\u2019 \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:[.,][0-9]*)?"
)
_SHORT, _FEW, _RARE = 8, 3, 0.1
"""Letters of other texts that stand for what is missing, how many such texts, and their share of a
column, at most."""
_MARKS = {"mm", "nd", "ice", "eqp", "bkw", "mnt", "err", "error", "bad", "fault", "nodata"}
_FRACTION = re.compile(r"[+-]?[0-9]*[.,][0-9]+")
_DAY = re.compile(
    r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}.*"
    r"|(?:[A-Z][a-z]{2}, )?[0-9]{1,2}[- /][A-Za-z]{3,9}[- /][0-9]{2,4}\b.*"
)
_EXCEL = re.compile(r"sep=([,;\t|])\r?\n")
"""How a file for Excel may begin."""
_YEARS = (1900, 2100)
"""Whole numbers between these are names of columns, too."""


@dataclass(frozen=True, slots=True)
class Sniffed:
    """The options of a source that say how a file is written, the dialect that they make, and the
    names of its columns, and the lines at its beginning that are not read."""

    options: tuple[tuple[str, str], ...]
    dialect: CsvDialect
    names: tuple[str, ...]
    left_out: LeftOut


def sniff_csv(file: Path, names: Sequence[str] = ()) -> Sniffed:
    """How a file of CSV seems to be written: quotes and the encoding by all of it, the rest by its
    beginning.

    Args:
        file: of CSV, with cells parted by commas, semicolons, tabs, `|`, or single blanks.
        names: of its columns, where it does not say them.

    Raises:
        DataError: it is empty, or in an encoding that is not read.
        OSError: it cannot be read.
        NotPlain: it is packed in a way that is not read here.
    """
    seen = _scan(file)
    head = seen.head.decode(seen.codec, "replace")
    said = _EXCEL.match(head)
    preamble = Preamble(skip=1)
    if said is None:
        preamble = find_preamble(head, _SEPARATORS, _is_value, _is_null, named=bool(names))
    left_out = list_left_out(head, preamble, _is_value)
    head = _leave_preamble(head, preamble)
    escape = "\\" if seen.slashed else '"'
    separator = _find_separator(head, escape, len(names)) if said is None else said[1]
    quote = _find_quote(head, separator) if seen.quoted and not seen.slashed else '"'
    rows = list(_read(head, separator, escape, quote))
    if not rows:
        raise DataError(
            f"{file} has no rows",
            why="what its columns are is seen in its rows",
            fix="name a file with some",
            source=Source(str(file)),
        )
    names = names or preamble.names
    header = bool(preamble.names) or _is_header(rows)
    body = rows[1:] if header else rows
    if header and not names:
        _refuse_narrow(file, rows[0], body)
    width = max(len(names), len(rows[0]))
    cut = sum(any(map(str.strip, row[width:])) for row in body)
    left_out = replace(left_out, cut=cut, seen=len(body))
    columns = [[row[n] for row in body if n < len(row)] for n in range(width)]
    nulls = _find_nulls(columns)
    named = nulls and header and nulls[0] in rows[0]  # which would be no name then
    plain = nulls[0] if nulls and not named and not _is_padded(columns, nulls[0]) else None
    filled = [_leave(cells, nulls) for cells in columns]
    units = find_cell_units(filled)
    decimal, thousands = find_numbers([leave_unit(cells, units) for cells in filled], separator)
    written = {
        "header": "true" if header else None,
        "sep": None if separator == "," else separator,
        "quote": None if quote == '"' else quote,
        "escape": '"' if quote == '"' and seen.quoted and not seen.slashed else None,
        "multiLine": "true" if seen.broken and quote == '"' else None,
        "encoding": None if seen.codec == "utf-8" else "windows-1252",
        "decimal": None if decimal == "." else decimal,
        "thousands": thousands or None,
        "nullValue": plain,
        "nullValues": "|".join(text for text in nulls if text != plain) or None,
        "units": "|".join(units) or None,
        "names": "|".join(names) or None,
        "comment": preamble.comment or None,
        "skip": str(preamble.skip) if preamble.skip else None,
        "skipAfterHeader": str(preamble.below) if preamble.below and header else None,
    }
    options = tuple((name, text) for name, text in written.items() if text is not None)
    dialect = read_dialect(DataSource("csv", str(file), options))
    return Sniffed(options, dialect, name_columns(rows[0], dialect), left_out)


@dataclass(frozen=True, slots=True)
class _Seen:
    """`head`: whole lines; `quoted`: there are quotes; `slashed`: some after a backslash; `broken`:
    a line ends inside of quotes."""

    head: bytes
    codec: str
    quoted: bool
    slashed: bool
    broken: bool


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has names: no numbers or days; or, as in `ts,00,10`, letters above the
    days of a column, and no cell twice."""
    first, body = rows[0], rows[1:_BELOW]
    if not any(map(_is_value, first)):
        return True
    wide = [row for row in body if len(row) >= len(first)]
    days = (all(_DAY.fullmatch(row[n].strip()) for row in wide) for n in range(len(first)))
    plain = (cell.strip().lower() for cell in first)
    named = (re.sub("[ _]", "", cell).isalpha() and cell not in _NULLS for cell in plain)
    both = any(day and name for name, day in zip(named, days, strict=False))
    return both and len(wide) > 1 and len({cell.strip() for cell in first}) == len(first)


def _refuse_narrow(file: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Raise DataError for a header that has fewer names than most rows have values."""
    counts = Counter(len(row) for row in rows if any(map(str.strip, row[len(header) :])))
    width, often = next(iter(counts.most_common(1)), (0, 0))
    if often * 2 > len(rows):
        shown = ",".join(f"{name.strip()}" for name in header)
        raise DataError(
            f"the header has {len(header)} names ({shown}), and rows have {width} cells",
            why="which columns the names are of is not known",
            fix="name all columns, from the first one on, with --names a,b,c; or correct it",
            source=Source(str(file)),
        )


def _leave_preamble(head: str, preamble: Preamble) -> str:
    """The header and rows of the beginning of a file."""
    lines = cut_lines(head)[preamble.skip :]
    lines = [x for x in lines if not (preamble.comment and x.startswith(preamble.comment))]
    return "".join(f"{line}\n" for line in (*lines[:1], *lines[1 + preamble.below :]))


def _scan(file: Path) -> _Seen:
    """
    Raises:
        DataError: it is UTF-16.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    codec, quoted, slashed, broken, head, rest = "utf-8", False, False, False, b"", b""
    with open_packed(str(file)) as opened:
        while block := opened.read(_BLOCK):
            if not head and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise DataError(
                    f"{file} is UTF-16",
                    why="CSV is read as UTF-8, ISO-8859-1 or windows-1252",
                    fix=f"iconv -f UTF-16 -t UTF-8 {file.name} > {file.stem}-utf8{file.suffix}",
                    source=Source(str(file)),
                )
            head = head or block[:_HEAD].removeprefix(codecs.BOM_UTF8)
            if codec == "utf-8":
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    codec = "cp1252"
            if b'"' in block:
                quoted = True
                slashed = slashed or b'\\"' in block
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            if quoted and not broken:
                broken = any(line.count(b'"') % 2 for line in lines)
    if len(head) >= _HEAD:
        head = head[: head.rfind(b"\n") + 1] or head
    return _Seen(head, codec, quoted, slashed, broken and not slashed)


def _find_quote(head: str, separator: str) -> str:
    """The mark around cells: `"`, or, where these are in the midst of cells, as in `5" pipe`, one
    that there is none of, as then nothing is quoted."""
    cell = rf'(?:"(?:[^"]|"")*"|[^"\r\n{re.escape(separator)}]*)'
    row = re.compile(rf"{cell}(?:{re.escape(separator)}{cell})*(?:\r?\n|\Z)")
    place = 0
    while place < len(head):
        found = row.match(head, place)
        if found is None or found.end() == place:
            return next((mark for mark in "~^`" if mark not in head), '"')
        place = found.end()
    return '"'


def _read(head: str, separator: str, escape: str, quote: str = '"') -> Iterator[list[str]]:
    reader = csv.reader(
        (f"{line}\n" for line in cut_lines(re.sub("\r(?!\n)", "\n", head))),
        delimiter=separator,
        quotechar=quote,
        doublequote=escape == '"',
        escapechar=None if escape == '"' else escape,
    )
    for count, row in enumerate(row for row in reader if row):
        if count == _ROWS:
            return
        yield row


def _find_separator(head: str, escape: str, named: int) -> str:
    """The one by which most rows have as many cells as the first, which has several; a blank where
    no other one is in the first row. Where columns are named, so many: the one by which most rows
    have as many cells, if there is such a one."""

    def judge(separator: str) -> tuple[float, int]:
        widths = [len(row) for row in _read(head[: _HEAD // 8], separator, escape)][:-1] or [
            len(row) for row in _read(head, separator, escape)
        ]
        if not widths or widths[0] < 2:
            return 0.0, 0
        share = sum(w == named for w in widths) / len(widths)
        if share >= _BLANK_ROWS:
            return share, named
        return sum(w == widths[0] for w in widths) / len(widths), widths[0]

    best = max(_SEPARATORS, key=judge)  # of several alike the first
    share, cells = judge(" ")
    blank = share >= _BLANK_ROWS and cells >= _BLANK_CELLS and not judge(best)[1]
    return " " if blank else best


def _is_value(cell: str) -> bool:
    """Whether a cell is a number or a day, not the name of a column."""
    text = cell.strip()
    if text.isdigit() and _YEARS[0] <= int(text) <= _YEARS[1]:
        return False
    return any(p.fullmatch(text) for p in (_NUMBER, _WITH_COMMA, _GROUPED, _DAY))


def _find_nulls(columns: Sequence[Sequence[str]]) -> list[str]:
    """The texts that stand for what is missing, beside the empty one, the most frequent first: of
    columns of numbers and times, if they have such; else one at most."""
    plain: Counter[str] = Counter()
    everywhere: Counter[str] = Counter()
    for cells in columns:
        cells = [cell.strip() for cell in cells]
        counts = Counter(cell for cell in cells if _is_known(cell))
        odd = Counter(cell for cell in cells if cell and not _is_value(cell))
        named = any(cell in _NAMES for cell in odd)  # which texts may be called
        sure = any(map(_is_value, cells)) or (odd.keys() <= counts.keys() and not named)
        if (sure and all(map(_is_null, odd))) or _are_rare(odd, cells):
            plain.update(odd)
            continue
        texts = odd.keys() - counts.keys()
        found = {c: n for c, n in counts.items() if c not in _NAMES}
        everywhere.update({c: n for c, n in found.items() if not _is_code(c, texts)})
    said = [text for text, _ in (plain or everywhere).most_common() if "|" not in text]
    return said if plain else said[:1]


def _is_known(cell: str) -> bool:
    """Whether a cell stands for what is missing, and is not a name that only looks so, as `nA` and
    `Na` do."""
    plain = cell in (cell.lower(), cell.upper()) or (len(cell) > 2 and cell.isalpha())
    return plain and cell.lower() in _NULLS


def _is_code(text: str, others: Collection[str]) -> bool:
    """Whether a text is one of names that are written alike, as NA is of countries."""
    alike = (len(o) == len(text) and o.isalpha() and o.isupper() == text.isupper() for o in others)
    return text.isalpha() and sum(alike) * 2 > len(others)


def _are_rare(odd: "Counter[str]", cells: Sequence[str]) -> bool:
    """Whether texts are so few, short and rare that a column is one of measured numbers, and they
    say why one is missing, as `MM` and `Ice` do. Numbers that are all whole may be names, beside
    which others are texts, as lines of a bus are: of these the texts are known ones."""
    short = all(len(text) <= _SHORT and text.isalpha() for text in odd)
    few = len(odd) <= _FEW and odd.total() <= _RARE * len(cells)
    known = all(text.lower() in _MARKS for text in odd)
    return short and few and (known or any(_FRACTION.fullmatch(cell) for cell in cells))


def _is_padded(columns: Sequence[Sequence[str]], null: str) -> bool:
    """Whether a text has blanks around it somewhere, as columns of one width have."""
    return any(cell != null and cell.strip() == null for cells in columns for cell in cells)


def _is_null(text: str) -> bool:
    plain = text.strip().lower()
    return plain in _NULLS or bool(_NULLS_OF_NUMBERS.fullmatch(plain))


def stands_for_nothing(text: str) -> bool:
    """Whether a text among numbers or times stands for what is missing, as `nil` and `MM` do."""
    return bool(text) and "|" not in text and (_is_null(text) or text.lower() in _MARKS)


def _leave(cells: Sequence[str], nulls: Sequence[str]) -> list[str]:
    plain = (cell.strip() for cell in cells)
    return [cell for cell in plain if cell and cell not in nulls]
