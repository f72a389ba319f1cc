"""The stages of a sink: loop, batches, decode, write, and recover records that a target refuses.

A contract holds the order of their imports. May import the pipeline and what all tasks share.
"""
