"""checker/witness"""
