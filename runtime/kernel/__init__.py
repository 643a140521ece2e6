"""The kernel: the synopses of one plan, advanced over many markers at once.

Takes the members of a chunk and the state before it; makes the matches and the state after it.
Door: `kernel`.
"""
