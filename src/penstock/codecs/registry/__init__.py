"""A client of the Schema Registry, its settings, and the names of subjects."""
