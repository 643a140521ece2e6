"""rewriter/model"""
