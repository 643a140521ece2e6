"""The trees of a text in Spark SQL, and in the words of Flink that sqlglot does not know."""

import re
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal

if TYPE_CHECKING:
    from sqlglot import Token, exp

_TABLES = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
"""Functions of Flink that make tables of windows."""
_CALLED = ("WINDOW", "SESSION")
"""Words of SQL that are functions, too, where they are called."""
_WHOLE = "ONTOWEIR_DATE_TRUNC"
"""The name of date_trunc while it is parsed: it keeps its arguments."""
_AFTER_NAMES = ("", ",", ")", ";", "HAVING", "ORDER", "QUALIFY", "LIMIT", "UNION", "FROM")
"""What follows a name in GROUP BY, or in SELECT."""
_FORMATTED = (
    "DATE_FORMAT",
    "FROM_UNIXTIME",
    "TO_DATE",
    "TO_TIMESTAMP",
    "TO_UNIX_TIMESTAMP",
    "UNIX_TIMESTAMP",
)
"""Functions whose last argument is a format of times, in Spark's letters."""


def parse_statements(text: str) -> "list[exp.Expr | None]":
    """The statements of a text in Spark SQL; a query after CREATE VIEWs is one, whose WITH has
    these. `FIRST(x, ts)`, as TimescaleDB has it, is `FIRST(x ORDER BY ts)`. Of date_trunc all
    arguments are kept, one of which sqlglot would drop; `window(ts, '1 hour')` and `SESSION(…)` are
    calls wherever they stand; and `SESSION(TABLE s PARTITION BY a, …)`
    is `SESSION(s, PARTITION_BY(a), …)`.

    Raises:
        sqlglot.errors.SqlglotError: it is no SQL.
        SqlRefusal: a format of times has letters that sqlglot reads as others.
    """
    from sqlglot import Dialect, exp

    dialect = Dialect.get_or_raise("spark")
    tokens = _order_ends(_read_calls(_read_tables(dialect.tokenize(text))))
    _refuse_week_years(tokens)
    parsed = list(dialect.parser().parse(tokens, text))
    for tree in parsed:
        for node in () if tree is None else tree.walk():
            if node._meta is not None:
                node._meta = Place(node._meta)
            if isinstance(node, exp.Anonymous) and node.this == _WHOLE:
                node.set("this", "DATE_TRUNC")
    return _name_views(parsed)


class Place(dict[str, Any]):
    """Where a node stands in its text: numbers, which a copy of its tree has as they are. Trees are
    copied often while a query is read."""

    def __deepcopy__(self, memo: object) -> "Place":
        return Place(self)


def _order_ends(tokens: "Sequence[Token]") -> "list[Token]":
    """The tokens, where the second of two arguments of FIRST or LAST, which is not Spark's TRUE or
    FALSE, is what orders. (Tokens are changed rather than the parser's functions: a sqlglot that is
    compiled, `sqlglot[c]`, cannot be inherited from.)"""
    from sqlglot import TokenType

    kept = list(tokens)
    calls: list[list[int]] = []  # of each parenthesis: its place, and those of the commas in it
    for place, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            calls.append([place])
        elif token.token_type is TokenType.COMMA and calls:
            calls[-1].append(place)
        elif token.token_type is TokenType.R_PAREN and calls:
            opens, *commas = calls.pop()
            named = opens > 0 and tokens[opens - 1].text.upper() in ("FIRST", "LAST")
            if named and len(commas) == 1:
                last = [t.text.upper() for t in tokens[commas[0] + 1 : place]]
                orders = any(t.token_type is TokenType.ORDER_BY for t in tokens[opens:place])
                if last not in (["TRUE"], ["FALSE"]) and not orders:
                    kept[commas[0]] = _change(tokens[commas[0]], TokenType.ORDER_BY, "ORDER BY")
    return kept


def _name_views(parsed: "list[exp.Expr | None]") -> "list[exp.Expr | None]":
    """The statements; of a query after CREATE VIEWs alone the query, whose WITH names the views."""
    from sqlglot import exp

    trees = [t for t in parsed if t is not None and not isinstance(t, exp.Semicolon)]
    views, last = trees[:-1], trees[-1] if trees else None
    if not views or not all(map(_is_view, views)) or not isinstance(last, exp.Query):
        return parsed
    named: list[exp.CTE] = []
    for view in views:
        _refuse_made(view, {cte.alias.lower() for cte in named})
        schema = view.this if isinstance(view.this, exp.Schema) else None
        given = [] if schema is None else schema.expressions
        columns = [c if isinstance(c, exp.Identifier) else c.this for c in given]
        name = (view.this if schema is None else schema.this).this
        alias = exp.TableAlias(this=name, columns=columns or None)
        named.append(exp.CTE(this=view.expression.unnest(), alias=alias))
    around = last.args.get("with_")
    own = [] if around is None else around.expressions
    last.set("with_", exp.With(expressions=[*named, *own]))
    return [last]


