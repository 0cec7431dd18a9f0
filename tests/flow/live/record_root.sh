# What only root can try: a set-uid program, another user without privileges, a full disk.
. "$(dirname "$0")/../common.sh" "$@"
need jq setpriv mount
need_perf
[ "$(id -u)" = 0 ] || skip "only root can do this"
spin='i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'

# Set-uid: perf events may stop there; nothing may hang.
if id nobody >/dev/null 2>&1; then
	cp "$(command -v sleep)" suid-sleep && chown nobody suid-sleep && chmod 4755 suid-sleep
	timeout 300 ctxrec -q -o suid.er -- ./suid-sleep 0.2 || fail "set-uid target"

	# As an ordinary user: user space only, said once.
	mkdir user && chown nobody user && chmod 755 "$work"
	(cd user && setpriv --reuid=nobody --clear-groups ctxrec --no-archive -o user.er -- sh -c "$spin" 2>err.txt)
	status=$?
	if grep -q perf_event_paranoid user/err.txt && [ $status = 1 ]; then
		leave_out "ordinary users are refused here: $(head -n 1 user/err.txt)"
	else
		[ $status = 0 ] || fail "ordinary user: $(cat user/err.txt)"
		[ "$(ctxan -q user/user.er -r functions --format json | jq .samples)" -gt 0 ] || fail "ordinary user: no samples"
		[ "$(grep -ci 'kernel' user/err.txt)" = 1 ] || fail "ordinary user: what is missing is not said once: $(cat user/err.txt)"
	fi
else
	leave_out "there is no user nobody"
fi

# A full disk: the target runs on, what is on disk is used, nothing crashes.
if mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>mount.err; then
	timeout 300 ctxrec -F 4999 -o small/full.er -- sh -c "$spin; $spin; $spin; $spin; echo done >ran; exit 5" 2>full.err
	status=$?
	[ -e ran ] || fail "full disk: the target did not run to its end"
	grep -qi 'space' full.err || fail "full disk: not said: $(cat full.err)"
	grep -q 'recording failed' full.err || fail "full disk: that recording failed is not said: $(cat full.err)"
	ctxan -q small/full.er --db full.db -r header >full.txt || fail "full disk: report"
	grep -q 'recording failed [0-9.]* s after its begin: .*No space left' full.txt || fail "full disk: the experiment does not say what happened and when: $(cat full.txt)"
	# The target's status is kept, with --fail it is 2.
	[ $status = 5 ] || fail "full disk: exit status $status instead of the target's"
	rm -rf small/full.er
	ctxrec --fail -F 4999 -o small/full.er -- sh -c "$spin; $spin; $spin; $spin; exit 5" 2>full.err
	status=$?
	[ $status = 2 ] || fail "full disk, --fail: exit status $status"
	umount small
else
	leave_out "no file system can be mounted here: $(head -n 1 mount.err)"
fi
finish
