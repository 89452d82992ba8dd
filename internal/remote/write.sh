# Writes standard input, $2 bytes, to the file $1 with the mode $3 and the owner $4 (as it
# comes when empty). $5 is "all" to make folders that are missing, $6 the SHA-256 of the
# content when the file may be as it is already. Prints "changed" or "unchanged".
umask 077
export LC_ALL=C
case $1 in
*/*) folder=${1%/*}/ ;;
*) folder=./ ;;
esac
if [ -d "$1" ]; then echo "$1 is a folder" >&2; exit 1; fi
if [ ! -d "$folder" ]; then
	if [ "$5" != all ]; then echo "the folder $folder does not exist" >&2; exit 1; fi
	(umask 022 && mkdir -p -- "$folder") || exit 1
fi
temporary=$(mktemp -- "$folder.${1##*/}.XXXXXX") || exit 1
trap 'rm -f -- "$temporary"' EXIT
trap 'exit 143' HUP INT TERM
cat >"$temporary" || exit 1
if [ "$(wc -c <"$temporary")" -ne "$2" ]; then echo "the content has not arrived completely" >&2; exit 1; fi
if [ "$4" ]; then chown -- "$4" "$temporary" || exit 1; fi
chmod -- "$3" "$temporary" || exit 1
if [ "$6" ] && [ -f "$1" ] && [ ! -L "$1" ]; then
	is=$(sha256sum <"$1")
	if [ "${is%% *}" = "$6" ] && [ "$(stat -c "%a %u %g" -- "$1")" = "$(stat -c "%a %u %g" -- "$temporary")" ]; then
		echo unchanged
		exit
	fi
fi
mv -f -- "$temporary" "$1" || exit 1
echo changed
