"""A stdout callback for ansible-core 2.11 and later that tells what happens as lines of
JSON, each after a prefix, for a program that reads them."""

from __future__ import absolute_import, division, print_function

import json
import sys

from ansible.plugins.callback import CallbackBase

__metaclass__ = type

DOCUMENTATION = """
    name: vnf_events
    type: stdout
    short_description: events as lines of JSON
    description:
      - Prints each event as a line of JSON after a prefix.
"""

PREFIX = "vnf-event "
# The longest line, in bytes, that the reader takes for one.
LONGEST = 12000


def text(value, longest):
    """The value as a text; of a longer one the end is kept."""
    if value is None:
        return ""
    if not isinstance(value, str):
        try:
            value = json.dumps(value, default=str, sort_keys=True)
        except (TypeError, ValueError):
            value = str(value)
    value = value.strip()
    return value if len(value) <= longest else "..." + value[-longest:]


def reasons(result):
    """What a result says of its failure; of a loop that of its first item that failed."""
    for item in result.get("results") or []:
        if isinstance(item, dict) and (item.get("failed") or item.get("unreachable")):
            return item
    return result


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "vnf_events"

    def tell(self, event, **fields):
        fields["event"] = event
        longest = 3000
        while True:
            cut = dict((k, text(v, longest) if k in ("message", "stderr", "stdout", "task", "play") else v) for k, v in fields.items())
            line = json.dumps(cut)
            if len(line) <= LONGEST or longest < 50:
                break
            longest //= 2
        # Not through the display: that would write it into a log file as well.
        sys.stdout.write(PREFIX + line + "\n")
        sys.stdout.flush()

    def finished(self, result, status, **fields):
        # Ansible itself has taken out what no_log hides.
        found = result._result
        if status in ("failed", "unreachable"):
            why = reasons(found)
            hidden = why.get("censored") or found.get("censored")
            if hidden or result._task.no_log:
                fields["message"] = hidden or "the output has been hidden due to no_log"
            else:
                fields["message"] = why.get("msg") or why.get("reason") or found.get("msg")
                fields["stderr"] = why.get("stderr") or why.get("module_stderr")
                fields["stdout"] = why.get("stdout") or why.get("module_stdout")
        self.tell("result", host=result._host.get_name(), status=status, task=result._task.get_name(), **fields)

    def v2_playbook_on_play_start(self, play):
        self.tell("play", play=play.get_name())

    def v2_playbook_on_task_start(self, task, is_conditional):
        self.tell("task", task=task.get_name())

    def v2_playbook_on_handler_task_start(self, task):
        self.tell("task", task=task.get_name())

    def v2_playbook_on_cleanup_task_start(self, task):
        self.tell("task", task=task.get_name())

    def v2_playbook_on_no_hosts_matched(self):
        self.tell("nobody")

    def v2_runner_on_ok(self, result):
        self.finished(result, "changed" if result._result.get("changed") else "ok")

    def v2_runner_on_skipped(self, result):
        self.finished(result, "skipped")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.finished(result, "failed", ignored=bool(ignore_errors))

    def v2_runner_on_unreachable(self, result):
        self.finished(result, "unreachable", ignored=bool(result._task.ignore_unreachable))

    def v2_runner_retry(self, result):
        found = result._result
        self.tell("retry", host=result._host.get_name(), task=result._task.get_name(),
                  left=int(found.get("retries", 0)) - int(found.get("attempts", 0)))

    def v2_playbook_on_stats(self, stats):
        hosts = {}
        for host in stats.processed:
            hosts[host] = stats.summarize(host)
        # The line of many hosts is in pieces.
        names = sorted(hosts)
        for first in range(0, len(names), 50):
            self.tell("stats", hosts=dict((n, hosts[n]) for n in names[first:first + 50]))
