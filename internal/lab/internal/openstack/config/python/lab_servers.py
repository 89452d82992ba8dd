"""How the lab's drivers of Nova, Neutron and Octavia ask the host of servers."""

import http.client
import json
import socket

HOST = "/lab/run/servers.sock"


class Refused(Exception):
    """The host of servers has not done what it was asked for."""


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(HOST)


def ask(method, where, body=None):
    connection = Connection("localhost", timeout=60)
    try:
        connection.request(method, where, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        text = answer.read().decode()
    except OSError as e:
        raise Refused("the host of servers does not answer: %s" % e)
    finally:
        connection.close()
    if answer.status >= 400:
        raise Refused(text.strip())
    return json.loads(text)
