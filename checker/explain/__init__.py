"""checker/explain"""
