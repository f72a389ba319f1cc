"""`penstock dlq`: dead letters listed, shown and written back.

May import the tools and what all commands share, never the worker.
"""
