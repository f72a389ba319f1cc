"""The test kit: real servers for tests of Penstock and of plugins.

May import the public API, the kernel and the machine, and the worker's interface for fakes.
"""
