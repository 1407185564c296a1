"""What the page's server holds: no more than what is looked at, however slowly, and nothing afterwards."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.cli.kubelet import Kubelet
from tests.cli.person import Person
from tests.cluster.waiting import TIMEOUT, wait_until
from tests.operator.process import OperatorProcess
from tests.scenarios.desk import Desk, a_job, a_role
from tests.ui.conftest import Visit
from tests.ui.served import Served, serving

# More than all that lies between a pod and a browser keeps.
LINES = 16_000
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def resident(served: Served) -> float:
    """MB."""
    return int(Path(f"/proc/{served.pid}/statm").read_text().split()[1]) * PAGE_SIZE / 1e6


def files(served: Served) -> int:
    return sum(1 for _ in Path(f"/proc/{served.pid}/fd").iterdir())


@contextmanager
def stream(served: Served, cookie: str, path: str) -> Iterator[socket.socket]:
    """Of which only the beginning is read."""
    host, _, port = served.host.rpartition(":")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((host, int(port)))
        connection.settimeout(TIMEOUT)
        connection.sendall(
            f"GET {served.path(path)} HTTP/1.1\r\nHost: {served.host}\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        assert b"200 OK" in connection.recv(64)
        yield connection


def test_who_reads_slowly_slows_down_the_reading(
    desk: Desk, person: Person, kubelet: Kubelet, operator: OperatorProcess, tmp_path: Path
) -> None:
    assert operator.exit_code is None
    role = a_role(1)
    role["template"]["spec"]["nodeSelector"] = {"test.paddlejob/talks": "true"}
    desk.submit(a_job("talk", worker=role))
    desk.in_phase("talk", "Running")
    kubelet.says(
        f"{desk.namespace}/talk-worker-0", *["a line of a log that is rather long, " * 190] * LINES, "the last"
    )
    with serving(person.env, tmp_path) as served:
        cookie = served.cookie()
        path = f"~/api/logs?place=cluster&namespace={desk.namespace}&name=talk"
        with stream(served, cookie, path), stream(served, cookie, path) as quick:
            before = resident(served)
            end = b""
            while b"the last" not in end:  # nothing is lost on the way
                end = end[-16:] + quick.recv(1 << 20)
            assert resident(served) < before + 60
        assert sorted(kubelet.told)[-1] == LINES + 1
        assert sorted(kubelet.told)[0] < LINES / 2


def test_a_stream_that_nobody_reads_any_more_leaves_nothing(
    desk: Desk, person: Person, operator: OperatorProcess, tmp_path: Path
) -> None:
    assert operator.exit_code is None
    desk.submit(a_job("train"))
    desk.in_phase("train", "Running")
    with serving(person.env, tmp_path) as served:
        cookie = served.cookie()
        where = f"place=cluster&namespace={desk.namespace}&name=train"
        with stream(served, cookie, "~/api/jobs"), stream(served, cookie, f"~/api/job?{where}"):
            pass
        wait_until(lambda: files(served) > 0)
        before = files(served)
        for _ in range(3):
            with ExitStack() as stack:
                for path in ("~/api/jobs", f"~/api/job?{where}", f"~/api/logs?{where}") * 5:
                    stack.enter_context(stream(served, cookie, path))
                assert files(served) >= before + 15
            # A pool of connections to the API server may keep some for a while.
            wait_until(lambda: files(served) <= before + 5)


def test_hidden_pages_hold_no_connection(served: Served, visit: Visit) -> None:
    """Browsers open six connections to a server at most: if seven pages held one each, the last would see nothing."""
    first = visit(served.address)
    pages = [first.page, *(first.page.context.new_page() for _ in range(6))]
    for page in pages:
        page.goto(f"http://{served.host}{served.path('~/')}")
        page.get_by_role("link", name="hello", exact=True).wait_for()
        page.evaluate(HIDE, True)
    last = first.page.context.new_page()
    last.goto(f"http://{served.host}{served.path('~/')}")
    last.get_by_role("link", name="hello", exact=True).wait_for()
    with pages[0].expect_request("**/api/jobs"):
        pages[0].evaluate(HIDE, False)
