"""HAProxy's configuration of a load balancer of Octavia, and what its processes say."""

import os
import socket

BALANCERS = "/lab/data/balancers"
BALANCE = {"ROUND_ROBIN": "roundrobin", "LEAST_CONNECTIONS": "leastconn", "SOURCE_IP": "source"}
OPERATING = {"UP": "ONLINE", "DOWN": "ERROR", "MAINT": "OFFLINE", "DRAIN": "DRAINING"}


def render(tree, objects, generation):
    """The configuration of a load balancer; a process that has read it shows the generation."""
    lines = [
        "global", "  description %s" % generation, "  maxconn 4000", "  stats socket %s" % stats_socket(tree["loadbalancer_id"]),
        "defaults", "  timeout connect 5s", "  timeout client 50s", "  timeout server 50s", "  option redispatch",
        # HAProxy ends without any.
        "frontend none", "  mode http", "  bind unix@%s.none" % stats_socket(tree["loadbalancer_id"]),
    ]
    for listener in objects["listeners"].values():
        if tree["admin_state_up"] and listener["admin_state_up"]:
            lines += frontend(tree, listener, objects["pools"].get(listener.get("default_pool_id")))
    return "\n".join(lines) + "\n"


def frontend(tree, listener, pool):
    mode = "http" if listener["protocol"] == "HTTP" else "tcp"
    lines = ["frontend " + listener["listener_id"], "  mode " + mode, "  bind %s:%d" % (tree["vip_address"], listener["protocol_port"])]
    if (listener.get("connection_limit") or -1) > 0:
        lines.append("  maxconn %d" % listener["connection_limit"])
    if listener.get("allowed_cidrs"):
        lines.append("  tcp-request connection reject unless { src %s }" % " ".join(listener["allowed_cidrs"]))
    if listener.get("timeout_client_data"):
        lines.append("  timeout client %dms" % listener["timeout_client_data"])
    if mode == "http" and (listener.get("insert_headers") or {}).get("X-Forwarded-For"):
        lines.append("  option forwardfor")
    if not pool or not pool["admin_state_up"]:
        return lines
    name = "%s:%s" % (listener["listener_id"], pool["pool_id"])
    lines += ["  default_backend " + name, "backend " + name, "  mode " + mode, "  balance " + BALANCE[pool["lb_algorithm"]]]
    for key, word in (("timeout_member_connect", "connect"), ("timeout_member_data", "server")):
        if listener.get(key):
            lines.append("  timeout %s %dms" % (word, listener[key]))
    return lines + backend(pool)


def backend(pool):
    sticky = (pool.get("session_persistence") or {}).get("type")
    lines, options = checks(pool.get("healthmonitor"))
    if sticky == "SOURCE_IP":
        lines += ["  stick-table type ip size 10k", "  stick on src"]
    elif sticky == "HTTP_COOKIE":
        lines.append("  cookie SRV insert indirect nocache")
    for member in pool.get("members") or []:
        line = "  server %s %s:%d weight %d%s" % (
            member["member_id"], member["address"], member["protocol_port"], member["weight"], options)
        if options and member.get("monitor_address"):
            line += " addr " + member["monitor_address"]
        if options and member.get("monitor_port"):
            line += " port %d" % member["monitor_port"]
        line += " cookie " + member["member_id"] if sticky == "HTTP_COOKIE" else ""
        line += " send-proxy" if pool["protocol"] == "PROXY" else ""
        line += " backup" if member.get("backup") else ""
        line += "" if member["admin_state_up"] else " disabled"
        lines.append(line)
    return lines


def checks(monitor):
    """The lines of a health monitor, and what it adds to each server."""
    if not monitor or not monitor["admin_state_up"]:
        return [], ""
    lines = ["  timeout check %ds" % monitor["timeout"]]
    if monitor["type"] in ("HTTP", "HTTPS"):
        lines += ["  option httpchk %s %s" % (monitor["http_method"] or "GET", monitor["url_path"] or "/"),
                  "  http-check expect status %s" % (monitor["expected_codes"] or "200").replace(" ", "")]
    options = " check inter %ds fastinter %ds fall %d rise %d" % (
        monitor["delay"], monitor["delay"], monitor["max_retries_down"], monitor["max_retries"])
    return lines, options + (" check-ssl verify none" if monitor["type"] in ("HTTPS", "TLS-HELLO") else "")


def stats_socket(balancer):
    return os.path.join(BALANCERS, balancer, "stats.sock")


def ask_haproxy(balancer, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(5)
        s.connect(stats_socket(balancer))
        s.sendall(command.encode() + b"\n")
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()


def members(balancer, objects):
    """The operating status of each member as HAProxy sees it."""
    found = dict.fromkeys(objects["members"], "NO_MONITOR")
    for line in ask_haproxy(balancer, "show stat").splitlines()[1:]:
        cells = line.split(",")
        if len(cells) > 18 and cells[1] in found:
            status = cells[17].split(" ")[0]
            if status == "UP" and cells[18] == "0":
                status = "DRAIN"
            found[cells[1]] = OPERATING.get(status, "NO_MONITOR")
    return found
