# Usage: interface.sh ADDRESS. Prints the interface that has an address.
set -eu
PATH=$PATH:/usr/sbin:/sbin
ip -o address show to "$1" | {
	read -r _ name _ || {
		echo "no interface has the address $1" >&2
		exit 1
	}
	echo "$name"
}
