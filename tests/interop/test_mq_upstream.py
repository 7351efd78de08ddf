"""IBM's own tests of ibmmq, unmodified, on the unmodified wheel, our client library and the stand-in in a process of its own.

Run are those that concern the queue manager's get, put, properties, publish and subscribe, headers and connections. Not run are
`test_pcf` (commands, which the gateway does not use), `test_tls` (there is no TLS here), and those that reach no queue manager.
What they leave open: not one of them commits or backs out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.parts import ibmmq_source
from tests.parts.availability import available
from tests.standins.mq.library import client_folder
from tests.standins.mq.process import ServerProcess

RUN_SECS = 110.0
SUITES = (
    "test_base_api", "test_get_buffers", "test_message_property", "test_mq80", "test_pubsub", "test_queue_manager",
    "test_rfh2_put_get",
)  # fmt: skip
SKIPPED = {
    "test_begin", "test_commit", "test_backout",  # "Not implemented yet"
    "test_init_name", "test_connect", "test_connect_tcp_client_without_cred", "test_connect_tcp_client_with_none_credentials",
    "test_successful_connect_without_optional_credentials",  # for a queue manager that asks nobody for a password
}  # fmt: skip
"""By conditions of their own."""
DEFINED = re.compile(r"^    def (test_\w+)", re.MULTILINE)


@pytest.mark.slow
def test_ibms_own_tests(tmp_path: Path) -> None:
    source = available(ibmmq_source.fetch)
    options = ["--user", "admin:password", "--user", "app:password"]
    server = ServerProcess(tmp_path, ["DEV.QUEUE.1"], options)
    server.start()
    try:
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(available(client_folder) / "lib64"),
            "PY_IBMMQ_TEST_QM_PORT": str(server.port),
            "PY_IBMMQ_TEST_QM_NAME": "QM1",
            "PYTHONPATH": "",
        }
        report = tmp_path / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        command += ["-c", os.devnull, "--rootdir", str(source), f"--junit-xml={report}"]
        command += [str(source / f"{suite}.py") for suite in SUITES]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=RUN_SECS)
    finally:
        server.kill()
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    cases = list(ElementTree.parse(report).iter("testcase"))  # a file of our own making
    skipped = {case.attrib["name"] for case in cases if case.find("skipped") is not None}
    defined = [name for suite in SUITES for name in DEFINED.findall((source / f"{suite}.py").read_text("utf-8"))]
    assert skipped == SKIPPED
    assert sorted(case.attrib["name"] for case in cases) == sorted(defined)
    assert len(defined) - len(skipped) >= 60
