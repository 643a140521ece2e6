"""rewriter/sql"""
