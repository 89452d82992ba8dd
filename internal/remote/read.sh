# Prints the first $3 bytes of the file $1 after the line $2, or ends with status 66 when there is none.
export LC_ALL=C
if [ -d "$1" ]; then echo "$1 is a folder" >&2; exit 1; fi
echo "$2"
head -c "$3" -- "$1" && exit
[ -e "$1" ] || [ -L "$1" ] || exit 66
exit 1
