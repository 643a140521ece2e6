"""`ontoweir materialize`."""

import argparse
from pathlib import Path
from typing import Any

from ontoweir.commands.common.arguments import read_output
from ontoweir.commands.common.report_refusals import report_refusals


def add_materialize(commands: Any) -> None:
    """Add `materialize` to the commands."""
    materialize = commands.add_parser(
        "materialize",
        help="print the triples that a mapping generates from an SQLite database, as N-Quads",
        epilog="example: ontoweir materialize --mappings m.ttl --database sqlite:my.db",
    )
    materialize.add_argument("--mappings", required=True, metavar="FILE", help="R2RML or .obda")
    materialize.add_argument("--database", required=True, metavar="sqlite:FILE")
    materialize.add_argument("--output", metavar="FILE", help="(default: stdout)")
    materialize.add_argument("--base", metavar="IRI", help="base of relative IRIs (default: @base)")
    materialize.add_argument(
        "--skip-data-errors",
        action="store_true",
        help="skip and count terms that a value cannot form, instead of stopping at the first",
    )
    materialize.add_argument(
        "--skip-refused",
        action="store_true",
        help="leave out triples maps with errors (exit 1)",
    )
    materialize.add_argument("--quiet", "-q", action="store_true", help="suppress warnings")
    materialize.set_defaults(run=_materialize)


def _materialize(args: argparse.Namespace) -> int:
    from ontoweir.files.require_ending import require_ending
    from ontoweir.run.write_triples import materialize

    output = None if args.output is None else read_output(args.output)
    if output is not None:
        fix = "name a .nq, which rapper and riot convert to others"
        require_ending(output, (".nq", ".nquads", ".nt"), fix)
    refused = materialize(
        Path(args.mappings),
        args.database,
        output,
        base=args.base,
        skip_data_errors=args.skip_data_errors,
        skip_refused=args.skip_refused,
        quiet=args.quiet,
    )
    return report_refusals(refused, skip=args.skip_refused)
