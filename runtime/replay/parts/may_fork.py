"""Whether processes may be forked off this one."""

import sys
import threading


def may_fork() -> bool:
    """On Linux, and where no other thread could be halfway through something."""
    return sys.platform == "linux" and threading.active_count() == 1
