#!/bin/sh
# Usage: check-haproxy PORT. Succeeds while HAProxy takes connections to the port.
PATH=$PATH:/usr/sbin:/sbin
ss -Hltn "sport = :$1" | grep -q .
