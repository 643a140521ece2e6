"""Verdicts for people and tools: text, JSON, HTML, SARIF.

Takes verdicts; makes text, writes nothing.
"""
