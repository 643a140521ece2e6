"""`ontoweir ontology`."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ontoweir.commands.common.arguments import add_project_arguments
from ontoweir.commands.common.hold_warnings import Warnings


def add_ontology(commands: Any) -> None:
    """Add `ontology` to the commands."""
    ontology = commands.add_parser(
        "ontology",
        help="count the axioms used, list those left out, and names that can have no member",
        epilog="example: ontoweir ontology examples/traffic",
    )
    add_project_arguments(ontology)
    ontology.add_argument(
        "--ontology", action="append", metavar="FILE", help="a file, without a project"
    )
    ontology.add_argument("--format", choices=("text", "json"), default="text")
    ontology.set_defaults(run=_ontology)


def _ontology(args: argparse.Namespace) -> int:
    from ontoweir.cache.open_cache import open_cache
    from ontoweir.lint.report_ontology import describe_ontology, show_ontology, warn_unsatisfiable
    from ontoweir.pipeline.known.read_cached import read_ontology_cached
    from ontoweir.project.project import load_project

    warnings = Warnings(quiet=args.quiet, verbose=args.verbose)
    if args.ontology:
        files: tuple[Path, ...] = tuple(Path(f) for f in args.ontology)
        imports: Mapping[str, Path] = {}
    else:
        project = load_project(Path(args.project), overrides=args.set)
        files, imports = project.ontology, project.imports
    cache = open_cache(args.cache)
    reading, _ = read_ontology_cached(files, imports, strict=args.strict, cache=cache)
    warn_unsatisfiable(reading.tbox, warnings)
    warnings.release()
    if args.format == "json":
        print(json.dumps(describe_ontology(reading), indent=2, ensure_ascii=False))
    else:
        print(show_ontology(reading, verbose=args.verbose))
    return 0
