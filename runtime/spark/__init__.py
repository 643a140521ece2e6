"""runtime/spark"""
