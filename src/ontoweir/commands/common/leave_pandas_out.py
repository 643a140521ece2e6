"""Start without pandas."""

import sys
from collections.abc import Sequence
from types import ModuleType


def leave_pandas_out() -> None:
    """Have pyarrow do without pandas. Where it is installed, pyarrow imports it to make its first
    array of numpy's numbers, or the other way round, which may be columns of pandas': nothing here
    is, and that import takes as long as a short replay. Who asks for a table of pandas' later gets
    one all the same.

    Not to be called where users' functions run: what these make may be such columns.
    """
    if "pandas" in sys.modules:
        return
    import numpy as np
    import pyarrow as pa

    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        pa.array(np.zeros(0)).to_numpy()  # now pyarrow tries, and does not try again
    finally:
        sys.meta_path.remove(absent)


class _Absent:
    """Lets nobody find pandas."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """None, for those after it; pandas is not found.

        Raises:
            ModuleNotFoundError: it is pandas.
        """
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out", name=name)
