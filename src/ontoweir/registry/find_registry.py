"""The folder of registered queries."""

import os
from pathlib import Path


def find_registry(named: str | Path | None, root: Path) -> Path:
    """The registry: as named, else by $ONTOWEIR_REGISTRY, else `out/registry` below `root`, the
    project's folder."""
    found = named or os.environ.get("ONTOWEIR_REGISTRY")
    return Path(found) if found else root / "out" / "registry"
