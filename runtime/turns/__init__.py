"""Rows that are joined while their values are open: by the turns of these, from one closing to the
next.

In: a chunk's rows of the streams whose rules close values, and the state before. Out: the same
rows and state with the turn as a part of the value, and the answers and state after the kernel
without it. Used by runtime.engine only.
"""
