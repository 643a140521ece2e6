"""rewriter/ucq"""
