"""Commands on connectors: one, many, or all that match a pattern."""
