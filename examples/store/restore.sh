# Empty the folder before: the -wal file of one database damages another one.
store=${XDG_STATE_HOME:-$HOME/.local/state}/terraform-provider-vnf
umask 077
if [ -e "$store" ]; then mv "$store" "$store.replaced"; fi
mkdir -p "$store"
tar -C "$store" -xf vnf-store.tar
cp vnf-key.txt "$store/key.txt"
