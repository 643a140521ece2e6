"""Messages in the words that the user wrote."""

import re
from collections.abc import Sequence

from ontoweir.mappings.model.catalog import Relation

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
        text = re.sub(rf"`?\b{name}\b`?(\.`?c\d+`?)?", shown.replace("\\", r"\\"), text)
    return text.replace("`time of the row`", "the timestamp")
