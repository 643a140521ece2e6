"""checker/verdict"""