def _refuse_made(view: "exp.Expr", made: Set[str]) -> None:
    """Raise SqlRefusal where a view is made twice, or only if there is none: which of two is meant
    depends on when each is read."""
    from sqlglot import exp

    table = view.this.this if isinstance(view.this, exp.Schema) else view.this
    name = str(table.name)
    again, exists = name.lower() in made, bool(view.args.get("exists"))
    if again or exists:
        raise SqlRefusal(
            f"CREATE VIEW {'IF NOT EXISTS ' if exists else ''}{name}{', again' if again else ''}",
            why="the views of a query's text are its own, each made once",
            fix="give the second one another name" if again else "leave IF NOT EXISTS out",
            line=line_of(view),
        )


def _is_view(tree: "exp.Expr | None") -> bool:
    """Whether it is CREATE VIEW name AS a query, that is of no database."""
    from sqlglot import exp

    if not isinstance(tree, exp.Create) or str(tree.args.get("kind")).upper() != "VIEW":
        return False
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    plain = isinstance(table, exp.Table) and not table.args.get("db")
    return plain and isinstance(tree.expression, exp.Query)


def _refuse_week_years(tokens: "Sequence[Token]") -> None:
    """Raise SqlRefusal where a format of times, in Spark's letters, has a Y: it is the year of the
    week there, which Spark refuses since 3.0, and sqlglot reads as the year."""
    from sqlglot import TokenType

    calls: list[str] = []
    for before, token in pairwise(tokens):
        if token.text == "(":
            calls.append(before.text.upper())
        elif token.text == ")" and calls:
            calls.pop()
        given = token.token_type is TokenType.STRING and before.text == ","
        if given and calls and calls[-1] in _FORMATTED and re.search("(?<!%)Y", token.text):
            raise SqlRefusal(
                f"the format '{token.text}' of {calls[-1]}",
                why="Y is the year of the week, which Spark does not read since 3.0",
                fix=f"write the year as '{token.text.replace('Y', 'y')}'",
                line=token.line,
            )


def _read_calls(tokens: "Sequence[Token]") -> "list[Token]":
    """The tokens, where words that are called are names of functions, and WINDOW is a name unless
    it is a clause, which names one."""
    from sqlglot import TokenType

    following = [*(token.text for token in tokens), ""][1:]
    return [
        _change(token, TokenType.VAR, _WHOLE)
        if token.text.upper() == "DATE_TRUNC" and after == "("
        else _change(token, TokenType.VAR, token.text)
        if token.token_type is not TokenType.VAR
        and (
            (token.text.upper() in _CALLED and after == "(")
            or (token.token_type is TokenType.WINDOW and after.upper() in _AFTER_NAMES)
        )
        else token
        for token, after in zip(tokens, following, strict=True)
    ]


def _read_tables(tokens: "Sequence[Token]") -> "list[Token]":
    """The tokens without TABLE before the name of a table, as a function of FROM has it, and with
    its PARTITION BY as a call."""
    from sqlglot import TokenType

    kept: list[Token] = []
    words = ["", "", *(token.text for token in tokens)]
    depth, opened = 0, None  # of parentheses, and how deep PARTITION BY is
    inside = False  # of the argument that is a table
    for place, token in enumerate(tokens):
        second, last = words[place : place + 2]
        if _is_table_word(token.text, second, last):
            inside = True
            continue
        if inside and token.text.upper().split() == ["PARTITION", "BY"]:
            kept += [
                _change(token, TokenType.COMMA, ","),
                _change(token, TokenType.VAR, "PARTITION_BY"),
                _change(token, TokenType.L_PAREN, "("),
            ]
            opened, inside = depth, False
            continue
        if opened is not None and depth == opened and _ends_keys(tokens, place):
            kept.append(_change(token, TokenType.R_PAREN, ")"))
            opened = None
        inside = inside and token.text not in (",", ")")
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        kept.append(token)
    return kept


def _ends_keys(tokens: "Sequence[Token]", place: int) -> bool:
    """Whether a token is after the last key: the comma before DESCRIPTOR, or before a name and
    `=>`; or the end of the call."""
    token, after = tokens[place], [t.text.upper() for t in tokens[place + 1 : place + 3]]
    if token.text == ")":
        return True
    return token.text == "," and (after[:1] == ["DESCRIPTOR"] or after[1:] == ["=>"])


def _change(token: "Token", kind: Any, text: str) -> "Token":
    """A token of another kind, at the same place."""
    from sqlglot import Token

    return Token(kind, text, token.line, token.col, token.start, token.end, token.comments)


def _is_table_word(word: str, second: str, last: str) -> bool:
    """Whether it is TABLE before the name of a table, as a function of FROM has it, which sqlglot
    does not know: `TUMBLE(TABLE s, …)`, `TUMBLE(DATA => TABLE s, …)`.

    >>> _is_table_word("TABLE", "TUMBLE", "("), _is_table_word("TABLE", "DATA", "=>")
    (True, True)
    >>> _is_table_word("TABLE", "SELECT", "FROM")
    False
    """
    opens = last == "(" and second.upper() in _TABLES
    return word.upper() == "TABLE" and (opens or (second.upper(), last) == ("DATA", "=>"))
