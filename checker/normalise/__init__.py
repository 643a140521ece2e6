"""checker/normalise"""
