"""The `penstock` command: one module for each command, imported when it is used.

It may import everything; no other package imports it.
"""
