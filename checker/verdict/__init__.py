"""Verdicts as data, in a line, and as HTML; and `CRITERIA`, all criteria by key.

Door: `verdict`.
"""
