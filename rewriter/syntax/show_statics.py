"""Messages in the words that the user wrote."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Relation

if TYPE_CHECKING:
    from sqlglot import exp

_LONG = 120  # longer subqueries are not repeated in messages


def show_statics(text: str, statics: Sequence[Relation]) -> str:
    """A text of an error with a subquery in the place of what is read instead of it, and what was
    written for the time of a row.

    Args:
        text: of an error.
        statics: the relations that are made of static ones for a query.
    """
    for relation in statics:
        view = str(relation.data.view)
        shown = f"({view})" if len(view) < _LONG else "(a subquery over static relations)"
        name = re.escape(relation.name)
        text = re.sub(rf"`?\b{name}\b`?(\.`?\w+`?)?", shown.replace("\\", r"\\"), text)
    return text.replace("`time of the row`", "the timestamp")


def name_static(made: "exp.Expr", taken: Collection[str]) -> str:
    """What a column is called that a subquery over static relations computes: `max_height`.

    Args:
        made: a column, or an aggregate of one.
        taken: names that others have.
    """
    from sqlglot import exp

    kind = "key" if isinstance(made, exp.Column) else made.find(exp.AggFunc).key  # type: ignore[union-attr]
    columns = [c.name for c in made.find_all(exp.Column) if not c.is_star]
    name = re.sub("[^A-Za-z0-9_]", "_", "_".join([kind, *columns]))
    while name.lower() in {t.lower() for t in taken}:
        name += "_"
    return name
