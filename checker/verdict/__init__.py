"""Verdicts as data, in a line, and as HTML.

Door: `verdict`.
"""
