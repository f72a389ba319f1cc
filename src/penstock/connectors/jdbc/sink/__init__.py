"""The JDBC sink: records as rows, the tables they go to, and the transaction of each batch.

It may import everything beside it in the package but the source.
"""
