"""Answers as changes: what begins to hold (+), and what does not hold any more (-).

The changes up to a time, applied to nothing, are the answers that hold at it.
"""
