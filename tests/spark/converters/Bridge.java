import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;

/** Runs the real converters over many values in one call. Plain old Java, for Janino. */
public class Bridge {
    protected final ObjectMapper mapper = new ObjectMapper();

    /** The bytes of each value, as {"data": hex or null} or {"error": [messages]}. */
    public String encode(String name, String config, String schemaText, String values) throws Exception {
        Object converter = converter(name, config);
        Schema schema = schema(mapper.readTree(schemaText));
        ArrayNode results = mapper.createArrayNode();
        for (Iterator each = mapper.readTree(values).iterator(); each.hasNext();) {
            ObjectNode result = results.addObject();
            try {
                byte[] raw = toBytes(converter, schema, value(schema, (JsonNode) each.next()));
                result.put("data", raw == null ? null : hex(raw));
            } catch (Throwable error) {
                describe(result, error);
            }
        }
        return mapper.writeValueAsString(results);
    }

    /** The data of each row of bytes, as {"schema": ..., "value": ...} or {"error": [messages]}. */
    public String decode(String name, String config, String raws) throws Exception {
        Object converter = converter(name, config);
        ArrayNode results = mapper.createArrayNode();
        for (Iterator each = mapper.readTree(raws).iterator(); each.hasNext();) {
            JsonNode raw = (JsonNode) each.next();
            ObjectNode result = results.addObject();
            try {
                SchemaAndValue data = toData(converter, raw.isNull() ? null : unhex(raw.asText()));
                JsonNode value = data == null ? mapper.nullNode() : told(data.value());
                result.set("schema", data == null ? mapper.nullNode() : told(data.schema()));
                result.set("value", value);
            } catch (Throwable error) {
                result.removeAll();
                describe(result, error);
            }
        }
        return mapper.writeValueAsString(results);
    }

    protected Object converter(String name, String config) throws Exception {
        Object converter = getClass().getClassLoader().loadClass(name).newInstance();
        Map settings = settings(mapper.readTree(config));
        if (converter instanceof Converter) {
            ((Converter) converter).configure(settings, false);
        } else {
            ((HeaderConverter) converter).configure(settings);
        }
        return converter;
    }

    protected Map settings(JsonNode config) {
        Map settings = new HashMap();
        for (Iterator each = config.fields(); each.hasNext();) {
            Map.Entry entry = (Map.Entry) each.next();
            settings.put(entry.getKey(), ((JsonNode) entry.getValue()).asText());
        }
        return settings;
    }

    protected byte[] toBytes(Object converter, Schema schema, Object value) {
        if (converter instanceof Converter) {
            return ((Converter) converter).fromConnectData("topic", schema, value);
        }
        return ((HeaderConverter) converter).fromConnectHeader("topic", "header", schema, value);
    }

    protected SchemaAndValue toData(Object converter, byte[] raw) {
        if (converter instanceof Converter) {
            return ((Converter) converter).toConnectData("topic", raw);
        }
        return ((HeaderConverter) converter).toConnectHeader("topic", "header", raw);
    }

