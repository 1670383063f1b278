"""A Jupyter kernel for tests: it executes cells as a notebook does."""

import re
import time

import pytest

client = pytest.importorskip("jupyter_client", reason="it is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

_COLORS = re.compile(r"\x1b\[[\d;]*m")


class Reply:
    """What a cell has shown."""

    def __init__(self, status, seconds, messages):
        self.status = status
        self.seconds = seconds
        self.stdout = self._stream(messages, "stdout")
        self.stderr = _COLORS.sub("", self._stream(messages, "stderr"))
        self.data = [
            content["data"]
            for kind, content in messages
            if kind in ("display_data", "execute_result")
        ]
        self.error = ""
        for kind, content in messages:
            if kind == "error":
                self.error += _COLORS.sub("", "\n".join(content["traceback"]))

    @staticmethod
    def _stream(messages, name):
        texts = [
            content["text"]
            for kind, content in messages
            if kind == "stream" and content["name"] == name
        ]
        return "".join(texts)

    @property
    def text(self):
        """The text of the last value."""
        return self.data[-1]["text/plain"]


class Notebook:
    """A kernel of Jupyter."""

    def __init__(self, **variables):
        self.manager = client.KernelManager(kernel_name="python3")
        self.manager.start_kernel(**variables)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def __call__(self, code, *, fails=False, interrupt=None):
        """Execute a cell. ``interrupt``: the seconds after which to interrupt it."""
        messages = []

        def keep(message):
            messages.append((message["msg_type"], message["content"]))

        begin = time.monotonic()
        if interrupt is None:
            reply = self.client.execute_interactive(
                code, output_hook=keep, timeout=120, stop_on_error=False
            )
            status = reply["content"]["status"]
        else:
            status = self._interrupted(code, interrupt, keep)
        found = Reply(status, time.monotonic() - begin, messages)
        assert (status == "error") == fails, (status, found.error, found.stderr)
        return found

    def _interrupted(self, code, seconds, keep):
        """Execute a cell, and interrupt it after so many seconds."""
        sent = self.client.execute(code, stop_on_error=False)
        time.sleep(seconds)
        self.manager.interrupt_kernel()
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != sent:
                continue
            keep(message)
            content = message["content"]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                break
        reply = self.client.get_shell_msg(timeout=60)
        while reply["parent_header"].get("msg_id") != sent:
            reply = self.client.get_shell_msg(timeout=60)
        return reply["content"]["status"]

    def end(self):
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
