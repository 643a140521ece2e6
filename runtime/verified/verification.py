"""With what a replay recalls and keeps what is verified."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ontoweir.cache.open_cache import Cache
from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.identify_file import describe_files
from ontoweir.runtime.verified.identify_streams import (
    Identity,
    identify_relations,
    identify_streams,
)


@dataclass(frozen=True, slots=True)
class Verification:
    """Where it is kept, and the identities of streams and relations from before anything of them
    was read.

    `again`: nothing is recalled: everything is verified again, and kept.
    """

    cache: Cache
    known: Mapping[str, Identity]
    relations: Mapping[str, Identity]
    again: bool = False

    def ensure_unchanged(
        self, catalog: Catalog, streams: Sequence[str], relations: Sequence[str]
    ) -> None:
        """Of streams and relations.

        Raises:
            RunError: a file changed after all that was known of it was taken for true.
        """
        now = identify_streams(catalog, streams)
        tables = identify_relations(catalog, relations)
        changed = [n for n, i in now.items() if i != self.known[n]]
        changed += [n for n, i in tables.items() if i != self.relations[n]]
        changed += [n for n in (*streams, *relations) if n not in now and n not in tables]
        if changed:
            raise RunError(
                f"the files of {', '.join(sorted(changed))} changed while they were replayed",
                why="an earlier replay has verified them as they were before",
                fix="start the replay again; it will verify them as they are",
            )


def ensure_kept(history: History) -> None:
    """Nothing, if the rows of a history that an earlier replay kept are as they were.

    Raises:
        RunError: a file changed after it was compared.
    """
    files = [path for path, *_ in history.kept]
    if describe_files(files) != history.kept:
        raise RunError(
            f"the files of {history.stream.name} changed while they were replayed",
            why="its rows were made of them by an earlier replay, and kept",
            fix="start the replay again; it will make the rows again",
        )


def begin_verification(
    cache: Cache, catalog: Catalog, tables: Iterable[str], *, again: bool
) -> Verification:
    """How the files of tables are now.

    Args:
        cache: where what is verified is kept.
        catalog: the declarations.
        tables: the streams and static relations that are read.
        again: everything is verified again.
    """
    names = tuple(tables)
    streams = identify_streams(catalog, [n for n in names if n in catalog.streams])
    relations = identify_relations(catalog, [n for n in names if n in catalog.relations])
    return Verification(cache, streams, relations, again)


WHAT = "verified"
"""How entries of the cache are called that say which rows are rejected."""
