import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Runs the real transformations over many records of many trials in one call. */
public class TransformBridge extends Bridge {
    private final List stages = new ArrayList();
    private Schema keySchema;
    private Schema valueSchema;
    private Object converter;

    /** The headers that a record came with, and their bytes. */
    private final Map known = new IdentityHashMap();

    /** For each trial {"refused": message} or {"results": [...]}, one result for each record. */
    public String run(String trials) throws Exception {
        ArrayNode answers = mapper.createArrayNode();
        for (Iterator each = mapper.readTree(trials).iterator(); each.hasNext();) {
            run((JsonNode) each.next(), answers.addObject());
        }
        return mapper.writeValueAsString(answers);
    }

    private void run(JsonNode trial, ObjectNode answer) throws Exception {
        stages.clear();
        try {
            for (Iterator each = trial.get("stages").iterator(); each.hasNext();) {
                stages.add(stage((JsonNode) each.next()));
            }
        } catch (Throwable error) {
            answer.put("refused", error.getMessage());
            return;
        }
        keySchema = schema(trial.get("key_schema"));
        valueSchema = schema(trial.get("value_schema"));
        converter = converter(
            trial.get("header_converter").asText(), trial.get("header_config").toString());
        ArrayNode results = answer.putArray("results");
        for (Iterator each = trial.get("records").iterator(); each.hasNext();) {
            transform((JsonNode) each.next(), results.addObject());
        }
    }

    private void transform(JsonNode told, ObjectNode result) {
        known.clear();
        ConnectRecord record;
        try {
            record = record(told);
        } catch (Throwable error) {
            // Java's own classes allow no such data.
            result.put("impossible", error.getMessage());
            return;
        }
        try {
            for (Iterator each = stages.iterator(); each.hasNext() && record != null;) {
                record = ((Stage) each.next()).apply(record);
            }
            tell(result, record);
        } catch (Throwable error) {
            result.removeAll();
            result.put("error", error.getMessage());
            result.put("class", error.getClass().getName());
        }
    }

    /** Error texts name the class of a map; converters make this one. */
    protected Map newMap() {
        return new HashMap();
    }

    private Stage stage(JsonNode told) throws Exception {
        Stage stage = new Stage();
        stage.transformation = (Transformation) plugin(told.get("class"));
        stage.transformation.configure(settings(told.get("config")));
        stage.negate = told.get("negate").asBoolean();
        if (told.hasNonNull("predicate")) {
            stage.predicate = (Predicate) plugin(told.get("predicate"));
            stage.predicate.configure(settings(told.get("predicate_config")));
        }
        return stage;
    }

    /** A transformation and the predicate that guards it. */
    static class Stage {
        Transformation transformation;
        Predicate predicate;
        boolean negate;

        ConnectRecord apply(ConnectRecord record) {
            boolean taken = predicate == null || predicate.test(record) != negate;
            return taken ? transformation.apply(record) : record;
        }
    }

    private Object plugin(JsonNode name) throws Exception {
        return getClass().getClassLoader().loadClass(name.asText()).newInstance();
    }

    private ConnectRecord record(JsonNode told) {
        Object key = value(keySchema, told.get("key"));
        Object value = value(valueSchema, told.get("value"));
        String topic = told.get("topic").asText();
        Integer partition = told.hasNonNull("partition")
            ? Integer.valueOf(told.get("partition").asInt()) : null;
        Long timestamp = told.hasNonNull("timestamp")
            ? Long.valueOf(told.get("timestamp").asLong()) : null;
        ConnectHeaders headers = headers(told.get("headers"));
        if (!told.hasNonNull("offset")) {
            return new SourceRecord(null, null, topic, partition, keySchema, key, valueSchema, value,
                timestamp, headers);
        }
        // What converters make of null has no schema.
        return new SinkRecord(topic, partition.intValue(), key == null ? null : keySchema, key,
            value == null ? null : valueSchema, value, told.get("offset").asLong(), timestamp,
            TimestampType.CREATE_TIME, headers);
    }

    private ConnectHeaders headers(JsonNode told) {
        ConnectHeaders headers = new ConnectHeaders();
        for (Iterator each = told.iterator(); each.hasNext();) {
            JsonNode pair = (JsonNode) each.next();
            JsonNode raw = item(pair, 1);
            SchemaAndValue data = toData(converter, raw.isNull() ? null : unhex(raw.asText()));
            headers.add(item(pair, 0).asText(), data);
            known.put(headers.lastWithName(item(pair, 0).asText()), raw);
        }
        return headers;
    }

    private void tell(ObjectNode result, ConnectRecord record) {
        result.put("dropped", record == null);
        if (record == null) {
            return;
        }
        result.put("topic", record.topic());
        result.put("partition", record.kafkaPartition());
        result.put("timestamp", record.timestamp());
        result.set("key_schema", told(record.keySchema()));
        result.set("key", told(record.key()));
        result.set("value_schema", told(record.valueSchema()));
        result.set("value", told(record.value()));
        ArrayNode headers = result.putArray("headers");
        for (Iterator each = record.headers().iterator(); each.hasNext();) {
            Header header = (Header) each.next();
            ArrayNode pair = headers.addArray().add(header.key());
            if (known.containsKey(header)) {
                pair.add((JsonNode) known.get(header));
            } else {
                byte[] raw = toBytes(converter, header.schema(), header.value());
                pair.add(raw == null ? null : hex(raw));
            }
        }
    }
}
