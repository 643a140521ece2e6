"""checker/repair"""
