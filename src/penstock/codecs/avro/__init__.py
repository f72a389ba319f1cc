"""Avro: its schemas, what Connect's data is in them, and its bytes."""