    protected void describe(ObjectNode result, Throwable error) {
        ArrayNode messages = result.putArray("error");
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            messages.add(cause.getMessage() == null ? cause.getClass().getName() : cause.getMessage());
        }
    }

    protected Schema schema(JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        Schema.Type type = Schema.Type.valueOf(node.get("type").asText());
        SchemaBuilder builder;
        if (type == Schema.Type.ARRAY) {
            builder = SchemaBuilder.array(schema(node.get("values")));
        } else if (type == Schema.Type.MAP) {
            builder = SchemaBuilder.map(schema(node.get("keys")), schema(node.get("values")));
        } else {
            builder = new SchemaBuilder(type);
        }
        if (node.get("optional").asBoolean()) {
            builder.optional();
        }
        if (node.hasNonNull("name")) {
            builder.name(node.get("name").asText());
        }
        if (node.hasNonNull("version")) {
            builder.version(Integer.valueOf(node.get("version").asInt()));
        }
        if (node.hasNonNull("doc")) {
            builder.doc(node.get("doc").asText());
        }
        for (Iterator each = node.get("parameters").iterator(); each.hasNext();) {
            JsonNode pair = (JsonNode) each.next();
            builder.parameter(item(pair, 0).asText(), item(pair, 1).asText());
        }
        for (Iterator each = node.get("fields").iterator(); each.hasNext();) {
            JsonNode pair = (JsonNode) each.next();
            builder.field(item(pair, 0).asText(), schema(item(pair, 1)));
        }
        if (node.hasNonNull("default")) {
            builder.defaultValue(value(builder.build(), node.get("default")));
        }
        return builder.build();
    }

    /** A value from its tagged description. */
    protected Object value(Schema schema, JsonNode node) {
        if (node.isNull()) {
            return null;
        }
        String tag = item(node, 0).asText();
        JsonNode body = item(node, 1);
        String text = body.asText();
        if (tag.equals("INT8")) {
            return Byte.valueOf(text);
        } else if (tag.equals("INT16")) {
            return Short.valueOf(text);
        } else if (tag.equals("INT32")) {
            return Integer.valueOf(text);
        } else if (tag.equals("INT64")) {
            return Long.valueOf(text);
        } else if (tag.equals("FLOAT32")) {
            return Float.valueOf(Float.intBitsToFloat(Integer.parseInt(text)));
        } else if (tag.equals("FLOAT64")) {
            return Double.valueOf(Double.longBitsToDouble(Long.parseLong(text)));
        } else if (tag.equals("BOOLEAN")) {
            return Boolean.valueOf(text);
        } else if (tag.equals("STRING")) {
            return text;
        } else if (tag.equals("BYTES")) {
            return unhex(text);
        } else if (tag.equals("DECIMAL")) {
            return new BigDecimal(new BigInteger(text), item(node, 2).asInt());
        } else if (tag.equals("DATE")) {
            return new java.util.Date(Long.parseLong(text));
        } else if (tag.equals("ARRAY")) {
            List items = new ArrayList();
            for (Iterator each = body.iterator(); each.hasNext();) {
                items.add(value(schema == null ? null : schema.valueSchema(), (JsonNode) each.next()));
            }
            return items;
        } else if (tag.equals("MAP")) {
            Map entries = newMap();
            for (Iterator each = body.iterator(); each.hasNext();) {
                JsonNode pair = (JsonNode) each.next();
                entries.put(
                    value(schema == null ? null : schema.keySchema(), item(pair, 0)),
                    value(schema == null ? null : schema.valueSchema(), item(pair, 1)));
            }
            return entries;
        }
        Struct struct = new Struct(schema);
        for (Iterator each = body.iterator(); each.hasNext();) {
            JsonNode pair = (JsonNode) each.next();
            String name = item(pair, 0).asText();
            if (!item(pair, 1).isNull()) {
                struct.put(name, value(schema.field(name).schema(), item(pair, 1)));
            }
        }
        return struct;
    }

    protected Map newMap() {
        return new LinkedHashMap();
    }

    protected JsonNode told(Schema schema) {
        if (schema == null) {
            return mapper.nullNode();
        }
        ObjectNode node = mapper.createObjectNode();
        node.put("type", schema.type().name());
        node.put("optional", schema.isOptional());
        node.put("name", schema.name());
        node.put("version", schema.version());
        node.put("doc", schema.doc());
        ArrayNode parameters = node.putArray("parameters");
        if (schema.parameters() != null) {
            for (Iterator each = schema.parameters().entrySet().iterator(); each.hasNext();) {
                Map.Entry entry = (Map.Entry) each.next();
                parameters.addArray().add((String) entry.getKey()).add((String) entry.getValue());
            }
        }
        node.set("default", told(schema.defaultValue()));
        ArrayNode fields = node.putArray("fields");
        if (schema.type() == Schema.Type.STRUCT) {
            for (Iterator each = schema.fields().iterator(); each.hasNext();) {
                Field field = (Field) each.next();
                fields.addArray().add(field.name()).add(told(field.schema()));
            }
        }
        boolean map = schema.type() == Schema.Type.MAP;
        boolean items = map || schema.type() == Schema.Type.ARRAY;
        node.set("keys", map ? told(schema.keySchema()) : mapper.nullNode());
        node.set("values", items ? told(schema.valueSchema()) : mapper.nullNode());
        return node;
    }

    protected JsonNode told(Object value) {
        ArrayNode node = mapper.createArrayNode();
        if (value == null) {
            return mapper.nullNode();
        } else if (value instanceof Byte) {
            return node.add("INT8").add(value.toString());
        } else if (value instanceof Short) {
            return node.add("INT16").add(value.toString());
        } else if (value instanceof Integer) {
            return node.add("INT32").add(value.toString());
        } else if (value instanceof Long) {
            return node.add("INT64").add(value.toString());
        } else if (value instanceof Float) {
            return node.add("FLOAT32").add("" + Float.floatToIntBits(((Float) value).floatValue()));
        } else if (value instanceof Double) {
            return node.add("FLOAT64").add("" + Double.doubleToLongBits(((Double) value).doubleValue()));
        } else if (value instanceof Boolean) {
            return node.add("BOOLEAN").add(value.toString());
        } else if (value instanceof String) {
            return node.add("STRING").add((String) value);
        } else if (value instanceof byte[]) {
            return node.add("BYTES").add(hex((byte[]) value));
        } else if (value instanceof BigDecimal) {
            BigDecimal decimal = (BigDecimal) value;
            return node.add("DECIMAL").add(decimal.unscaledValue().toString()).add(decimal.scale());
        } else if (value instanceof java.util.Date) {
            return node.add("DATE").add("" + ((java.util.Date) value).getTime());
        } else if (value instanceof List) {
            ArrayNode items = node.add("ARRAY").addArray();
            for (Iterator each = ((List) value).iterator(); each.hasNext();) {
                items.add(told(each.next()));
            }
        } else if (value instanceof Map) {
            ArrayNode entries = node.add("MAP").addArray();
            for (Iterator each = ((Map) value).entrySet().iterator(); each.hasNext();) {
                Map.Entry entry = (Map.Entry) each.next();
                entries.addArray().add(told(entry.getKey())).add(told(entry.getValue()));
            }
        } else {
            Struct struct = (Struct) value;
            ArrayNode members = node.add("STRUCT").addArray();
            for (Iterator each = struct.schema().fields().iterator(); each.hasNext();) {
                Field field = (Field) each.next();
                members.addArray().add(field.name()).add(told(struct.getWithoutDefault(field.name())));
            }
        }
        return node;
    }

    protected static JsonNode item(JsonNode node, int number) {
        return (JsonNode) node.get(number);
    }

    protected static String hex(byte[] raw) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < raw.length; at++) {
            text.append(Character.forDigit((raw[at] >> 4) & 15, 16));
            text.append(Character.forDigit(raw[at] & 15, 16));
        }
        return text.toString();
    }

    protected static byte[] unhex(String text) {
        byte[] raw = new byte[text.length() / 2];
        for (int at = 0; at < raw.length; at++) {
            raw[at] = (byte) Integer.parseInt(text.substring(2 * at, 2 * at + 2), 16);
        }
        return raw;
    }
}
