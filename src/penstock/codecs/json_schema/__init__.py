"""JSON Schema: what Connect's data is in it."""
