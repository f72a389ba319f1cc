"""Whatever there is and whatever is wanted: once a plan is carried out, nothing is left to do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.manager import (
    MARKER,
    Action,
    Cluster,
    Connector,
    Connectors,
    Plan,
    Running,
    Wanted,
    compare,
)

NAMES = st.sampled_from("abcdef")
CONFIGS = st.dictionaries(
    st.sampled_from(["connector.class", "topics", "file", "connection.password"]),
    st.sampled_from(["x", "y", "${env:Z}", ""]),
)
STATES = st.sampled_from(["RUNNING", "PAUSED", "STOPPED", "FAILED", "UNASSIGNED"])
OWNERS = st.sampled_from([{}, {MARKER: "ours"}, {MARKER: "theirs"}])


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    names = draw(st.sets(NAMES))
    return Cluster(
        {
            name: Running(name, {**draw(CONFIGS), **draw(OWNERS), "name": name}, draw(STATES))
            for name in sorted(names)
        }
    )


@st.composite
def wishes(draw: st.DrawFn) -> Connectors:
    states = st.none() | st.sampled_from(list(Wanted))
    names = sorted(draw(st.sets(NAMES)))
    return Connectors(Connector(name, draw(CONFIGS), draw(states)) for name in names)


def carried_out(plan: Plan, cluster: Cluster) -> Cluster:
    """What a cluster has afterwards."""
    found = dict(cluster.connectors)
    for change in plan.pending:
        if change.action is Action.DELETE:
            del found[change.name]
            continue
        before = found.get(change.name)
        state = change.state or (before.state if before else Wanted.RUNNING)
        config = before.config if before else {}
        if change.action in (Action.CREATE, Action.UPDATE):
            config = {**change.config, "name": change.name}
        found[change.name] = Running(change.name, config, state.upper())
    return Cluster(found)


@given(wishes(), clusters())
def test_a_plan_leaves_nothing_to_do(wanted: Connectors, cluster: Cluster) -> None:
    plan = compare(wanted, cluster, project="ours", prune=True, adopt=True)
    after = carried_out(plan, cluster)
    again = compare(wanted, after, project="ours", prune=True, adopt=True)
    assert again.pending == []
    for connector in wanted.values():
        assert after.connectors[connector.name].own_config == connector.config
        assert after.connectors[connector.name].project == "ours"
    left = [each for each in after.connectors.values() if each.name not in wanted]
    assert all(each.project != "ours" for each in left)
    assert left == [
        each
        for each in cluster.connectors.values()
        if each.name not in wanted and each.project != "ours"
    ]
