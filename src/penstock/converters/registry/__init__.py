"""Converters whose schemas live in a Schema Registry: five bytes say which, the data follows."""
