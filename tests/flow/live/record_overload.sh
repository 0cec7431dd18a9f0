# The recorder's own priority, and the target's, which stays the caller's; bursts of records.
. "$(dirname "$0")/../common.sh" "$@"
need taskset chrt jq gcc
need_perf

# Of the command and of the recorder: nice value, real-time priority, class, and the command's processors.
cat >look.sh <<'EOS'
awk '{ print "command", $19, $40, $41 }' /proc/$$/stat
grep Cpus_allowed_list /proc/$$/status
awk '{ print "recorder", $19, $40, $41 }' /proc/$PPID/stat
EOS
# name COMMAND...: what look.sh says under it
look() {
	experiment=$1
	shift
	"$@" sh look.sh >"$experiment.out" 2>"$experiment.err" || fail "$experiment: $(head -n 3 "$experiment.err")"
}
# says NAME LINE
says() { grep -qx "$2" "$1.out" || fail "$1: no line '$2': $(tr '\n' ';' <"$1.out")"; }
# The nice value of this test, and what it is plus five.
own=$(nice)
more=$((own + 5 < 19 ? own + 5 : 19))
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')

look usual nice -n 5 taskset -c "$cpu" "$bin/ctxrec" -q --no-archive -o usual.er --
says usual "command $more 0 0"
says usual "Cpus_allowed_list:	$cpu"
look batch chrt --batch 0 "$bin/ctxrec" -q --no-archive -o batch.er --
says batch "command $own 0 3"
look kept nice -n 5 "$bin/ctxrec" -q --no-archive --realtime 0 -o kept.er --
says kept "command $more 0 0"
says kept "recorder $more 0 0"
expect 1 '"100" is not a number from 0 to 99' ctxrec --realtime 100 -- touch ran
if nice -n -20 true 2>nice.err && [ ! -s nice.err ] && chrt -f 7 true 2>/dev/null; then
	# Where it got its processor late, or other programs fill the machine, it is real-time by then.
	says usual 'recorder -20 \(0 0\|1 1\)'
	grep -q '^recorder -20 0 0' usual.out || grep -q 'real-time 1' usual.er/log.xml || fail "it is real-time, and the log does not say so: $(cat usual.er/log.xml)"
	grep -q 'name="priority" value="nice -20' usual.er/log.xml || fail "the log does not say the priority: $(grep priority usual.er/log.xml)"
	look realtime "$bin/ctxrec" -q --no-archive --realtime 7 -o realtime.er --
	says realtime "command $own 0 0"
	says realtime "recorder $own 7 1"
	grep -q 'name="priority" value="real-time 7' realtime.er/log.xml || fail "the log does not say the real-time priority"
else
	leave_out "a higher priority is not allowed here"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir user && chmod a+rwx user && chmod a+rx "$work"
	as_user() { (cd user && prlimit --rtprio=0 --nice=0 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"); }
	expect 1 'realtime 7 is not allowed .*ulimit -r; it is 0' as_user "$bin/ctxrec" --realtime 7 -- touch ran
	cp look.sh user/ && look user as_user "$bin/ctxrec" -q --no-archive -o user.er --
	says user "recorder $own 0 0"
else
	expect 1 'realtime 7 is not allowed' prlimit --rtprio=0 ctxrec --realtime 7 -- touch ran
fi
[ ! -e ran ] && [ ! -e user/ran ] || fail "the command was run without the priority that was asked for"

# A burst of page faults, each of them a sample: a ring holds them all although the recorder is stopped meanwhile.
cat >faults.c <<'EOC'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noipa)) static void touch(volatile char *pages, long n)
{
	for (long i = 0; i < n; i++)
		pages[i * 4096] = 1;
}

int main(void)
{
	char *pages = mmap(NULL, 3072 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, 3072 * 4096, MADV_NOHUGEPAGE);
	close(open("ready", O_CREAT | O_WRONLY, 0600));
	while (access("go", F_OK) != 0)
		usleep(1000);
	touch(pages, 3072);
	close(open("done", O_CREAT | O_WRONLY, 0600));
}
EOC
gcc -O2 -o faults faults.c || fail "faults.c"
wait_for() { until [ -e "$1" ]; do sleep 0.01; done; }
ctxrec -q -e page-faults -c 1 -o burst.er -- ./faults &
recorder=$!
wait_for ready && kill -STOP $recorder && touch go && wait_for done && kill -CONT $recorder
wait $recorder || fail "a burst of page faults: $?"
touched=$(ctxan -q burst.er -r functions --format json | jq '[.rows[] | select(.function == "touch") | .exclusive] | add // 0')
lost=$(text burst.er/log.xml | grep -o 'kind="lost"[^/]* count="[0-9]*' | sed 's/.*"//' | awk '{ n += $1 } END { print n + 0 }')
ring=$(text burst.er/log.xml | sed -n 's/.*name="ring_bytes" value="\([0-9]*\)".*/\1/p')
[ $((touched + lost)) -ge 3072 ] || fail "$touched page faults in touch() and $lost lost of 3072"
if [ "$ring" -ge 16777216 ]; then
	[ "$touched" = 3072 ] && [ "$lost" = 0 ] || fail "$touched page faults in touch(), $lost lost of 3072"
else
	leave_out "the limit on locked memory allows rings of $ring bytes alone"
fi

finish
