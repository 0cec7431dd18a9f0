# Sourced: . programs.sh PROGRAMS_DIR; then record_all records ten programs by uftrace into NAME.data in the working directory.

# build NAME FLAGS...
build() {
	source=$1
	shift
	case $source in
	*.cpp) g++ -g -O0 "$@" "$programs/$source" -o "${source%.cpp}" ;;
	*) gcc -g -O0 "$@" "$programs/$source" -o "${source%.c}" -pthread ;;
	esac || return 1
}

# record NAME [OPTIONS] -- PROGRAM [ARGUMENTS]
record() {
	name=$1
	shift
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	rm -rf "$name.data"
	# shellcheck disable=SC2086
	timeout 60 uftrace record --no-pager -d "$name.data" $options "$@" >/dev/null 2>&1
	[ -s "$name.data/info" ]
}

names="fib threads filtered forks jumps throws arguments deep opens sleeps"

record_all() {
	build fib.c -pg && build threads.c -pg && build forks.c -pg && build jumps.c -pg && build throws.cpp -pg && build arguments.c -pg && build deep.c -finstrument-functions &&
		build sleeps.c -pg && build opens.c -pg && gcc -g -O0 -pg -fPIC -shared "$programs/library.c" -o liblibrary.so || return 1
	record fib --no-event -- ./fib 6 || return 1
	record threads --no-event -- ./threads || return 1
	record forks --no-event -- ./forks ./fib || return 1
	record jumps --no-event -- ./jumps || return 1
	record throws --no-event -- ./throws || return 1
	record arguments --no-event -A 'sum_of@arg1/i32,arg2,arg3/c' -R 'sum_of@retval/i32' -A 'pick@arg1/s,arg2/s' -R 'pick@retval/s' -A 'half@fparg1' -R 'half@retval/f64' -- ./arguments || return 1
	record deep --no-event -- ./deep || return 1
	record opens --no-event --nest-libcall -- ./opens ./liblibrary.so || return 1
	record sleeps -- ./sleeps || return 1
	record filtered --no-event -D 3 -F outer -F work -- ./threads || return 1
}
