"""A file that is open only while it is read: where many streams are read side by side, the system
would give a process no handles for all their files."""

from pathlib import Path

import pyarrow as pa


def open_again(name: str) -> "pa.PythonFile":
    """A file to read, opened for each access.

    Raises:
        OSError: it is not there; or, when it is read, cannot be read.
    """
    return pa.PythonFile(_ReopenedFile(name), "r")


class _ReopenedFile:
    """As Python's files are; of one that has become another one, what is there now."""

    def __init__(self, name: str) -> None:
        self.name, self.place, self.closed = name, 0, False
        self.size = Path(name).stat().st_size

    def read(self, count: int = -1) -> bytes:
        """The next bytes."""
        with open(self.name, "rb", buffering=0) as file:
            file.seek(self.place)
            data = file.read(count)
        self.place += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self.place = offset + (0, self.place, self.size)[whence]
        return self.place

    def tell(self) -> int:
        """The place."""
        return self.place

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Nothing is open."""
        self.closed = True

    def flush(self) -> None:
        """Nothing is written."""
