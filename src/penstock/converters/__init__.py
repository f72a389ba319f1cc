"""The built-in converters: whole columns between Connect's data and bytes.

May import `api`, `codecs`, `columns` and the kernel.
"""
