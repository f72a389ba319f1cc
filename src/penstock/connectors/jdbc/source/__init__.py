"""The JDBC source: finds tables and their new rows, and reads them as frames.

It may import everything beside it in the package but the sink.
"""
