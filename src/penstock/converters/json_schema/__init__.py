"""JsonSchemaConverter: Connect data as JSON, its JSON Schema in a Schema Registry.

May import converters.registry, the codecs and columns.
"""
