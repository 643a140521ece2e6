"""The registered queries of a registry."""

from pathlib import Path

from ontoweir.errors import UsageError
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.registry.registry_entry import ENTRY, Entry, read_entry


def list_entries(registry: Path) -> tuple[Entry, ...]:
    """The entries, in the order of their names; none where there is no registry.

    Raises:
        UsageError: an entry is damaged.
    """
    if not registry.is_dir():
        return ()
    entries = [read_entry(file) for file in sorted(registry.glob(f"*/{ENTRY}"))]
    return tuple(e for e in entries if e is not None)


def find_entry(registry: Path, name: str) -> Entry:
    """The entry of a name.

    Raises:
        UsageError: there is none, or it is damaged.
    """
    # "/" and ".." name no entry, so no file elsewhere is looked at
    there = sorted(file.parent.name for file in registry.glob(f"*/{ENTRY}"))
    entry = read_entry(registry / name / ENTRY) if name in there else None
    if entry is None:
        raise UsageError(
            f"no query is registered as {name!r}",
            why=f"the registry {registry} has {', '.join(there) or 'no entries'}",
            fix=_mend(name, there),
        )
    return entry


def _mend(name: str, there: list[str]) -> str:
    if Path(name).exists():
        return f"a project is named by an option: --project {name}"
    if there:
        return did_you_mean(name, there)
    return "register it: `ontoweir register`; or name the project it is in: --project FOLDER"
