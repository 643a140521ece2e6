"""What SPJ queries say: equalities, differences, contradictions, containment.

Takes SPJ queries; makes facts about them. The checker may import it.
"""
