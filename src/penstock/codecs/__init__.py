"""Data formats in plain Python, one value at a time: Avro, Protobuf, JSON, JSON Schema, a registry.

Imports the kernel and the machine; converters make whole columns of it, tools read topics by it.
"""
