"""The passes of semantic optimisation, one file each, in the order of `PASSES`.

Takes SPJ queries; makes ones that answer the same and are less. Door: `run_passes`.
"""
