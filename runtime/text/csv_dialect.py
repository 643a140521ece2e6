"""How a source's options say that CSV is written."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import LIVE_OPTIONS, DataSource
from ontoweir.runtime.text.convert_text import NotPlain

_CODECS = {
    "utf-8": "utf-8",
    "iso-8859-1": "latin-1",
    "us-ascii": "ascii",
    "windows-1252": "cp1252",
}
_DEFAULTS = {
    "mode": "permissive",
    "emptyvalue": "",
    "linesep": "\n",
    "inferschema": "false",
    "ignoreleadingwhitespace": "false",
    "ignoretrailingwhitespace": "false",
    "maxcharspercolumn": "-1",
}
"""Options that say nothing with these values."""
_WITHOUT_EFFECT = LIVE_OPTIONS | {
    "pathglobfilter",  # it says which files are read
    *("dateformat", "timestampformat", "timestampntzformat", "samplingratio", "locale", "nanvalue"),
    *("positiveinf", "negativeinf", "preferdate", "enforceschema"),
}
"""Options that say nothing of values that are read as their text."""
OURS = ("decimal", "thousands", "nullvalues", "units", "names", "skip", "skipafterheader")
"""Options that are none of Spark's: the mark before the fraction of a number, `.` or `,`; the one
between its thousands; texts that are NULL beside `nullValue`, units behind numbers, and names of
columns, with `|` between them; how many lines at the beginning, and below the header, are no
rows."""
_THOUSANDS = (".", ",", "'", "\u2019", " ", "\u00a0", "\u202f")


_DEFAULTS_OF_OURS = tuple(zip(OURS, (".", "", "", "", "", "0", "0"), strict=True))


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How cells and rows are parted.

    `separator`, `quote`: a byte each; `doubled`: a quote inside a quoted cell is doubled, else it
    comes after a backslash, as a backslash before it does; `header`: the first row has the names;
    `multiline`: quoted cells may extend over ends of lines; `null`: a text that is NULL, beside
    the empty one (which then is none if it is quoted); `codec`: Python's name of the encoding;
    `comma`: numbers have a comma before their fraction, as in 3,5; `thousands`: the mark between
    groups of three digits, as in 1.234,5 (empty: there is none); `nulls`: more texts that are NULL,
    also with blanks around them; `units`: texts that may stand behind a number, as in 12.5 %;
    `names`: of the columns, in the place of those in the file (empty: it says them itself);
    `skip`: so many lines at the beginning are neither the header nor rows; `below`: so many below
    the header are none; `comment`: lines that begin with it are none (empty: there are none such).
    """

    separator: bytes
    quote: bytes
    doubled: bool
    header: bool
    multiline: bool
    null: str
    codec: str
    comma: bool
    thousands: str = ""
    nulls: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    skip: int = 0
    below: int = 0
    comment: bytes = b""


def read_dialect(data: DataSource) -> CsvDialect:
    """What the options of a source say.

    Raises:
        DataError: it contradicts itself.
        NotPlain: more than is known here.
    """
    options = {name.lower(): text for name, text in data.options}
    separators = [options.pop(n) for n in ("sep", "delimiter") if n in options]
    codecs = [options.pop(n) for n in ("encoding", "charset") if n in options]
    quote, escape = options.pop("quote", '"'), options.pop("escape", "\\")
    separator = separators[0] if separators else ","
    separator = "\t" if separator == "\\t" else separator
    codec = _CODECS.get((codecs[0] if codecs else "utf-8").lower())
    null, comment = options.pop("nullvalue", ""), options.pop("comment", "")
    given = [options.pop(name, default) for name, default in _DEFAULTS_OF_OURS]
    decimal, thousands, *more = given[:5]
    nulls, units, names = (tuple(x.strip() for x in text.split("|") if x.strip()) for text in more)
    _check_names(data, more[-1], names)
    skip, below = (
        _read_count(data, "skip", given[5]),
        _read_count(data, "skipAfterHeader", given[6]),
    )
    flags = {name: options.pop(name, "false").lower() for name in ("header", "multiline")}
    if below and flags["header"] != "true":
        raise _headless(data)
    left = {
        name: text
        for name, text in options.items()
        if name not in _WITHOUT_EFFECT and _DEFAULTS.get(name) != text.lower()
    }
    if left or len(separators) > 1 or len(codecs) > 1 or codec is None:
        raise NotPlain
    if not {*flags.values()} <= {"true", "false"} or escape not in ("\\", quote):
        raise NotPlain
    if thousands == decimal:
        raise DataError(
            "thousands and decimal are the same mark",
            why='without decimal, fractions begin with "."',
            fix='write decimal = ",", or another mark',
            source=Source(str(data.path)),
        )
    if decimal not in (".", ",") or thousands not in ("", *_THOUSANDS):
        raise NotPlain
    if separator == quote or not all(map(_is_mark, (separator, quote))) or quote <= " ":
        raise NotPlain
    _check_comment(data, comment, separator + quote)
    if comment and not _is_mark(comment):
        raise NotPlain
    odd = [c for text in (null, *nulls) for c in (separator, quote, "\r", "\n") if c in text]
    if odd or null != null.strip():
        raise NotPlain
    return CsvDialect(
        separator.encode(),
        quote.encode(),
        escape == quote,
        flags["header"] == "true",
        flags["multiline"] == "true",
        null,
        codec,
        decimal == ",",
        thousands,
        nulls,
        units,
        names,
        skip,
        below,
        comment.encode(),
    )


