# Lists of JIT code (/tmp/perf-PID.map) are archived when they belong to the process's user or to root and are plain files; in a container they are found
# by the process's own number there, and in its own /tmp.
. "$(dirname "$0")/../common.sh" "$@"
need jq zstd
need_perf
command -v jit >/dev/null || skip "the target jit was not built: it knows no machine code for this processor"
# archived EXPERIMENT: the text of the list.
archived() {
	copy=$(sed -n 's|.*<archive path="/tmp/perf-[0-9]*.map".* file="\([^"]*\)".*|\1|p' "$1/log.xml" | head -n 1)
	[ -n "$copy" ] && zstd -dcq "$1/archives/$copy"
}
# record NAME COMMAND...: in the background, until `end`; waits until the target has written its list, in $list, and run.
record() {
	name=$1
	shift
	mkfifo "$name.go"
	ctxrec -q -o "$name.er" -- "$@" <"$name.go" >"$name.out" 2>"$name.err" &
	recorder=$!
	exec 7>"$name.go"
	i=0
	until grep -qs done "$name.out" || [ $i -ge 3000 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	list=$(head -n 1 "$name.out")
	lists="$lists $list"
}
end() {
	exec 7>&-
	wait $recorder
}
lists=
trap 'cleanup; rm -f $lists' EXIT
reason() { sed -n 's|.*<archive path="/tmp/perf-[0-9]*.map".* missing="\([^"]*\)".*|\1|p' "$1/log.xml" | head -n 1; }

record own jit map 50 wait
end
archived own.er | grep -q jit_alpha || fail "the process's own list: $(reason own.er)"
ctxan -q own.er -r functions | grep -q jit_beta || fail "no names from the list"

# A link, and something that is no file.
record link jit map 50 wait
mv "$list" "$list.real" && ln -s "$list.real" "$list" && lists="$lists $list.real"
end
archived link.er && fail "a link was followed"
record pipe jit map 50 wait
rm "$list" && mkfifo "$list"
end
reason pipe.er | grep -q 'not a plain file' || fail "a pipe: $(reason pipe.er)"

if [ "$(id -u)" != 0 ]; then
	leave_out "another user's list: only root can make one"
	finish
fi
need setpriv unshare mount
chmod 755 "$work"

# A process of one user, a list of another. (What belongs to root is nobody's attempt.)
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
cp "$(command -v jit)" ./jit-for-all && chmod 755 jit-for-all
record other $as_nobody ./jit-for-all map 50 wait
rm "$list" && printf '1000 1000 stolen_name\n' >"$list" && chown 1:1 "$list" && chmod 644 "$list"
end
archived other.er | grep stolen_name && fail "a list of another user was copied"
reason other.er | grep -q 'belongs to user 1' || fail "a list of another user: $(reason other.er)"
record roots $as_nobody ./jit-for-all map 50 wait
cp "$list" roots.map && rm "$list" && cp roots.map "$list" && chmod 644 "$list"
end
archived roots.er | grep -q jit_alpha || fail "a list of root's: $(reason roots.er)"
# Root's own list, which only root may read, is not read for somebody else.
record secret $as_nobody ./jit-for-all map 50 wait
rm "$list" && printf '1000 1000 secret_name\n' >"$list" && chmod 600 "$list"
end
archived secret.er | grep secret_name && fail "a list that the user may not read was copied"

# A container: an own pid namespace, an own /tmp.
if unshare -mpf true 2>unshare.err; then
	mkdir inner
	record container unshare -mpf sh -c "mount --bind '$work/inner' /tmp && exec 8<&9 && exec /proc/self/fd/9 map 50 wait" 9<jit-for-all
	end
	[ -n "$(ls inner)" ] || fail "container: the test is not about it: $(cat container.err)"
	archived container.er | grep -q jit_alpha || fail "container: the list of the inner pid was not copied: $(ls inner) $(reason container.er)"
	ctxan -q container.er -r functions | grep -q jit_beta || fail "container: no names from the list"
else
	leave_out "no namespaces here: $(head -n 1 unshare.err)"
fi
finish
