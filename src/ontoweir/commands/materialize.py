"""`ontoweir materialize`."""

import argparse
from pathlib import Path
from typing import Any

from ontoweir.commands.arguments import read_output


def add_materialize(commands: Any) -> None:
    """Add `materialize` to the commands."""
    materialize = commands.add_parser(
        "materialize",
        help="the triples that a mapping makes of an SQLite database, as N-Quads",
        epilog="example: ontoweir materialize --mappings m.ttl --database sqlite:my.db",
    )
    materialize.add_argument("--mappings", required=True, metavar="FILE", help="R2RML or .obda")
    materialize.add_argument("--database", required=True, metavar="sqlite:FILE")
    materialize.add_argument("--output", metavar="FILE", help="(default: stdout)")
    materialize.add_argument("--base", metavar="IRI", help="of relative IRIs (default: @base)")
    materialize.add_argument(
        "--skip-data-errors",
        action="store_true",
        help="leave out, and count, what a value cannot make, instead of ending there",
    )
    materialize.add_argument("--quiet", "-q", action="store_true", help="no warnings")
    materialize.set_defaults(run=_materialize)


def _materialize(given: argparse.Namespace) -> int:
    from ontoweir.run.materializing import materialize

    materialize(
        Path(given.mappings),
        given.database,
        None if given.output is None else read_output(given.output),
        base=given.base,
        skip_data_errors=given.skip_data_errors,
        quiet=given.quiet,
    )
    return 0
