"""Read the rules that say how far apart in time rows are that agree on columns ([B])."""

import re
from collections.abc import Iterable, Sequence

from ontoweir.mappings.catalog.read_breach import BREACH_KEYS, read_breach
from ontoweir.mappings.model.catalog import Breach, Column, IntType, Lag, StringType
from ontoweir.mappings.model.parse_duration import LONGEST_US, parse_duration, show_duration
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean

ROWS_KEY = "max_rows_per_value"
"""The key of a rule that closes values, which says how many rows a value has until it is closed."""
_EXAMPLES = {
    "lags": 'behind = "alarm", columns = ["id"], to = ["id"], within = "1 hour"',
    "clustered": 'columns = ["session"], gap = "30 minutes"',
    "ordered": 'column = "seq", slack = 1000',
    "closed_by": 'columns = ["order"], column = "is_last", max_open = 10000',
}
"""A rule of each kind."""


def read_rules(table: TomlTable, columns: Sequence[Column], step_us: int) -> tuple[Lag, ...]:
    """What a stream's `lags` and `clustered` say. Rows of one value that lie within a span are a
    stream that lags behind itself: each of two such rows comes at most so long after the other.

    Args:
        table: the stream's.
        columns: its columns.
        step_us: its unit of time.

    Raises:
        CatalogError: something is wrong, with its line.
    """
    for key, example in _EXAMPLES.items():
        if table.values.get(key) == []:
            raise table.error(
                key,
                f"{key} lists no rule",
                why=f"{table.path[-1]} comes as if nothing were declared",
                fix=f"leave {key} out, or write {key} = [{{ {example} }}]",
            )
    return (*_read_lags(table, columns, step_us), *_read_clusters(table, columns, step_us))


def _read_lags(table: TomlTable, mine: Sequence[Column], step_us: int) -> list[Lag]:
    """Rows of another stream that come at most so long after those they join."""
    lags: list[Lag] = []
    known = [column.name for column in mine]
    for item in table.items("lags"):
        if not isinstance(item, dict):
            raise table.wrong("lags", "a list of tables { behind, columns, to, within }")
        entry = TomlTable(item, (*table.path, "lags"), table.lines)
        known_keys = ("behind", "columns", "to", "within", "rows", "every", "matches")
        entry.refuse_unknown((*known_keys, *BREACH_KEYS))
        for key, example in (("behind", '"alarm"'), ("columns", '["id"]'), ("to", '["id"]')):
            entry.need(key, example)
        columns, to = entry.texts("columns"), entry.texts("to")
        check_columns(entry, "columns", columns, known, table.path[-1])
        if not columns or len(columns) != len(to):
            raise entry.error(
                "to",
                f"{len(columns)} columns join {len(to)}",
                why="a lag is between rows that are joined column by column",
                fix="list as many columns as to",
            )
        within, rows, every = _read_length(entry, step_us)
        place = table.lines.place(*table.path, "lags")
        behind, breach = entry.text("behind") or "", read_breach(entry, (), step_us, spills=True)
        one = _read_matches(entry, breach)
        if one and behind == table.path[-1] and columns == to:
            raise entry.error(
                "matches",
                f'{behind!r} lags behind itself by {", ".join(columns)}, and matches is "one"',
                why="a row agrees with itself, so that no other one may: that is a key, and no lag",
                fix="leave out matches, or write keys = [[…]] with these columns instead of it",
            )
        lags.append(Lag(behind, columns, to, within, place, breach, rows, every, one))
    return lags


