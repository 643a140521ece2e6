"""Files in a zip, and text in UTF-16, written as files that are read."""

import codecs
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ontoweir.errors import DataError, Source
from ontoweir.runtime.text.open_packed import open_packed

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SIZE = 1 << 20
_ZIP = b"PK"


def unpack_zip(file: Path, folder: Path) -> Sequence[Path]:
    """The files in a zip, written to a folder, without those that begin with a dot.

    Args:
        file: the zip.
        folder: for the files, which are called as they are there.

    Raises:
        DataError: it is none, it is encrypted, or damaged; two files are called alike; or it has
            none.
    """
    made: dict[str, Path] = {}
    try:
        with zipfile.ZipFile(file) as opened:
            for one in opened.infolist():
                place = PurePosixPath(one.filename)
                if one.is_dir() or any(p.startswith((".", "__MACOSX")) for p in place.parts):
                    continue
                with opened.open(one) as source:
                    name = _name(place.name, source.read(len(_ZIP)))
                if name in made:
                    raise _refuse(file, f"it has two files called {name}")
                made[name] = folder / name
                with opened.open(one) as source, made[name].open("wb") as written:
                    shutil.copyfileobj(source, written)
    except FileNotFoundError:
        raise _refuse(file, "it is not there") from None
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        raise _refuse(file, str(error).splitlines()[0][:200]) from error
    if not made:
        raise _refuse(file, "it has no file")
    return list(made.values())


def _name(name: str, head: bytes) -> str:
    """What a file in a zip is called: pandas calls the CSV in `a.zip`, or in `a.csv.zip`, as these
    are called."""
    plain = Path(name)
    if plain.suffix.lower() != ".zip" or head == _ZIP:
        return name
    return plain.stem if Path(plain.stem).suffix else f"{plain.stem}.csv"


def unpack_text(file: Path, folder: Path) -> Path:
    """A packed file, unpacked, without the ending that says so; a dot is before its name.

    Args:
        file: called `.gz`, `.bz2` or `.zst`.
        folder: for what is in it.

    Raises:
        DataError: it is not packed so.
    """
    made = folder / f".{file.stem}"
    try:
        with open_packed(str(file)) as source, made.open("wb") as written:
            shutil.copyfileobj(source, written, _SIZE)
    except OSError as error:
        raise _refuse(file, str(error).splitlines()[0][:200]) from error
    return made.replace(folder / file.stem)


def decode_text(file: Path, folder: Path) -> Path:
    """A file, or, where its text is UTF-16, its copy in UTF-8.

    Args:
        file: of any kind; it is UTF-16 where it says so at its beginning.
        folder: for the copy.

    Raises:
        DataError: it is not UTF-16, though it begins as such.
    """
    if not file.is_file():
        return file
    with file.open("rb") as opened:
        if not opened.read(2).startswith(_UTF16):
            return file
    made = folder / f".{file.name}"
    try:
        with (
            file.open(encoding="utf-16", newline="") as source,
            made.open("w", encoding="utf-8", newline="") as written,
        ):
            shutil.copyfileobj(source, written, _SIZE)
    except UnicodeError as error:
        raise _refuse(file, "it begins as UTF-16, and is none") from error
    return made.replace(folder / file.name)


def _refuse(file: Path, what: str) -> DataError:
    return DataError(
        f"{file.name} cannot be read: {what}",
        why="its files are copied into the project",
        fix="correct it, or name files in UTF-8, or a folder of such",
        source=Source(str(file)),
    )
