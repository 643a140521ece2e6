"""runtime/engine"""
