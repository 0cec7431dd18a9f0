# ctxrec --heap of a program in another network or mount namespace: either socket is enough, and there is nothing left of them afterwards.
. "$(dirname "$0")/../common.sh" "$@"
need jq unshare
need_runtime

# traced OPTIONS...: `heap child 6` in new namespaces; the environment of the outermost command is not that of the program
traced() {
	ctxrec -q --no-archive -o run.er -O --heap --trace-full wait -- unshare "$@" heap child 6 2>err.txt || fail "unshare $*: $(cat err.txt)"
	[ -s err.txt ] && fail "unshare $*: messages: $(cat err.txt)"
	got=$(ctxan run.er -r heap --format json | jq '[.rows[] | select(.section == "stack") | select(.stack[-1] == "in_child") | .allocations] | add // 0')
	[ "$got" = 6 ] || fail "unshare $*: $got allocations instead of 6"
}
if unshare -n true 2>/dev/null; then own=; elif unshare -rn true 2>/dev/null; then own=-r; else skip "no namespaces are allowed here: $(unshare -rn true 2>&1)"; fi
traced $own -n
# Another directory of the sockets' name, and so none in it. The program is where it can be found in both.
program=/dev/shm/ctx-flow-heap-$$
cp "$bin/examples/heap" "$program" || skip "/dev/shm cannot be written"
trap 'rm -f "$program"; cleanup' EXIT
case $bin/ in
/tmp/*) leave_out "the build is below /tmp: the library is not there in another one" ;;
*)
	if unshare $own -m sh -c 'mount -t tmpfs none /tmp' 2>/dev/null; then
		ctxrec -q --no-archive -o run.er -O --heap --trace-full wait -- unshare $own -m sh -c "mount -t tmpfs none /tmp && exec $program child 6" 2>err.txt || fail "another /tmp: $(cat err.txt)"
		got=$(ctxan run.er -r heap --format json | jq '[.rows[] | select(.section == "stack") | select(.stack[-1] == "in_child") | .allocations] | add // 0')
		[ "$got" = 6 ] || fail "another /tmp: $got allocations instead of 6: $(cat err.txt)"
		# Neither socket: the program runs as without.
		ctxrec -q --no-archive -o run.er -O --heap -- unshare $own -n -m sh -c "mount -t tmpfs none /tmp && $program child 6 && echo fine" >out.txt 2>err.txt
		[ "$(cat out.txt)" = fine ] || fail "another network and another /tmp: $(cat out.txt err.txt)"
	else
		leave_out "nothing can be mounted in a namespace of its own"
	fi
	;;
esac
finish
