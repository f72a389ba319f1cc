"""A SELECT over each record."""
