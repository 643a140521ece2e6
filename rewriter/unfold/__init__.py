"""Unfolding: atoms become tables.

Takes a UCQ and T-mappings; makes a union of SPJ queries, over views of stars where their
combinations would be many. Door: `unfold_query`.
"""
