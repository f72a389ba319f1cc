"""JSON as JsonConverter reads and writes it, one value at a time."""
