# The kernel takes the events off a setuid program, or one that its user may not read, and it looks like an exit: it is said, the life is right, nothing is invented.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_perf

cat >hidden.c <<'END'
#include <time.h>
int main(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, 0);
	return 0;
}
END
cc -O1 -o hidden hidden.c || fail "hidden.c"
if [ "$(id -u)" = 0 ]; then
	chown 65534 hidden && chmod 4755 hidden # of another user than root
	findmnt -no OPTIONS --target . 2>/dev/null | grep -q nosuid && skip "setuid programs are not allowed here: nosuid"
else
	chmod 0111 hidden
fi
ctxrec -q --no-archive -o hidden.er -- sh -c './hidden; true; sleep 0.01' || fail "recording"
warning=$(sed -n 's/.*kind="warning" tstamp="\([0-9.]*\)" text="PID \([0-9]*\) (hidden): a setuid or unreadable program.*/\1 \2/p' hidden.er/log.xml)
[ -n "$warning" ] || fail "not said: $(grep warning hidden.er/log.xml)"
[ "$(grep -c 'setuid or unreadable' hidden.er/log.xml)" = 1 ] || fail "others: $(grep 'setuid or unreadable' hidden.er/log.xml)"
grep -q "thread-exit\" tstamp=\"${warning% *}\"" hidden.er/log.xml || fail "its thread does not end there: $(cat hidden.er/log.xml)"
# Its command line is read while it runs; a recorder that comes late has its name.
ctxan -q hidden.er -r processes --format json | jq -e '.rows | length == 3 and (.[] | select(.command == "./hidden" or .command == "hidden") | .end - .begin >= 200000000)' >/dev/null ||
	fail "its life: $(ctxan -q hidden.er -r processes)"

# As the root process: the recording ends when it has ended.
ctxrec -q --no-archive -o root.er -- ./hidden || fail "recording the root process"
ctxan -q root.er -r processes --format json | jq -e '.rows | length == 1 and .[0].end - .[0].begin >= 200000000 and .[0].exit_status == 0' >/dev/null || fail "the root process: $(ctxan -q root.er -r processes)"
finish
