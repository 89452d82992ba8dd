# Runs $script with the first $size bytes of standard input as its own, and ends it with
# all its children when standard input ends before it does: that is how the other side
# says so, and what a connection that is cut looks like. It is POSIX shell, and needs
# /proc. $outer is the first process of the session that is ours.

# look lists all processes, each as " PID:PARENT:SESSION", in $all.
look() {
	all=
	set +f
	lines=$(cat /proc/[0-9]*/stat)
	set -f
	IFS=$newline
	for each in $lines; do
		IFS=" "
		pid=${each%% *}
		set -- ${each##*) }
		all="$all $pid:$2:$4"
	done
}
newline='
'

# find PID sets the parent and the session of a process.
find() {
	case "$all " in *" $1:"*) ;; *) return 1 ;; esac
	found=${all#*" $1:"}
	found=${found%% *}
	parent=${found%%:*} session=${found#*:}
}

# end stops everything below this shell: asks first, and a second later does not ask.
# A process whose parent has ended is found by its session, if that is ours alone.
end() {
	trap "" TERM HUP INT
	look
	find "$$"
	above=" " ours=none own=$session each=$$
	while find "$each"; do
		[ "$each" = "$own" ] && ours=$own
		[ "$each" = "$outer" ] && break
		each=$parent above="$above$each "
	done
	descendants=" $$ "
	for signal in TERM KILL; do
		[ "$signal" = TERM ] || look
		# Parents first: a shell whose child has ended would go on with its next command.
		for by in parent session; do
			more=yes
			while [ "$more" ]; do
				more=
				for each in $all; do
					pid=${each%%:*} parent=${each#*:}
					session=${parent#*:} parent=${parent%:*}
					case $above$descendants in *" $pid "*) continue ;; esac
					case $descendants in
					*" $parent "*) ;;
					*) [ "$by$session" = "session$ours" ] || continue ;;
					esac
					descendants="$descendants$pid " more=yes
				done
			done
		done
		for each in $descendants; do
			[ "$each" = "$$" ] || [ "$each" = "$watcher" ] || kill -s "$signal" "$each"
		done
		[ "$signal" = KILL ] || sleep 1
	done
}

# pulse reads one byte, of which the other side sends one every now and then. When
# there is none in time the connection is taken for lost.
pulse() { [ "$($limit head -c 1 <&3)" ]; }

exec 3<&0
{
	exec 2>/dev/null
	read -r watcher rest </proc/self/stat
	limit=
	if timeout 5 true; then limit="timeout $patience"; fi
	echo "$watcher"
	[ "$size" = 0 ] || head -c "$size" <&3
	# Only now the input of the script ends: one that was cut short does
	# not look like a whole one.
	if pulse; then
		exec >/dev/null
		while pulse; do :; done
	fi
	end
} | {
	exec 3<&-
	read -r watcher
	(
		eval "$script"
	)
	status=$?
	# A shell says nothing of a process that PIPE ended; TERM is for where it is ignored.
	kill -s PIPE "$watcher" 2>/dev/null
	kill -s TERM "$watcher" 2>/dev/null
	exit "$status"
}
