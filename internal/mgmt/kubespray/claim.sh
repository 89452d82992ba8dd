# Usage: claim.sh FOLDER MARKER OWNER. Makes a folder for its owner alone.
umask 077
marker=$1/$2
if [ -e "$marker" ]; then
	if [ "$(cat "$marker")" = "$3" ]; then exit 0; fi
	echo "$1 is the inventory of the cluster of another VNF instance, $(cat "$marker"): transferring_inventory_path must name a folder of its own" >&2
	exit 1
fi
if [ -d "$1" ] && [ -n "$(ls -A "$1")" ]; then
	echo "$1 is there and not empty: transferring_inventory_path must name a folder that is made for the cluster, and goes with it" >&2
	exit 1
fi
mkdir -p "$1" && chmod 700 "$1" && printf '%s\n' "$3" >"$marker"
