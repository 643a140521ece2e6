"""Open a local text file, packed or not, and cut it into blocks of whole lines."""

from collections.abc import Iterator
from typing import IO, cast

import pyarrow as pa

from ontoweir.runtime.text.convert_text import NotPlain

BLOCK = 16 << 20
"""Bytes read at once."""
LONGEST = 64 << 20
"""Bytes of the longest line that is read."""
PART = 128 << 10
"""Bytes of a block of which something is odd that are looked at together."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_UNKNOWN = (".deflate", ".snappy", ".lz4", ".xz", ".zip")
PACKED = (*_PACKED, *_UNKNOWN)
"""The endings of names of files that may hold far more than their size."""


def open_packed(path: str) -> IO[bytes]:
    """The bytes of a file, unpacked as its name says.

    Raises:
        NotPlain: Spark has to unpack it.
        OSError: it cannot be read.
    """
    if path.endswith(_UNKNOWN):
        raise NotPlain
    for ending, codec in _PACKED.items():
        if path.endswith(ending):
            return cast(IO[bytes], pa.CompressedInputStream(pa.OSFile(path), codec))
    return open(path, "rb")


def cut_blocks(source: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, many at once.

    Raises:
        NotPlain: a line is too long.
        OSError: the file cannot be read.
    """
    rest = b""
    while read := source.read(BLOCK):
        end = read.rfind(b"\n") + 1
        if not end:
            rest += read
            if len(rest) > LONGEST:
                raise NotPlain
            continue
        yield b"".join((rest, memoryview(read)[:end]))
        rest = read[end:]
    if rest:
        yield rest


def cut_parts(block: bytes, size: int = PART) -> Iterator[bytes]:
    """The lines of a block, some at once, of about so many bytes."""
    start = 0
    while start < len(block):
        stop = block.find(b"\n", start + size) + 1 or len(block)
        yield block[start:stop]
        start = stop
