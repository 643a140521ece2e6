"""Names in double quotes, as R2RML's SQL 2008 and Ontop write them, in the words of Spark SQL."""

import re

_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*' | `[^`]*` | --[^\n]* | /\*.*?\*/ | "(?P<name>[^"`]+)" """,
    re.VERBOSE | re.DOTALL,
)


def quote_names(sql: str) -> str:
    """The SQL with `"name"` written between backticks; strings and comments stay as they are.

    Spark reads double quotes as strings, SQL 2008 as names, and mappings are written in the
    latter. All places in the text stay where they are.

    >>> quote_names('SELECT "id" FROM "t" WHERE a = \\'"x"\\'')
    'SELECT `id` FROM `t` WHERE a = \\'"x"\\''
    """
    return _PIECE.sub(lambda m: f"`{m['name']}`" if m["name"] is not None else m[0], sql)
