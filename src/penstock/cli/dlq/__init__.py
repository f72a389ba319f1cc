"""`penstock dlq`: dead letters listed, shown and written back."""
