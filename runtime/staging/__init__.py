"""runtime/staging"""
