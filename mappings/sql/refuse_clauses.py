"""Refuse by name what a SELECT over the catalog may not have, with what to write instead."""

from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import (
    SqlRefusal,
)

if TYPE_CHECKING:
    from sqlglot import exp


_CLAUSES = {
    "group": "GROUP BY",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "with_": "WITH",
    "with": "WITH",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "laterals": "LATERAL",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "by_name": "UNION BY NAME",
    "kind": "SELECT AS",
    "match_condition": "MATCH_CONDITION",
    "version": "VERSION AS OF",
    "system_time": "FOR SYSTEM_TIME",
    "when": "AT",
}


_READ = {
    "Select": ("expressions", "hint", "distinct", "from_", "from", "joins", "where"),
    "Union": ("this", "expression", "distinct"),
    "Subquery": ("this", "alias"),
    "Table": ("this", "alias", "db", "catalog", "joins", "hints"),
    "Join": ("this", "on", "using", "side", "kind", "method", "hint"),
}
"""What is read of each kind of clause: anything else that is written in it is refused."""


_VIEW = "of static relations: declare a relation with this SQL as its view"


_FIXES = {
    **dict.fromkeys(["GROUP BY", "HAVING"], f"aggregate in the query; {_VIEW}"),
    **dict.fromkeys(
        ["WITH", "a subquery in FROM"], f"join its tables in one SELECT with WHERE; {_VIEW}"
    ),
    **dict.fromkeys(
        ["LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "RIGHT OUTER JOIN", "FULL JOIN"],
        f"write JOIN here, and a triples map of its own for what needs no match; {_VIEW}",
    ),
    **dict.fromkeys(
        ["NATURAL JOIN", "NATURAL INNER JOIN"], "write JOIN … USING (columns), or JOIN … ON"
    ),
    "* EXCEPT": "write the columns",
    "an alias with names of columns": "write the names with AS in SELECT",
    **dict.fromkeys(["EXCEPT", "INTERSECT"], f"write it with WHERE; {_VIEW}"),
}
"""What to write instead of a clause."""


def refuse_clauses(tree: "exp.Expr") -> None:
    """Refuse what a part of a SELECT has beyond the language.

    Raises:
        SqlRefusal: the first such clause, by its name in SQL.
    """
    known = _READ[type(tree).__name__]
    for key, value in tree.args.items():
        if value and key not in known:
            raise refuse_sql(tree, _CLAUSES.get(key, key.rstrip("_").replace("_", " ").upper()))


def refuse_sql(tree: "exp.Expr", name: str, fix: str | None = None) -> SqlRefusal:
    """The refusal of a clause, with its line and what to write instead (`fix`; else what is known
    of the clause)."""
    return SqlRefusal(
        f"{name} is outside the SQL read here",
        why="it is SELECT [DISTINCT] columns FROM tables and joins WHERE comparisons",
        fix=fix or _FIXES.get(name, f"write it without {name}"),
        line=line_of(tree),
    )
