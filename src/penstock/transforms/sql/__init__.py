"""A SELECT over each record.

A plugin like any other: may import the public API, the kernel and columns.
"""
