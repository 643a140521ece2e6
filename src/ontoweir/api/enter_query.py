"""Enter a query of an open project into its registry."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.api.live_query import LiveQuery
from ontoweir.errors import UsageError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.pipeline.read_text import read_text
from ontoweir.project.language_of import language_of, language_of_text

if TYPE_CHECKING:
    from ontoweir.registry.registry_entry import Entry


def enter_query(
    workspace: Workspace,
    registry: Path,
    running: Mapping[str, LiveQuery],
    query: str,
    name: str | None,
    *,
    replace: bool,
    allow_unbounded: bool,
) -> "Entry":
    """The entry of a query: the existing one, if it is the same.

    Args:
        workspace: the project.
        registry: the folder of its registered queries.
        running: by name, the runs of this process; one that is to be replaced is stopped.
        query: a name in the project, or SPARQL, or SQL.
        name: the name to register.
        replace: replace another query of that name.
        allow_unbounded: register it even if it is not bounded.

    Raises:
        UsageError: it has no name, or runs already.
        QueryError: it is not bounded, and that is not allowed.
    """
    from ontoweir.project.check_name import check_name
    from ontoweir.registry.register_query import QueryText, register_query
    from ontoweir.registry.registry_entry import ENTRY, read_entry

    if (language := language_of_text(query)) is not None:
        text, file = query, "<query>"
        if name is None:
            raise UsageError(
                "the query has no name",
                why="it is registered under its name, which names the folder of its answers",
                fix='register(…, name="NAME")',
            )
    else:
        place = workspace.query_file(query)
        text, file, name = read_text(place), str(place), name or query
        language = language_of(place)
    held = running.get(check_name(name))
    if held is not None and held.isActive:
        if not replace:
            raise UsageError(
                f"{name} runs already",
                why="a query has only one run at a time",
                fix=f'use get("{name}"), stop it before, or replace it with replace=True',
            )
        held.stop()
    there = None if replace else read_entry(registry / name / ENTRY)
    same = (text, language, allow_unbounded)
    if there is not None and (there.text, there.language, there.allow_unbounded) == same:
        return there
    return register_query(
        workspace,
        registry,
        QueryText(name, language, text, file),
        allow_unbounded=allow_unbounded,
        replace=replace,
    )[0]
