"""The REST API's JSON, and the shapes of its requests and answers.

May import the errors only; the worker and the client both stand on it.
"""
