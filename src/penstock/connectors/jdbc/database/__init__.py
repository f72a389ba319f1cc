"""The one package that talks JDBC: java.sql through py4j, in the JVM that Spark runs in.

It may import the dialects, the settings and the tables; the source and the sink import it.
"""

from penstock.connectors.jdbc.database.database import Database

__all__ = ["Database"]
