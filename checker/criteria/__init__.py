"""checker/criteria"""
