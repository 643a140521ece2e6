"""rewriter/algebra"""
