"""rewriter"""
