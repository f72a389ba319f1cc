"""Converters whose schemas live in a Schema Registry: five bytes say which, the data follows.

May import the public API, the codecs and columns; its siblings stand on it.
"""
