"""Commands on connectors: one, many, or all that match a pattern.

May import the tools and what all commands share, never the worker.
"""