def _read_length(entry: TomlTable, step_us: int) -> tuple[int, int | None, int | None]:
    """How long after a row those that join it come, in µs; and where it is counted in rows of the
    stream, how many, and how long it is at most from one to the next: only then the rows that wait
    for them are limited."""
    if "rows" not in entry.values:
        if "every" in entry.values:
            raise entry.error(
                "every",
                "lags says every, and no rows",
                why="it says at least how often a row of the stream comes, of those that are "
                "counted",
                fix='write rows = 1000, every = "1 second"; or within = "1 hour" alone',
            )
        entry.need("within", '"1 hour", or rows = 1000, every = "1 second"')
        return read_span(entry, "within", step_us), None, None
    if "within" in entry.values:
        raise entry.error(
            "rows",
            "lags says within and rows",
            why="one of them says how long after a row those that join it come",
            fix="leave out one of them; or declare two lags",
        )
    rows = entry.count("rows", least=0) or 0
    if "every" not in entry.values:
        raise entry.error(
            "rows",
            f"lags counts {rows} rows, and says not how often they come",
            why="until they have come, rows of the other stream wait: any number of them, where "
            "this one may be silent for any time",
            fix='add every = "1 second", if a row of this stream comes at least so often; or '
            'write within = "1 hour"',
        )
    every = read_span(entry, "every", step_us)
    if not every:
        raise entry.error(
            "every",
            "rows come every 0 steps",
            why="rows of a stream come at different times",
            fix='write the longest time between two of them, e.g. "1 second"',
        )
    if rows * every > LONGEST_US:
        raise entry.error(
            "rows",
            f"{rows:,} rows, one every {show_duration(every)}, take more than 10,000 years",
            why="no two timestamps are so far apart",
            fix="write fewer rows, or a shorter time for every",
        )
    return rows * every, rows, every


def _read_matches(entry: TomlTable, breach: Breach | None) -> bool:
    """Whether a row is joined by one row of the stream at most."""
    matches = entry.text("matches")
    if matches not in (None, "one", "many"):
        raise entry.error(
            "matches",
            f"matches is {matches!r}",
            why='of the stream one row with given values comes ("one"), or any number ("many", '
            "which is so if it is not given)",
            fix='write matches = "one", or leave it out',
        )
    if matches == "one" and breach is not None and breach.spill:
        raise entry.error(
            "matches",
            'matches is "one", and on_violation = "spill"',
            why="a row is dropped when the one that joins it has come, and not kept on disk",
            fix='leave out matches, or write on_violation = "reject", or "count"',
        )
    return matches == "one"


def _read_clusters(table: TomlTable, mine: Sequence[Column], step_us: int) -> list[Lag]:
    """Rows that agree on columns, which all lie within a span of time."""
    found: list[Lag] = []
    name, known = table.path[-1], [column.name for column in mine]
    for item in table.items("clustered"):
        if not isinstance(item, dict):
            raise table.wrong("clustered", "a list of tables { columns, within }")
        entry = TomlTable(item, (*table.path, "clustered"), table.lines)
        if "within" not in entry.values:  # read_closing reads it
            continue
        columns = read_clustered(entry, known)
        for key in ("adapt", "floor"):
            if key in entry.values:
                raise entry.error(
                    key,
                    f"clustered by within has {key}",
                    why="a run may use less than is declared of a rule that says when values are "
                    "closed; within is a condition of the query",
                    fix=f"leave out {key}, or write gap, or rows",
                )
        if ROWS_KEY in entry.values:
            raise entry.error(
                ROWS_KEY,
                f"clustered by within has {ROWS_KEY}",
                why="all rows of a value lie within that time, in which max_per_timestamp says how "
                "many there are",
                fix=f"leave out {ROWS_KEY}, or write gap, or rows",
            )
        place = table.lines.place(*table.path, "clustered")
        check_keys(table, "clustered", columns)
        within = read_span(entry, "within", step_us)
        agreed = [column for column in mine if column.name in columns]
        breach = read_breach(entry, agreed, step_us, spills=True)
        found.append(Lag(name, columns, columns, within, place, breach))
    return found


