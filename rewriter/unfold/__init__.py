"""rewriter/unfold"""
