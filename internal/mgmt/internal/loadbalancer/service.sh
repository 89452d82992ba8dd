# What the other scripts share.
failed() {
	echo "HAProxy $1: $(journalctl -q -n 8 --no-pager -o cat -u haproxy 2>&1)" >&2
	exit 1
}
start_haproxy() {
	systemctl -q enable haproxy
	# It may have been tried too often.
	systemctl -q reset-failed haproxy 2>/dev/null || true
	systemctl start haproxy || failed "does not start"
}
await_port() {
	tries=0
	until ss -Hltn "sport = :$1" | grep -q .; do
		tries=$((tries + 1))
		[ "$tries" -le 50 ] || failed "does not listen on port $1"
		sleep 0.2
	done
}
