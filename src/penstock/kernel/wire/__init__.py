"""The REST API's JSON, and the shapes of its requests and answers."""
