"""The data of a decision: normal form, difference bounds, plans, declarations, units of values.

Makes nothing; every room imports it.
"""
