"""Refuse to merge the files of a run where that cannot be done."""

from ontoweir.errors import Source, UsageError
from ontoweir.run.run_options import RunOptions

_MERGED = ("parquet", "jsonl", "csv", "arrow", "avro", "nq")
"""The sinks whose files can be put together: N-Quads' blank nodes have names of their own."""


def refuse_compaction(options: RunOptions) -> None:
    """See that the files of a run's sink can be merged.

    Raises:
        UsageError: it writes none, or documents of one root; or whoever reads them moves them away;
            or they become no fewer.
    """
    assert options.compact is not None
    if options.compact < 2:
        raise UsageError(
            f"compact is {options.compact}",
            why="so many files become one",
            fix="say 2 or more, e.g. 64",
            source=Source("--compact"),
        )
    if options.sink not in _MERGED:
        shown = options.sink if isinstance(options.sink, str) else "of Python"
        raise UsageError(
            f"the sink {shown} has no files that can be merged",
            why=f"those of {', '.join(_MERGED[:-1])} and {_MERGED[-1]} can",
            fix="leave out --compact, or name one of these",
            source=Source("--compact"),
        )
    if options.parts_may_go:
        raise UsageError(
            "--compact and --parts-may-go exclude each other",
            why="a file that is moved away while its folder is exchanged for one with a merged "
            "file would be there again",
            fix="leave out one of them",
            source=Source("--compact"),
        )
