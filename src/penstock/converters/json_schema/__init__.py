"""JsonSchemaConverter: Connect data as JSON, its JSON Schema in a Schema Registry."""
