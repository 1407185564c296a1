"""What is kept of etcd's answers between two looks: the answer itself, an error as an answer, and what is removed."""

from __future__ import annotations

from datetime import datetime, timezone

from paddlejob.core import Answer, AskEtcd, Etcd, ForgetEtcd
from paddlejob.meeting import Meetings
from tests.etcd.server import EtcdServer

NOW = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)


async def test_an_answer_and_then_silence(etcd: EtcdServer) -> None:
    meetings = Meetings("10.0.0.9:2379", lambda: NOW)
    question = AskEtcd(etcd.address, "a-job", ("uid-1",))
    removal = ForgetEtcd(etcd.address, ("/paddle/a-job",), ("/a-job/",))
    assert meetings.known("job") == Etcd("10.0.0.9:2379")
    assert await meetings.do("job", question)
    assert meetings.known("job").answer == Answer("a-job", NOW, "", frozenset({"uid-1"}))
    etcd.put("/paddle/a-job", "completed")
    await meetings.do("job", question)
    assert meetings.known("job").answer == Answer("a-job", NOW, "completed", frozenset({"uid-1"}))
    assert await meetings.do("job", removal)
    assert (etcd.keys(), meetings.known("job").forgotten) == ({}, True)
    meetings.forget("job")
    etcd.stop()
    assert await meetings.do("job", question)
    answer = meetings.known("job").answer
    assert answer is not None
    assert (answer.value, answer.error.startswith(f"etcd at {etcd.address} cannot be reached")) == ("", True)
    assert not await meetings.do("job", removal)
    assert meetings.known("another") == Etcd("10.0.0.9:2379")
