"""`penstock offsets`: shows and changes the offsets of connectors."""