def number_first(data: DataSource) -> int:
    """The number (from 1) of the first row of a file in messages: its line, where no line is a
    comment or empty.

    >>> number_first(DataSource("csv", "f.csv", (("header", "true"), ("skip", "3"))))
    5
    """
    options = {name.lower(): text for name, text in data.options}
    if data.format != "csv":
        return 1
    header = options.get("header", "").lower() == "true"
    skip, below = (
        int(text) if text.isdigit() else 0
        for text in (options.get("skip", "0"), options.get("skipafterheader", "0"))
    )
    return 1 + skip + (1 + below if header else 0)


def _read_count(data: DataSource, name: str, text: str) -> int:
    """How many lines an option says.

    Raises:
        DataError: it is no number of lines.
    """
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    raise DataError(
        f"{name} = {text!r} is no number of lines",
        why="it says how many lines are neither the header nor rows, at most 9999",
        fix=f'write {name} = "2"',
        source=Source(str(data.path)),
    )


def _check_comment(data: DataSource, comment: str, marks: str) -> None:
    """Raise DataError for what does not mark comments; `marks`: those around and between cells."""
    if len(comment) > 1 or (comment and comment in marks):
        raise DataError(
            f"comment = {comment!r} is no mark of comments",
            why="lines that begin with it are no rows: it is one character, and none that parts or "
            "quotes cells",
            fix='write comment = "#", or skip = "3" for lines before the header',
            source=Source(str(data.path)),
        )


def _headless(data: DataSource) -> DataError:
    return DataError(
        "skipAfterHeader is of CSV with a header",
        why='it says how many lines below the header are no rows, and header = "true" is missing',
        fix='add header = "true", or write skip for lines at the beginning',
        source=Source(str(data.path)),
    )


def _check_names(data: DataSource, text: str, names: Sequence[str]) -> None:
    """Raise DataError for names that are not one for each column."""
    again = next((n for n, c in Counter(n.lower() for n in names).items() if c > 1), None)
    if again is None and len(names) == (text.count("|") + 1 if text else 0):
        return
    raise DataError(
        "names has no name for a column" if again is None else f"names has {again!r} twice",
        why="it names the columns of a file from the first one on, each by a name of its own",
        fix='write names = "day|clock|value"',
        source=Source(str(data.path)),
    )


def name_columns(header: Sequence[str], dialect: CsvDialect) -> tuple[str, ...]:
    """The names of columns: those that the options say, though the first row may have fewer cells;
    else, as Spark has it, `_c` and their place without a header. In one a cell without text is
    called so too, and a name that several have (in either case) is followed by its place.

    Args:
        header: the cells of the first row.
        dialect: of the file.

    >>> from ontoweir.mappings.model.catalog import DataSource
    >>> dialect = read_dialect(DataSource("csv", "f.csv", (("header", "true"),)))
    >>> name_columns(["", "t", "x", "X"], dialect)
    ('_c0', 't', 'x2', 'X3')
    >>> name_columns(["1", "2", "3"], read_dialect(DataSource("csv", "f.csv", (("names", "a|b"),))))
    ('a', 'b', '_c2')
    >>> name_columns(["1"], read_dialect(DataSource("csv", "f.csv", (("names", "a|b"),))))
    ('a', 'b')
    """
    if dialect.names or not dialect.header:
        more = (f"_c{place}" for place in range(len(dialect.names), len(header)))
        return (*dialect.names, *more)
    seen = Counter(name.lower() for name in header)
    return tuple(
        f"_c{place}"
        if not name or name == dialect.null
        else f"{name}{place}"
        if seen[name.lower()] > 1
        else name
        for place, name in enumerate(header)
    )


def _is_mark(text: str) -> bool:
    return len(text) == 1 and text.isascii() and not text.isalnum() and text not in "\\\r\n\0"
