"""ProtobufConverter: Connect data as Protobuf messages, their .proto files in a Schema Registry."""
