"""AvroConverter: Connect data as Avro, with its schemas in a Schema Registry.

May import converters.registry, the codecs and columns.
"""
