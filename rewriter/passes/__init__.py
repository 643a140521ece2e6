"""rewriter/passes"""
