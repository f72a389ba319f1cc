"""`penstock plan`, `apply`, `export` and `watch`: connectors from files.

Shows what tools.manager decides and does; never imports the worker.
"""
