"""The JDBC source and sink, by Confluent's class names and by Aiven's.

Each line imports only from lines above it:

    settings tables findings calendars   facts of connections and tables, and small tools
    spool                                rows as text files on the driver's disk
    dialects                             what differs between databases, one file each
    common_config                        the keys that source and sink share
    database                             talks JDBC
    source, sink                         the connectors, each with its keys (config.py) and the
                                         rules between them (checks.py); neither imports the other

How to add a database is in docs/adding-a-database.md.
"""
