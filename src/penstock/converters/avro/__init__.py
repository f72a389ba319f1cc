"""AvroConverter: Connect data as Avro, with its schemas in a Schema Registry."""
