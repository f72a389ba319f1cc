"""Where Penstock's REST API differs from Kafka Connect's on purpose: the one table.

Each difference makes the two answers comparable again, and nothing else does. Running this module
prints docs/rest-differences.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.cluster.rest_cases import Case

Json = Any


@dataclass(frozen=True)
class Answer:
    """One answer, with the side's own addresses already replaced."""

    status: int
    headers: dict[str, str]
    body: Json

    @property
    def message(self) -> str:
        return str(self.body.get("message", "")) if isinstance(self.body, dict) else ""

    def with_message(self, text: str) -> Answer:
        return replace(self, body={**self.body, "message": text})


Pair = tuple[Answer, Answer]


@dataclass(frozen=True)
class Difference:
    """`apply` gets (theirs, ours) and returns them with this one difference taken away."""

    what: str
    why: str
    apply: Callable[[Case, Answer, Answer], Pair]


_IGNORED = ("date", "server", "content-length", "transfer-encoding", "connection", "cache-control")


def _transport(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case

    def kept(answer: Answer) -> Answer:
        headers = {name: text for name, text in answer.headers.items() if name not in _IGNORED}
        return replace(answer, headers=headers)

    return kept(theirs), kept(ours)


def _commit(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if case.path != "/" or not isinstance(ours.body, dict) or "commit" not in ours.body:
        return theirs, ours
    return theirs, replace(ours, body={**ours.body, "commit": theirs.body["commit"]})


_INTERNAL = re.compile(
    r"REDACTED|^Cannot (invoke|deserialize|construct)|^Unrecognized (token|field)|^Unexpected"
)


def _jackson(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    if theirs.status != 500 or not _INTERNAL.search(theirs.message) or not ours.message:
        return theirs, ours
    return theirs, ours.with_message(theirs.message)


def _html(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    if not str(theirs.body).startswith("<html>") or ours.body.get("error_code") != theirs.status:
        return theirs, ours
    assert ours.headers["content-type"] == "application/json"
    return theirs, replace(ours, headers=theirs.headers, body=theirs.body)


_ESCAPED = re.compile("%2F|%5C|/%2E%2E$")


def _escaped_names(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if not _ESCAPED.search(case.path) or (theirs.status, ours.status) != (400, 404):
        return theirs, ours
    assert re.fullmatch("Connector .* not found", ours.message)
    return theirs, theirs


_CLASS_NAMES = re.compile(r"^(org\.apache\.[\w.$]+Exception: )+")


def _exception_names(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    if not theirs.message:
        return theirs, ours
    return theirs.with_message(_CLASS_NAMES.sub("", theirs.message)), ours


def _plugin_place(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    if "PluginDesc" not in theirs.message:
        return theirs, ours
    place = re.compile(r", location='[^']*'")
    one, other = place.sub("", theirs.message), place.sub("", ours.message)
    return theirs.with_message(one), ours.with_message(other)


_SHOWN_CONFIG = re.compile(r"^(Connector config \{)(.*)(\} contains no connector type)$")


def _shown_config(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case

    def ordered(answer: Answer) -> Answer:
        found = _SHOWN_CONFIG.match(answer.message)
        if found is None:
            return answer
        parts = ", ".join(sorted(found[2].split(", ")))
        return answer.with_message(f"{found[1]}{parts}{found[3]}")

    return ordered(theirs), ordered(ours)


def _rename(case: Case, theirs: Answer, ours: Answer) -> Pair:
    renames = case.method == "PATCH" and case.body == '{"name": "other"}'
    if not renames or (theirs.status, ours.status) != (200, 400):
        return theirs, ours
    assert "doesn't match connector name in the URL" in ours.message
    return theirs, theirs


def _negative_offset(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    refused = "need to be integers of at least 0" in (ours.message or "")
    if not refused or (theirs.status, ours.status) != (500, 400):
        return theirs, ours
    return theirs, theirs


def _documentation(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if not case.path.startswith("/connector-plugins"):
        return theirs, ours
    return replace(theirs, body=_without_words(theirs.body)), replace(
        ours, body=_without_words(ours.body)
    )


def _without_words(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_words(item) for item in value]
    if isinstance(value, dict):
        return {
            name: _without_words(item) for name, item in value.items() if name != "documentation"
        }
    return value


def _other_plugins(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if case.path.startswith("/connector-plugins") and isinstance(ours.body, list):
        more = [entry for entry in ours.body if "class" in entry and _is_own(entry["class"])]
        shown = [plugin for plugin in ours.body if plugin not in more]
        known = [plugin for plugin in theirs.body if plugin in shown]
        complete = "connectorsOnly=false" not in case.path
        return replace(theirs, body=theirs.body if complete else known), replace(ours, body=shown)
    if "/validate" in case.path and isinstance(ours.body, dict) and "configs" in ours.body:
        return replace(theirs, body=_common(theirs.body, ours.body)), replace(
            ours, body=_common(ours.body, theirs.body)
        )
    if isinstance(ours.body, dict) and "message" in ours.body:
        message = _OWN_IN_A_LIST.sub("", ours.body["message"])
        return theirs, replace(ours, body={**ours.body, "message": message})
    return theirs, ours


_OWN_IN_A_LIST = re.compile(r"PluginDesc\{klass=class io\.(?:aiven|confluent)\.[^}]*\}, ")


def _is_own(name: str) -> bool:
    """Whether it is a plugin that Kafka does not ship."""
    return not name.startswith("org.apache.kafka.")


def _common(answer: Json, other: Json) -> Json:
    """The answer with those recommended values that the other has too."""
    shown = {
        entry["value"]["name"]: entry["value"]["recommended_values"]
        for entry in other["configs"]
        if entry["value"] is not None
    }

    def kept(entry: Json) -> Json:
        value = entry["value"]
        if value is None:
            return entry
        known = [
            text for text in value["recommended_values"] if text in shown.get(value["name"], ())
        ]
        return {**entry, "value": {**value, "recommended_values": known}}

    return {**answer, "configs": [kept(entry) for entry in answer["configs"]]}


def _loggers(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if not case.path.startswith("/admin/loggers") or case.method != "GET":
        return theirs, ours
    if theirs.status != 200 or ours.status != 200:
        return theirs, ours
    return replace(theirs, body=_stamped(theirs.body)), replace(ours, body=_stamped(ours.body))


def _stamped(body: Json) -> Json:
    if "level" not in body:
        assert set(body["root"]) == {"level", "last_modified"}
        return sorted({tuple(entry) for entry in body.values()})
    assert body["last_modified"] is None or body["last_modified"] > 1_600_000_000_000
    return {**body, "last_modified": body["last_modified"] is not None}


def _traces(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    return replace(theirs, body=_without_traces(theirs.body)), replace(
        ours, body=_without_traces(ours.body)
    )


def _without_traces(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_traces(item) for item in value]
    if isinstance(value, dict):
        return {
            name: "…" if name == "trace" and item else _without_traces(item)
            for name, item in value.items()
        }
    return value


def _more_of_a_state(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    return theirs, replace(ours, body=_without_more(ours.body))


def _without_more(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_more(item) for item in value]
    if isinstance(value, dict):
        more = {"notes", "figures"} if "worker_id" in value else set()
        return {name: _without_more(item) for name, item in value.items() if name not in more}
    return value


def _location(case: Case, theirs: Answer, ours: Answer) -> Pair:
    del case
    if ";" not in theirs.headers.get("location", ""):
        return theirs, ours
    location = ours.headers["location"].replace("%3B", ";")
    return theirs, replace(ours, headers={**ours.headers, "location": location})


def _newer_keys(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if not case.path.endswith(("JsonConverter/config", "InsertField$Value/config")):
        return theirs, ours
    newer = ("schema.content", "field.syntax.version")
    known = [key for key in ours.body if key["name"] not in newer]
    assert len(known) == len(ours.body) - 1
    return theirs, replace(ours, body=known)


def _chunk_bytes(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if not case.path.startswith("/connector-plugins/"):
        return theirs, ours
    if isinstance(ours.body, list):
        return theirs, replace(ours, body=[key for key in ours.body if not _is_chunk_bytes(key)])
    if not isinstance(ours.body, dict) or "configs" not in ours.body:
        return theirs, ours
    known = [entry for entry in ours.body["configs"] if not _is_chunk_bytes(entry["value"])]
    return theirs, replace(ours, body={**ours.body, "configs": known})


def _is_chunk_bytes(key: Json) -> bool:
    return isinstance(key, dict) and key.get("name") == "chunk.bytes"


def _logger_methods(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if (case.method, case.path) != ("OPTIONS", "/admin/loggers/x"):
        return theirs, ours
    # Once as text, once as a header.
    headers = {**ours.headers, "allow": ours.headers["allow"].replace("DELETE,", "")}
    return theirs, replace(ours, headers=headers, body=ours.body.replace("DELETE, ", ""))


def _name_lists(case: Case, theirs: Answer, ours: Answer) -> Pair:
    if case.path.rstrip("/") != "/connectors" or not isinstance(theirs.body, list):
        return theirs, ours
    return replace(theirs, body=sorted(theirs.body)), replace(ours, body=sorted(ours.body))


DIFFERENCES = (
    Difference(
        "`Server` names Penstock; long answers have a `Content-Length` instead of chunks.",
        "It is another server. Clients read neither.",
        _transport,
    ),
    Difference(
        "`commit` in `GET /` names the Penstock build.",
        "`version` stays Kafka's, because clients switch features on by it; there is no such "
        "commit of Kafka's to name.",
        _commit,
    ),
    Difference(
        "The text of a 500 for a body that can't be read says in plain words what is wrong.",
        "Kafka Connect repeats messages of its JSON library and of the Java runtime, which name "
        "Java classes. The status is the same.",
        _jackson,
    ),
    Difference(
        "A path or header that the server itself refuses with 400 gets the usual JSON body.",
        "Kafka Connect answers with an HTML page of its web server there.",
        _html,
    ),
    Difference(
        "Connectors with a slash, a backslash or dots alone for a name can be asked for (`a%2Fb`, "
        "`a%5Cb`, `%2E%2E`).",
        "Kafka Connect creates them, and then refuses every path to them (400).",
        _escaped_names,
    ),
    Difference(
        "Texts do not begin with names of Java exceptions.",
        "They appear or not depending on which thread found the error, and say nothing.",
        _exception_names,
    ),
    Difference(
        "The list of available connectors in an error has another `location`.",
        "Plugins are Python modules, not jars in a folder.",
        _plugin_place,
    ),
    Difference(
        "`Connector config {…} contains no connector type` may list the keys in another order, "
        "hides passwords and does not resolve `${…}`.",
        "The order is that of a Java hash map; resolved secrets must not appear in answers.",
        _shown_config,
    ),
    Difference(
        "`PATCH` of a config refuses to change `name` (400).",
        "Kafka Connect stores the other name, and the connector then works under two names.",
        _rename,
    ),
    Difference(
        "A negative offset, or partition, for a sink is refused with 400 and the reason.",
        "Kafka Connect answers 500.",
        _negative_offset,
    ),
    Difference(
        "`documentation` of keys is in our own words.",
        "It is text for people.",
        _documentation,
    ),
    Difference(
        "Lists of plugins and recommended classes differ.",
        "Penstock comes with JDBC connectors, registry converters and Sql, and without the"
        " connectors that copy clusters.",
        _other_plugins,
    ),
    Difference(
        "JsonConverter has one key more, `schema.content`. So have transformations that name "
        "fields: `field.syntax.version`.",
        "The first is Kafka 4.2's, the second a key of ExtractField that Kafka is giving to the "
        "others one by one.",
        _newer_keys,
    ),
    Difference(
        "FileStreamSource has one key more, `chunk.bytes`.",
        "It says how much is read in one go.",
        _chunk_bytes,
    ),
    Difference(
        "A semicolon in a connector's name is escaped in `Location`.",
        "Otherwise the link leads to another connector.",
        _location,
    ),
    Difference(
        "Loggers are Python's, so their names differ; `last_modified` is another moment.",
        "The levels and the rules for changing them are the same.",
        _loggers,
    ),
    Difference(
        "`DELETE /admin/loggers/{name}` takes back what was set for a logger and all below it. "
        "Loggers of libraries that have a level of their own keep it unless they are named.",
        "A level for `root` that is set and set back leaves nothing behind. "
        "(tests/unit/worker/herder/test_loggers.py)",
        _logger_methods,
    ),
    Difference(
        "`trace` begins with the reason in one line and a line that says what to do; then comes a"
        " Python traceback.",
        "It is where the error was raised. (tests/unit/kernel/test_logs.py)",
        _traces,
    ),
    Difference(
        "The status of a connector may have `notes`: keys of its config that no plugin declares,"
        " with the one that was probably meant. That of a task may have `figures`. What runs may"
        " have a `trace`: why a connector has no task, what a task waits for.",
        "Such keys are accepted, as in Kafka Connect; most are typing errors. Figures are what a"
        " user should know of but need not fix, such as numbers that a JDBC source skipped;"
        " `starting` is there until the first poll or batch of a task that runs has ended."
        " (tests/unit/cli/connectors/test_unknown.py, tests/unit/worker/herder/test_life_cycle.py)",
        _more_of_a_state,
    ),
    Difference(
        "Names in `GET /connectors` are sorted.",
        "Kafka Connect's order is that of a Java hash map.",
        _name_lists,
    ),
)
#: Those that no request of the comparison can show, each with the test that does.
UNCOMPARED = (
    (
        "Values of password-typed keys come back as `[hidden]`, in configs, task configs and "
        "errors; so do those of keys that no plugin declares and that sound like a secret "
        "(`transforms.x.api.secret`), in configs and task configs, and passwords inside of "
        "addresses (`jdbc:mysql://me:[hidden]@db`), there and in validations. References such as "
        "`${file:…}` are shown, also with text around them that can't be a secret: `$${env:X}`, "
        "`user:${env:X}`, a login module all of whose passwords are references. "
        "`penstock.secrets.shown` in the worker's properties makes answers as plain as Kafka "
        "Connect's, for all (`always`) or for requests with a token (`with-token`); clients that "
        "compare what they read with what they wrote need it (see [operations.md]"
        "(operations.md#clients-that-compare)).",
        "Kafka Connect shows them in clear to everybody who may ask. "
        "(tests/unit/worker/herder/test_requests.py, tests/unit/worker/rest/test_api.py)",
    ),
    (
        "A hidden value that is sent back, or that a `PATCH` leaves out, keeps the stored secret, "
        "unless the same request changes where that goes (address, user, driver, class, TLS "
        "settings of the same connector, converter or client): then it is refused (400) until the "
        "secret itself is sent.",
        "Else who may write configs could have secrets sent to himself. "
        "(tests/unit/worker/herder/test_secrets.py)",
    ),
    (
        "A reference to `env`, `file` or `directory`, or to what people call providers of secrets "
        "(`vault`, `aws`, `azure`, `secrets` and the like), in a config is an error of its key "
        "(400) if the worker has no config provider of that name.",
        "Kafka Connect hands the reference itself to the database. "
        "(tests/unit/worker/herder/test_validation.py)",
    ),
    (
        "`null` as the value of one of a connector's own keys is an error of that key, as it is "
        "for all other keys; so is `[hidden]` where nothing is stored.",
        "Kafka Connect stores it, and the connector fails later. "
        "(tests/unit/worker/herder/test_same_refusals.py)",
    ),
    (
        "A number of more than 1,000 characters, and half of a surrogate pair (`\\ud800`), in a "
        "body are a 400 with the reason.",
        "Kafka Connect answers 500, or stores what no client can read. "
        "(tests/unit/worker/rest/test_wire.py)",
    ),
    (
        "Requests have limits: a body of 10 MiB (413), 10 s for the header and 30 s for the body "
        "(408), 500 connections (503); a header of 16 KiB (431). A request with both "
        "`Content-Length` and `Transfer-Encoding`, or with a line that ends without a carriage "
        "return, is refused (400).",
        "So that no client can keep the worker from the others. All but the last two have a "
        "property of the worker. (tests/unit/worker/rest/test_limits.py)",
    ),
    (
        "`GET /health` answers 503 at once while the worker starts.",
        "Kafka Connect waits up to 10 s first, longer than most probes do. "
        "(tests/unit/worker/rest/test_api.py)",
    ),
    (
        "Replacing a config by the same config does not restart a connector unless it has failed.",
        "Nothing was changed, so nothing is disturbed. "
        "(tests/unit/worker/herder/test_life_cycle.py)",
    ),
    (
        "A standalone worker answers as a distributed one does: 404 for what does not exist, "
        "`tasks` filled in shortly after creation.",
        "Standalone Kafka Connect answers 500 with texts of the Java runtime to several of these.",
    ),
    (
        "A connector with a percent sign in its name can be asked for (`%25`).",
        "Kafka Connect creates it, and then refuses every path to it. "
        "(tests/unit/worker/rest/test_api.py)",
    ),
    (
        "A path with a control character (`%01`) is answered like any other.",
        "Kafka Connect's web server refuses it with 400 and no body. "
        "(tests/kafka/worker/test_generated_requests.py)",
    ),
    (
        "Restarting a task of a stopped connector is a 404.",
        "Kafka Connect answers 409 or 404, depending on how far the stop has come.",
    ),
    (
        "A JDBC config is also compared with its database when it is validated, created or changed:"
        " login, tables of `table.whitelist`, columns and types of the mode, the query; of a sink "
        "its tables unless it may make them, columns of `pk.fields`, the right to write. A source "
        "whose database is away is refused; a sink waits for it. What is not known after eight "
        "seconds is not waited for, and no error. A config that is stored is not looked at again.",
        "Kafka Connect's JDBC source does a part of this too; a connector that says RUNNING and"
        " fails a second later helps nobody. (tests/spark/connectors/jdbc/test_examination.py)",
    ),
    (
        "`POST /connector-plugins/{plugin}/preview` is there.",
        "It shows what transforms make of records. (tests/cluster/test_preview.py)",
    ),
    (
        "The error of a config whose class is in a plugin that can't be loaded says why.",
        "Otherwise only the log would know. (tests/cluster/test_plugin_path.py)",
    ),
    (
        "`GET /penstock/broken-plugins` lists plugins that can't be loaded, each with `name`, "
        "`path` and `error`.",
        "A path of our own. (tests/cluster/test_plugin_path.py)",
    ),
    (
        "`GET /penstock/connectors/{c}/logs` answers the last lines that a connector has logged on "
        "this worker.",
        "For `penstock logs`. (tests/unit/cli/connectors/test_logs.py)",
    ),
    (
        "`POST /penstock/secrets/compare` answers of digests, made with the salt of "
        "`GET /penstock/secrets/salt`, whether they are those of hidden values; not of more than "
        "five wrong ones of a value in an hour.",
        "So that `penstock plan` sees a changed password. "
        "(tests/unit/tools/manager/test_applying.py)",
    ),
    (
        "`POST /penstock/connectors/{c}/copy` makes a connector with the config of another one, "
        "secrets included.",
        "For `penstock create NEW --like OLD`. (tests/unit/worker/rest/test_api.py)",
    ),
    (
        "A source whose config has one of the keys `errors.deadletterqueue.*` gets all three of "
        "them listed and checked.",
        "Sources have dead letters here. (tests/unit/worker/herder/test_validation.py)",
    ),
    (
        "`POST /connectors/{c}/tasks` and `PUT /connectors/{c}/fence` are always refused.",
        "They are for other workers of a group, of which there are none yet.",
    ),
)


def page() -> str:
    """docs/rest-differences.md."""
    rows = [(found.what, found.why) for found in DIFFERENCES] + list(UNCOMPARED)
    lines = [
        "# Differences from Kafka Connect's REST API",
        "",
        "Status codes, bodies, error texts and headers are those of Apache Kafka Connect 4.1.1, "
        "except for these. `tests/cluster/test_rest_differential.py` sends the same requests to "
        "both and allows nothing else.",
        "",
        "`tests/cluster/test_clients.py` lets these clients of other people do all they can do, "
        "unchanged: kafka-connect-py, kafka-connect-api, kafkaconnect, kafka-connect-cli, "
        "kafka-connect-healthcheck (Python), go-kafka-connect and go-kafka/connect (Go).",
        "",
        "| Difference | Reason |",
        "| --- | --- |",
        *(f"| {what} | {why} |" for what, why in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
