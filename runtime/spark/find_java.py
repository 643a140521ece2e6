"""Find the Java that Spark is to start."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

LEAST_JAVA = 17
"""The oldest that Spark runs on."""
_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/local/openjdk-*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*",
    "~/.sdkman/candidates/java/current",
    "~/.jdks/*",
)


def find_java() -> tuple[Path, int | None] | None:
    """The `java` program, and its major version (None: it does not say).

    JAVA_HOME decides where it is set; else `java` on PATH, if it is new enough; else what is
    installed in the usual places.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        return _examine(Path(home) / "bin" / "java")
    best = None
    for place in _installed():
        java = _examine(place)
        if java is not None:
            best = best or java
            if java[1] is None or java[1] >= LEAST_JAVA:
                return java
    return best


def _installed() -> Iterator[Path]:
    on_path = shutil.which("java")
    if on_path is not None:
        yield Path(on_path)
    for pattern in _PLACES:
        place = Path(pattern).expanduser()
        parts = place.relative_to(place.anchor)
        yield from (p / "bin" / "java" for p in sorted(Path(place.anchor).glob(str(parts))))


def _examine(java: Path) -> tuple[Path, int | None] | None:
    if not java.exists():
        return None
    try:
        ran = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', ran.stderr + ran.stdout)
    return java, int(match.group(1)) if match else None
