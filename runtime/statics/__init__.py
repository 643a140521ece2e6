"""runtime/statics"""
