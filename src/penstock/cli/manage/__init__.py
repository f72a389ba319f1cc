"""`penstock plan`, `apply`, `export` and `watch`: connectors from files."""
