"""The real transformations and predicates of Kafka Connect, run inside Spark's JVM."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from penstock.machine.jars import classpath

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Compiled by the Janino that Spark ships; texts in and texts out, so that py4j guesses no types.
_SOURCE: Final = """
import java.util.*;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.*;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

public class JavaSide {
    private final JsonConverter plain = converter("false");
    private final JsonConverter typed = converter("true");

    private static JsonConverter converter(String schemas) {
        Map config = new HashMap();
        config.put("schemas.enable", schemas);
        config.put("decimal.format", "NUMERIC");
        config.put("replace.null.with.default", "false");
        JsonConverter made = new JsonConverter();
        made.configure(config, false);
        return made;
    }

    private SchemaAndValue read(String json) {
        if (json == null) return SchemaAndValue.NULL;
        JsonConverter used = json.startsWith("{\\"schema\\":") ? typed : plain;
        return used.toConnectData("t", json.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    private String write(Schema schema, Object value) {
        if (value == null) return null;
        Object data = schema == null ? withoutDates(value) : value;
        byte[] bytes = (schema == null ? plain : typed).fromConnectData("t", schema, data);
        return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }

    // JsonConverter writes no Date that has no schema; this is how Spark shows a timestamp.
    private Object withoutDates(Object value) {
        if (value instanceof Map) {
            Map shown = new HashMap();
            for (Iterator all = ((Map) value).entrySet().iterator(); all.hasNext(); ) {
                Map.Entry each = (Map.Entry) all.next();
                shown.put(each.getKey(), withoutDates(each.getValue()));
            }
            return shown;
        }
        if (!(value instanceof java.util.Date)) return value;
        java.text.SimpleDateFormat format =
            new java.text.SimpleDateFormat("yyyy-MM-dd HH:mm:ss.SSS");
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        return format.format((java.util.Date) value).replaceAll("\\\\.?0*$", "") + "+00:00";
    }

    private ConnectRecord record(Map in) {
        SchemaAndValue key = read((String) in.get("key"));
        SchemaAndValue value = read((String) in.get("value"));
        String place = (String) in.get("partition");
        Integer partition = place == null ? null : Integer.valueOf(place);
        String time = (String) in.get("timestamp");
        Long timestamp = time == null ? null : Long.valueOf(time);
        String topic = (String) in.get("topic");
        ConnectHeaders headers = new ConnectHeaders();
        String[] names = in.get("headers") == null
            ? new String[0] : ((String) in.get("headers")).split(",");
        for (int i = 0; i < names.length; i++) headers.addString(names[i], "x");
        if (in.get("offset") == null)
            return new SourceRecord(null, null, topic, partition, key.schema(), key.value(),
                value.schema(), value.value(), timestamp, headers);
        return new SinkRecord(topic, partition.intValue(), key.schema(), key.value(),
            value.schema(), value.value(), Long.parseLong((String) in.get("offset")), timestamp,
            TimestampType.CREATE_TIME, headers);
    }

    private Object plugin(String name) throws Exception {
        Class found = Class.forName(name, true, getClass().getClassLoader());
        return found.getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
    }

    public Map transform(String name, Map config, Map in) throws Exception {
        Transformation made = (Transformation) plugin(name);
        made.configure(config);
        Map out = new HashMap();
        try {
            ConnectRecord record = made.apply(record(in));
            out.put("topic", record.topic());
            Integer partition = record.kafkaPartition();
            out.put("partition", partition == null ? null : partition.toString());
            out.put("key", write(record.keySchema(), record.key()));
            out.put("value", write(record.valueSchema(), record.value()));
        } catch (RuntimeException e) {
            out.put("error", e.getMessage());
        }
        return out;
    }

    public boolean test(String name, Map config, Map in) throws Exception {
        Predicate made = (Predicate) plugin(name);
        made.configure(config);
        return made.test(record(in));
    }

    public String text(String json) {
        return String.valueOf(read(json).value());
    }
}
"""


@dataclass(frozen=True, slots=True)
class JavaSide:
    """Kafka Connect's own classes behind one compiled object."""

    jvm: Any
    compiled: Any
    #: A map in one call, as text, where py4j makes a call for each of its entries.
    mapper: Any
    map_class: Any

    @classmethod
    def load(cls, spark: SparkSession) -> JavaSide:
        jvm: Any = spark.sparkContext._jvm
        gateway: Any = spark.sparkContext._gateway
        jars = classpath("connect")
        urls = gateway.new_array(jvm.java.net.URL, len(jars))
        for place, jar in enumerate(jars):
            urls[place] = jvm.java.io.File(str(jar)).toURI().toURL()
        platform = jvm.java.lang.ClassLoader.getPlatformClassLoader()
        loader = jvm.java.net.URLClassLoader(urls, platform)
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        compiler.cook(_SOURCE)
        found = compiler.getClassLoader().loadClass("JavaSide")
        nothing = gateway.new_array(jvm.java.lang.Class, 0)
        made = found.getDeclaredConstructor(nothing)
        compiled = made.newInstance(gateway.new_array(jvm.java.lang.Object, 0))
        mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        return cls(jvm, compiled, mapper, jvm.java.lang.Class.forName("java.util.HashMap"))

    def transform(
        self, name: str, config: Mapping[str, str], record: Mapping[str, str | None]
    ) -> dict[str, str | None]:
        answer = self.compiled.transform(name, self._map(config), self._map(record))
        found: dict[str, str | None] = json.loads(self.mapper.writeValueAsString(answer))
        return found

    def test(self, name: str, config: Mapping[str, str], record: Mapping[str, str | None]) -> bool:
        return bool(self.compiled.test(name, self._map(config), self._map(record)))

    def texts(self, documents: Sequence[str]) -> list[str]:
        """What String.valueOf() gives for the value of each JSON document."""
        return [str(self.compiled.text(document)) for document in documents]

    def _map(self, entries: Mapping[str, str | None]) -> Any:
        return self.mapper.readValue(json.dumps(dict(entries)), self.map_class)
