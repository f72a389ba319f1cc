"""`penstock offsets`: shows and changes the offsets of connectors.

Shows what tools.offsets decides and does; never imports the worker.
"""