def read_clustered(entry: TomlTable, known: list[str]) -> tuple[str, ...]:
    """The columns of a rule on rows that agree on them.

    Raises:
        CatalogError: there are none, or one is not declared; or another key is unknown, or there is
            not exactly one that says how far such rows are apart.
    """
    how = ("within", "gap", "rows")
    entry.refuse_unknown(("columns", *how, "adapt", "floor", ROWS_KEY, *BREACH_KEYS))
    entry.need("columns", '["session"]')
    columns = entry.texts("columns")
    check_columns(entry, "columns", columns, known, entry.path[-2])
    if not columns:
        raise entry.error(
            "columns",
            f"{entry.path[-1]} names no columns",
            why="it is of rows that agree on columns",
            fix='write columns = ["session"]',
        )
    check_repeated(entry, columns)
    said = [key for key in how if key in entry.values]
    if len(said) != 1:
        raise entry.error(
            None if not said else said[-1],
            f"clustered on {', '.join(columns)} has {' and '.join(said) or 'no limit'}",
            why="one key says how far rows that agree are apart: within (the first from the last), "
            "gap (one from the next), or rows (others between one and the next)",
            fix='write gap = "30 minutes", within = "2 hours", or rows = 500',
        )
    return columns


def read_span(entry: TomlTable, key: str, step_us: int) -> int:
    """A duration of whole steps, in µs.

    Raises:
        CatalogError: it is none.
    """
    text = entry.text(key) or ""
    within = parse_duration(text)
    if within is None or within < 0 or within % step_us:
        raise entry.error(
            key,
            f"{text!r} is not a whole number of the stream's steps",
            why="time is counted in steps of the stream's unit",
            fix='write a duration that is a multiple of the unit, e.g. "1 hour"',
        )
    return within


def check_columns(
    table: TomlTable, key: str, columns: Iterable[str], known: list[str], owner: str
) -> None:
    """Refuse columns that are not declared.

    Raises:
        CatalogError: one is not.
    """
    for column in columns:
        if column not in known:
            raise table.error(
                key,
                f"unknown column {column!r} of {owner!r} in {key}",
                why=f"{owner!r} declares {', '.join(known) or 'no columns'}",
                fix=did_you_mean(column, known),
            )


def check_repeated(entry: TomlTable, columns: Sequence[str]) -> None:
    """Refuse a rule that names a column twice.

    Raises:
        CatalogError: it does.
    """
    if len(set(columns)) < len(columns):
        raise entry.error(
            "columns",
            f"{entry.path[-1]} names a column twice: {', '.join(columns)}",
            why="it is of rows that agree on columns, each of which is compared once",
            fix="name each column once",
        )


def check_keys(table: TomlTable, rule: str, columns: Sequence[str]) -> None:
    """Refuse a rule on rows that agree on columns, where a key says that no two rows do: then
    nothing is to be waited for, and one of both says what is not so.

    Raises:
        CatalogError: a key says so.
    """
    for key in table.items("keys"):
        if isinstance(key, list) and set(map(str, key)) <= set(columns):
            raise table.error(
                rule,
                f"rows of {table.path[-1]!r} that agree on {', '.join(columns)} are limited, "
                f"and ({', '.join(map(str, key))}) is a key",
                why="no two rows of the stream agree on its key, so that there is nothing to limit",
                fix="remove the key, or the rule: one of them is wrong, or not needed",
            )


def read_iri(table: TomlTable, columns: Sequence[Column]) -> str | None:
    """The IRI by which RSP-QL names a stream; a column in braces stands for its value.

    Raises:
        CatalogError: it has several columns, or one that is none, or neither a number nor text.
    """
    iri = table.text("iri")
    named = [] if iri is None else re.findall(r"\{([^{}]*)\}", iri)
    fitting = [c.name for c in columns if isinstance(c.type, IntType | StringType)]
    if len(named) > 1 or not set(named) <= set(fitting):
        raise table.error(
            "iri",
            f"iri = {iri!r}",
            why="an IRI names a stream, or the rows with one value of one column, {column}, which "
            "is a whole number or text",
            fix="write one column in braces, or none; " + did_you_mean(named[0], fitting),
        )
    return iri
