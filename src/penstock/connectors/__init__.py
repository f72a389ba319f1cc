"""The built-in connectors, a package each. Found by the table in `plugins.builtin`.

May import `api`, `columns` and the kernel.
"""
