"""FileStreamSource and FileStreamSink.

Plugins like any other: may import the public API, the kernel and columns.
"""
