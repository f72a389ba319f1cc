"""One worker: settings, the REST API, the herder that decides, the runtime that executes.

`bootstrap` puts it together. Imports go down: rest, then herder and runtime, then
pipeline, then engine and storage.
"""
