"""Unfolding: atoms become tables.

Takes a UCQ and T-mappings; makes a union of SPJ queries. Door: `unfold_query`.
"""
