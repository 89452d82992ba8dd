# Usage: claim.sh FOLDER MARKER OWNER ROOT. Makes a folder for its owner alone, with the variables of kubespray's sample:
# what is said of the cluster is laid over them, in files of its own.
umask 077
above=$(dirname "$1")
while [ "$above" != / ] && [ "$above" != . ]; do
	if [ -e "$above/$2" ]; then
		echo "$1 is in $above, the inventory of the cluster of VNF instance $(cat "$above/$2"), which is removed with that cluster: transferring_inventory_path must name a folder elsewhere" >&2
		exit 1
	fi
	above=$(dirname "$above")
done
marker=$1/$2
if [ -e "$marker" ]; then
	if [ "$(cat "$marker")" != "$3" ]; then
		echo "$1 is the inventory of the cluster of another VNF instance, $(cat "$marker"): transferring_inventory_path must name a folder of its own" >&2
		exit 1
	fi
elif [ -d "$1" ] && [ -n "$(ls -A "$1")" ]; then
	echo "$1 exists and is not empty: transferring_inventory_path must name a folder that is created for the cluster and removed with it" >&2
	exit 1
else
	mkdir -p "$1" && chmod 700 "$1" && printf '%s\n' "$3" >"$marker" || exit
fi
if [ ! -d "$1/group_vars" ] && [ -d "$4/inventory/sample/group_vars" ]; then
	rm -rf "$1/group_vars.part"
	cp -R "$4/inventory/sample/group_vars" "$1/group_vars.part" && chmod -R u+rwX,go= "$1/group_vars.part" && mv "$1/group_vars.part" "$1/group_vars"
fi
