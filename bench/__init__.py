"""The benchmark: `python -m bench`, or `make bench`."""
