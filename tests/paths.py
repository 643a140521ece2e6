"""Where the repository is, and the data beside it that is not part of it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
TRAFFIC = ROOT / "examples" / "traffic"
