"""Where a query's rows are: the folder of its answers, or of the rows that its run rejected."""

from pathlib import Path
from typing import Literal, TypeAlias

from ontoweir.dashboard.read_tail import read_object
from ontoweir.dashboard.site import Site
from ontoweir.registry.entry_status import STATUS
from ontoweir.registry.registry_entry import ENTRY

Kind: TypeAlias = Literal["answers", "rejects"]
"""What rows are looked at."""
_REJECTS = "rejects"


def find_rows(site: Site, name: str, kind: Kind) -> Path | None:
    """The folder of a query's rows, or the file that has all; None where no run has written any.

    Args:
        site: where runs write.
        name: the query's.
        kind: its answers, or what its run rejected (of a run of several queries, of all of them).
    """
    if name in ("", ".", "..", _REJECTS) or name.startswith("_") or set(name) & {"/", "\\", "\0"}:
        return None
    entry = site.registry / name
    if (entry / ENTRY).is_file():
        found = entry / _REJECTS if kind == "rejects" else _registered(entry)
    else:
        found = site.answers / (_REJECTS if kind == "rejects" else name)
    table = site.answers / f"{name}.parquet"
    if found is not None and not found.is_dir() and kind == "answers" and table.is_file():
        return table  # of the sink `table`
    return found if found is not None and found.is_dir() else None


def _registered(entry: Path) -> Path | None:
    """The answers of a registered query, as who serves it says."""
    folder = (read_object(entry / STATUS) or {}).get("answers_folder")
    return Path(folder) if isinstance(folder, str) and "\0" not in folder else None
