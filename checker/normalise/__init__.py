"""From a disjunct to its normal form, and to fewer or simpler disjuncts that answer the same.

Takes SPJ queries; makes `NormalForm`. [S] Def. 4, 5; [A] section 5.
"""
