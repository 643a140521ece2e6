"""Reasoning over SPJ queries: equalities, differences, contradictions, containment; printing.

Takes SPJ queries; makes facts about them. The checker and the runtime may import it.
"""
