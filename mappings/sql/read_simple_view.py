"""Read views of the form that needs no parser of SQL: most are of it, and that parser takes a tenth
of a second to load."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|([(),]))", re.ASCII)
_EXTREMES = ("MIN", "MAX")
_OWN = frozenset({"SELECT", "FROM", "WHERE", "GROUP", "BY", "AS", "IS", "NOT", "NULL", "AND"})
_WORDS = """
    ALL ALTER ANALYZE ANTI ANY APPLY ARRAY ASC ASOF AUTHORIZATION BEGIN BETWEEN BOTH BULK CACHE
    CALL CASE CAST CHECK CLUSTER COLLATE COLUMN COMMIT CONNECT CONNECT_BY_ROOT CONSTRAINT COPY
    CREATE CROSS CUBE CURRENT CURRENT_CATALOG CURRENT_DATE CURRENT_DATETIME CURRENT_ROLE
    CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATE DATETIME DEC DEFAULT DELETE
    DESC DESCRIBE DISTINCT DISTRIBUTE DIV DROP ELSE END ESCAPE EXCEPT EXECUTE EXISTS EXPLAIN
    EXTRACT FALSE FETCH FILTER FINAL FOR FOREIGN FULL FUNCTION GLOB GRANT GROUPING HAVING IF
    ILIKE IN INNER INSERT INTERSECT INTERVAL INTO ISNULL JOIN KILL LATERAL LEADING LEFT LIKE
    LIMIT LOAD LOCALTIME LOCALTIMESTAMP LOCK MAP MATCH_RECOGNIZE MERGE MINUS MOD NATURAL NEXT
    NOTNULL OF OFFSET ON ONLY OR ORDER OUTER OVER OVERLAPS PARTITION PARTITIONED_BY PERCENT
    PIVOT PRAGMA PRIMARY PROCEDURE QUALIFY RANGE REFERENCES REGEXP REPLACE RETURNING REVOKE
    RIGHT RLIKE ROLLBACK ROLLUP ROW ROWS SEMI SERDEPROPERTIES SESSION_USER SET SETS SHOW SIMILAR
    SOME SORT STRAIGHT_JOIN STRUCT SYSTEM TABLE TABLESAMPLE THEN TIME TIMESTAMP TO TOP TRAILING
    TRUE TRUNCATE UNCACHE UNION UNIQUE UNKNOWN UNNEST UNPIVOT UPDATE USE USER USING VALUES VIEW
    VOLATILE WHEN WINDOW WITH WITHIN XOR
"""
_MEANING_MORE = frozenset(_WORDS.split())
"""Words that are, or may be read as, more than names. What they mean is for the parser to say."""


@dataclass(frozen=True, slots=True)
class SimpleView:
    """`SELECT columns, min(column) AS name, … FROM table WHERE column IS [NOT] NULL AND … GROUP BY
    columns`, names as they are written.

    `outputs`: (name, column, `min`, `max` or None). `grouped`: None without GROUP BY. `tests`:
    (column, whether it is NULL).
    """

    table: str
    outputs: tuple[tuple[str, str, str | None], ...]
    tests: tuple[tuple[str, bool], ...] = ()
    grouped: tuple[str, ...] | None = None


def read_simple_view(view: str) -> SimpleView | None:
    """The parts of a view of this form; None where it is another, or a word in it might mean more
    than a name: then the parser has to read it."""
    words = _Words(view)
    try:
        return _read(words)
    except _Other:
        return None


class _Other(Exception):
    """The view is not of the form."""


class _Words:
    """The words and signs of a text, one after the other; the last one is empty."""

    def __init__(self, text: str) -> None:
        self._found: list[str] = []
        self._at = 0
        text, place = text.rstrip(), 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                self._found.append("?")
                break
            self._found.append(match[1] or match[2])
            place = match.end()
        self._found.append("")

    def next_is(self, *wanted: str) -> bool:
        """Whether these come next; then they are taken."""
        following = self._found[self._at : self._at + len(wanted)]
        if [w.upper() for w in following] != list(wanted):
            return False
        self._at += len(wanted)
        return True

    def need(self, *wanted: str) -> None:
        """Take these."""
        if not self.next_is(*wanted):
            raise _Other

    def name(self) -> str:
        """Take a name."""
        word = self._found[self._at]
        if not word.isidentifier() or word.upper() in _OWN | _MEANING_MORE:
            raise _Other
        self._at += 1
        return word


def _read(words: _Words) -> SimpleView:
    words.need("SELECT")
    outputs = [_read_output(words)]
    while words.next_is(","):
        outputs.append(_read_output(words))
    words.need("FROM")
    table = words.name()
    tests: list[tuple[str, bool]] = []
    if words.next_is("WHERE"):
        tests.append(_read_test(words))
        while words.next_is("AND"):
            tests.append(_read_test(words))
    grouped: list[str] | None = None
    if words.next_is("GROUP", "BY"):
        grouped = [words.name()]
        while words.next_is(","):
            grouped.append(words.name())
    words.need("")
    return SimpleView(
        table, tuple(outputs), tuple(tests), None if grouped is None else tuple(grouped)
    )


def _read_output(words: _Words) -> tuple[str, str, str | None]:
    for function in _EXTREMES:
        if words.next_is(function, "("):
            column = words.name()
            words.need(")", "AS")
            return words.name(), column, function.lower()
    column = words.name()
    return (words.name() if words.next_is("AS") else column), column, None


def _read_test(words: _Words) -> tuple[str, bool]:
    column = words.name()
    words.need("IS")
    null = not words.next_is("NOT")
    words.need("NULL")
    return column, null
