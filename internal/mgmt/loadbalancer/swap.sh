# Usage: swap.sh NEW PORT. A configuration that HAProxy does not take never replaces the one in place.
set -eu
PATH=$PATH:/usr/sbin
haproxy -c -q -f "$1"
mv -f "$1" /etc/haproxy/haproxy.cfg
systemctl -q enable haproxy
if systemctl -q is-active haproxy; then systemctl reload haproxy; else systemctl start haproxy; fi
tries=0
until ss -Hltn "sport = :$2" | grep -q .; do
	tries=$((tries + 1))
	if [ "$tries" -gt 50 ]; then
		echo "HAProxy does not listen on port $2: $(journalctl -q -n 5 --no-pager -u haproxy 2>&1)" >&2
		exit 1
	fi
	sleep 0.2
done
