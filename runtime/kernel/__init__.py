"""runtime/kernel"""
