"""runtime/columnar"""
