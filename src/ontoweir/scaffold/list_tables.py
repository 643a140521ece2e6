"""The files of the tables that a project is made of."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from ontoweir.progress.progress import OnProgress, Progress, ignore_progress
from ontoweir.scaffold.copies.export_database import SUFFIXES, export_database, list_views
from ontoweir.scaffold.copies.export_workbook import SUFFIXES as WORKBOOKS
from ontoweir.scaffold.copies.export_workbook import export_workbook
from ontoweir.scaffold.copies.unpack_files import decode_text, unpack_text, unpack_zip
from ontoweir.scaffold.ddl.read_constraints import Constraints, read_constraints
from ontoweir.scaffold.read_sample import PACKED, form_of, list_files, name_table
from ontoweir.scaffold.remote.fetch_file import fetch_file, hide_login
from ontoweir.scaffold.split_folder import split_folder
from ontoweir.scaffold.texts.export_text import export_text

_SERVERS = ("postgres", "postgresql")


@dataclass(frozen=True, slots=True)
class Tables:
    """The files of tables; what databases declare of each, by its name; views of databases that are
    left out, and tables of a server that this user may not read."""

    files: tuple[Path, ...] = ()
    declared: Mapping[str, Constraints] = field(default_factory=dict)
    views: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


def list_tables(
    data: Sequence[str],
    folder: Path,
    *,
    views: bool,
    named: Set[str] = frozenset(),
    on_progress: OnProgress = ignore_progress,
) -> Tables:
    """The tables of what is named.

    Args:
        data: paths, URLs, and `-` for standard input.
        folder: to which those of a database are written, those of text that only other programs
            read, and what is not here.
        views: what the views of databases compute are tables, too.
        named: tables whose columns the user names ("": the only one).
        on_progress: is told what is looked at.

    Raises:
        UsageError: something is not there.
        DataError: a file is not what its name says.
    """
    parts = []
    for one in data:
        on_progress(Progress(f"looking at {hide_login(one)}", 0, None))
        parts.append(_list(one, folder, views=views, named=named))
    return _add(parts)


def _add(parts: Iterable[Tables]) -> Tables:
    made = Tables()
    for found in parts:
        made = Tables(
            (*made.files, *found.files),
            {**made.declared, **found.declared},
            (*made.views, *found.views),
            (*made.denied, *found.denied),
        )
    return made


def _list(data: str, folder: Path, *, views: bool, named: Set[str]) -> Tables:
    if "://" in data and urlsplit(data).scheme.lower() in _SERVERS:
        from ontoweir.scaffold.postgres.export_postgres import export_postgres

        served = export_postgres(data, folder, views=views)
        return Tables(served.files, served.declared, served.views, served.denied)
    path = fetch_file(data, folder) if data == "-" or "://" in data else Path(data)
    if path.is_dir():
        if (alone := _find_alone(path)) is not None:
            return _list(str(alone), folder, views=views, named=named)
        return _add(
            Tables((part,)) if part.is_dir() else _list(str(part), folder, views=views, named=named)
            for part in split_folder(path)
        )
    if path.suffix.lower() == ".zip":
        return _add(
            _list(str(one), folder, views=views, named=named) for one in unpack_zip(path, folder)
        )
    if path.suffix.lower() in SUFFIXES:
        files = export_database(path, folder, views=views)
        return Tables(tuple(files), read_constraints(path), () if views else list_views(path))
    has_names = bool({"", name_table(path)} & named)
    export: Callable[[Path, Path], list[Path]] = partial(export_text, named=has_names)
    if path.suffix.lower() in WORKBOOKS:
        export = export_workbook
    if path.is_file() and path.suffix.lower() in PACKED and not form_of(path):
        unpacked = unpack_text(path, folder)
        files = export(unpacked, folder)
        unpacked.unlink()
        return Tables(tuple(files or [path]))
    path = decode_text(path, folder)
    return Tables(tuple(export(path, folder) or [path]))


def _find_alone(folder: Path) -> Path | None:
    """The one file of a folder, if no number in its name says that others follow: a table of its
    name, not of the folder's."""
    files = list_files(folder)
    if len(files) != 1 or files[0].parent != folder or re.search("[0-9]", files[0].name):
        return None
    return files[0]
