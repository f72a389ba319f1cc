"""ProtobufConverter: Connect data as Protobuf messages, their .proto files in a Schema Registry.

May import converters.registry, the codecs and columns.
"""
