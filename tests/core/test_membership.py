"""What pods carry so that their scheduler knows their gang."""

from __future__ import annotations

from typing import Any

from paddlejob.api import Job, SchedulingPolicy
from paddlejob.api import names as n
from paddlejob.core import Scheduling
from paddlejob.core.actions import Body
from paddlejob.core.gang import gang_of, kueue_group
from paddlejob.core.observe import Slot
from paddlejob.core.pods import pod
from tests.builders import JobBuilder, a_ps_job, a_template

RICH = a_ps_job().asking(scheduling_policy=SchedulingPolicy(priority_class="high", queue="gold"))


def server_of(job: JobBuilder, **scheduling: Any) -> tuple[Job, Body]:
    made = job.build()
    return made, pod(made, Slot("ps", 0, "train-ps-0"), gang_of(made, Scheduling(**scheduling)))


def test_every_pod_has_the_scheduler_that_the_template_of_the_workers_names() -> None:
    _, server = server_of(a_ps_job().with_workers(2, a_template({"schedulerName": "volcano"})))
    assert server["spec"]["schedulerName"] == "volcano"
    assert server["metadata"]["annotations"][n.ANNOTATION_GROUP] == "train"


def test_what_another_role_names_for_itself_stays() -> None:
    job = a_ps_job().with_workers(2, a_template({"schedulerName": "volcano"}))
    _, server = server_of(job.with_servers(1, a_template({"schedulerName": "default-scheduler"})))
    assert server["spec"]["schedulerName"] == "default-scheduler"
    assert n.ANNOTATION_GROUP not in server["metadata"]["annotations"]


def test_under_volcano_the_priority_is_that_of_the_group() -> None:
    _, server = server_of(RICH)
    assert (server["spec"]["schedulerName"], server["spec"].get("priorityClassName")) == ("volcano", None)


def test_under_coscheduling_a_label_names_the_group_and_pods_have_the_priority() -> None:
    _, server = server_of(RICH, by="coscheduling")
    assert server["metadata"]["labels"][n.LABEL_GROUP] == "train"
    spec = server["spec"]
    assert (spec["schedulerName"], spec["priorityClassName"]) == ("scheduler-plugins-scheduler", "high")


def test_under_kubernetes_a_field_names_the_group_and_the_scheduler_is_the_clusters() -> None:
    _, server = server_of(a_ps_job(), by="kubernetes")
    assert server["spec"]["schedulingGroup"] == {"podGroupName": "train"}
    assert "schedulerName" not in server["spec"]
    assert "priorityClassName" not in server["spec"]


def test_what_a_template_says_wins() -> None:
    own = a_template({"priorityClassName": "own", "schedulerName": "own"})
    _, server = server_of(RICH.template(own), by="coscheduling")
    assert (server["spec"]["schedulerName"], server["spec"]["priorityClassName"]) == ("own", "own")


def test_under_kueue_all_pods_are_one_group_that_is_not_mended() -> None:
    topology = f"{n.KUEUE_POD_SET}required-topology"
    labels = {n.LABEL_QUEUE: "gold", n.LABEL_KUEUE_PRIORITY: "high", "team": "vision"}
    job, server = server_of(RICH.labelled(labels).annotated({topology: "rack", "note": "mine"}))
    found, notes = server["metadata"]["labels"], server["metadata"]["annotations"]
    assert {key: found[key] for key in found if key.startswith(n.KUEUE)} == {
        n.LABEL_QUEUE: "gold",
        n.LABEL_KUEUE_PRIORITY: "high",
        n.LABEL_KUEUE_GROUP: kueue_group(job),
    }
    assert {key: notes[key] for key in notes if key.startswith(n.KUEUE)} == {
        topology: "rack",
        f"{n.KUEUE}/pod-group-total-count": "4",
        f"{n.KUEUE}/retriable-in-group": "false",
        f"{n.KUEUE}/role-hash": "ps",
    }
    assert "team" not in found
    assert "note" not in notes
    assert server["spec"]["priorityClassName"] == "high"


def test_without_a_gang_a_pod_is_as_it_was() -> None:
    _, server = server_of(a_ps_job())
    assert not [key for key in server["metadata"]["annotations"] if "scheduling" in key]
    assert "schedulerName" not in server["spec"]
