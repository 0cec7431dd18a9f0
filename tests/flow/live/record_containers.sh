# Containers: ids within a pid namespace, control groups, the binary that is mapped and not the one at its path, programs without a file.
. "$(dirname "$0")/../common.sh" "$@"
need jq zstd
need_perf
cc=$(command -v cc || command -v gcc) || skip "there is no C compiler"

# One function of the given name computes; the ids that the program has for itself are written to ids.txt.
cat >program.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void FUNCTION(void)
{
	volatile unsigned long n = 0;
	clock_t begin = clock();
	while (clock() - begin < CLOCKS_PER_SEC * 3 / 10)
		for (int i = 0; i < 100000; i++)
			n++;
}
static void *thread(void *ids)
{
	fprintf(ids, "%ld %ld\n", (long)getpid(), syscall(SYS_gettid));
	FUNCTION();
	return NULL;
}
int main(int argc, char **argv)
{
	FILE *ids = fopen("ids.txt", "w");
	pthread_t other;
	if (ids == NULL || pthread_create(&other, NULL, thread, ids) != 0)
		return 1;
	pthread_join(other, NULL);
	return fclose(ids);
}
END
for name in outside inside; do
	$cc -O1 -g -pthread -static -DFUNCTION=spin_$name -o $name program.c || fail "cc"
done
# check EXPERIMENT FUNCTION: the program computes there, and its binary is in the experiment.
check() {
	ctxan -q "$1" -r functions --format json >functions.json 2>err.txt || fail "$1: $(cat err.txt)"
	jq -e --arg name "$2" '[.rows[] | select(.function == $name and .inclusive > 0)] | length == 1' functions.json >/dev/null ||
		fail "$1: no time in $2: $(jq -c '[.rows[:6][].function]' functions.json)"
}
namespaces="unshare -fmp --mount-proc"
[ "$(id -u)" = 0 ] || namespaces="unshare -Urfmp --mount-proc"

# A mount namespace has another program at a path that exists outside, too.
cp outside program
if $namespaces true 2>/dev/null; then
	ctxrec -q -o inner.er -- $namespaces sh -c 'mount --bind inside program && ./program' || fail "inner.er"
	check inner.er spin_inside
	ctxan -q inner.er -r processes,threads --format json >both.json
	read -r pid tid <ids.txt
	jq -es --argjson pid "$pid" '[.[] | select(.report == "processes").rows[] | select(.command == "./program" and .inner_pid == $pid)] | length == 1' \
		both.json >/dev/null || fail "inner pid $pid: $(jq -cs '[.[0].rows[] | [.process, .inner_pid, .command]]' both.json)"
	jq -es --argjson tid "$tid" '[.[] | select(.report == "threads").rows[] | select(.inner_tid == $tid and .weight > 0)] | length >= 1' \
		both.json >/dev/null || fail "inner tid $tid: $(jq -cs '[.[1].rows[] | [.thread, .inner_tid]]' both.json)"
	jq -es '[.[] | select(.report == "processes").rows[] | select(.parent == null)] | all(.inner_pid == null)' both.json >/dev/null ||
		fail "the root process is in no inner namespace"
	ctxan -q inner.er -r processes | grep -q 'PID Inner' || fail "no column: $(ctxan -q inner.er -r processes | sed -n 3p)"
	copy=$(sed -n 's|.*<archive path="[^"]*/program".* file="\([^"]*\)".*|inner.er/archives/\1|p' inner.er/log.xml)
	{ [ -n "$copy" ] && zstd -dcq "$copy" | cmp -s - inside; } || fail "the archived program: $(grep '<archive' inner.er/log.xml)"

	# A file system that only the target has can be unmounted while the recording goes on, and its programs are in the experiment.
	cat >away.c <<'END'
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void spin_away(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;)
		for (volatile int i = 0; i < 100000; i++)
			;
}
int main(void)
{
	spin_away();
	for (int i = 0; i < 2000 && access("stop", F_OK) != 0; i++)
		usleep(10000);
	return 0;
}
END
	$cc -O1 -g -o away away.c && mkdir mnt || fail "away.c"
	cat >unmounts.sh <<'END'
mount -t tmpfs none mnt && cp away mnt/away || exit 3
mnt/away &
n=0
until grep -qs mnt/away away.er/map.xml away.er/_*/map.xml || [ $n = 400 ]; do
	sleep 0.05
	n=$((n + 1))
done
rm mnt/away
touch stop
wait
umount mnt
END
	ctxrec -q -o away.er -- $namespaces sh unmounts.sh 2>away.err || fail "unmounting: $(cat away.err)"
	check away.er spin_away
	grep -q '<archive path="[^"]*/mnt/away" .*file=' away.er/log.xml || fail "unmounted: $(grep '<archive.*away' away.er/log.xml)"
else
	leave_out "namespaces: $($namespaces true 2>&1)"
fi

# A program of another root directory; one that is deleted at its start; one that never had a name.
mkdir -p root && cp inside root/program && chmod 777 root
if [ "$(id -u)" = 0 ]; then
	ctxrec -q -o root.er -- chroot root /program || fail "root.er"
	check root.er spin_inside
fi
cp outside gone
ctxrec -q -o gone.er -- sh -c './gone & until [ "$(readlink /proc/$!/exe)" = "$PWD/gone" ]; do :; done; rm gone; wait' || fail "gone.er"
check gone.er spin_outside
cat >nameless.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int in = open(argv[1], O_RDONLY), memory = memfd_create("nameless", MFD_CLOEXEC);
	struct stat st;
	char *none[] = {"nameless", NULL};
	if (argc < 2 || in < 0 || memory < 0 || fstat(in, &st) != 0 || sendfile(memory, in, NULL, st.st_size) != st.st_size)
		return 1;
	fexecve(memory, none, none + 1);
	return 2;
}
END
$cc -o nameless nameless.c || fail "cc"
ctxrec -q -o nameless.er -- ./nameless inside || fail "nameless.er"
check nameless.er spin_inside

# Control groups: a shell moves itself into one as a container runtime does, then executes the program. Hierarchies are tried as the recorder
# reads them: the first in which the test is not in the root, else any.
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
group=
for line in $(grep -v ':/$' /proc/self/cgroup) $(grep ':/$' /proc/self/cgroup | tac); do
	controller=$(echo "$line" | cut -d: -f2) path=$(echo "$line" | cut -d: -f3-)
	for parent in "/sys/fs/cgroup/${controller#name=}$path" "/sys/fs/cgroup/unified$path"; do
		[ -z "$group" ] && [ -w "$parent/cgroup.procs" ] && mkdir "$parent/docker-$id.scope" 2>/dev/null && group=$parent/docker-$id.scope
	done
done
if [ -n "$group" ]; then
	trap 'rmdir "$group" 2>/dev/null; cleanup' EXIT
	ctxrec -q -o group.er -- sh -c "sh -c 'echo 0 >$group/cgroup.procs && exec ./inside'; ./outside" || fail "group.er: $group"
	ctxan -q group.er -r processes --format json >processes.json
	jq -e '[.rows[] | select(.command == "./inside")] | length == 1 and .[0].container == "0123456789ab" and (.[0].cgroup | endswith(".scope"))' processes.json >/dev/null &&
		jq -e '[.rows[] | select(.command != "./inside")] | length >= 2 and all(.container == null)' processes.json >/dev/null ||
		fail "control groups: $(jq -c '[.rows[] | [.command, .cgroup, .container]]' processes.json)"
	for term in cgroup:0123456789ab "cgroup:*/docker-$id.scope"; do
		ctxan -q group.er -r threads --process "$term" --format json >threads.json
		jq -e '.rows | length >= 1 and all(.name == "inside" or .name == "sh")' threads.json >/dev/null &&
			jq -e 'any(.rows[]; .name == "inside")' threads.json >/dev/null ||
			fail "--process $term: $(jq -c '[.rows[].name]' threads.json)"
	done
	ctxan -q group.er --by container,command --format json >by.json
	jq -e '[.rows[] | select(.container == "0123456789ab" and .command == "inside")] | length == 1 and .[0].weight > 0' by.json >/dev/null ||
		fail "--by container: $(jq -c .rows by.json)"
	ctxan -q group.er --by cgroup --format json | jq -e '[.rows[] | select(.cgroup | endswith(".scope"))] | length == 1' >/dev/null ||
		fail "--by cgroup: $(ctxan -q group.er --by cgroup)"
	expect 1 "no process 'cgroup:other'" ctxan -q group.er --process cgroup:other
	ctxan -q group.er -r processes | grep -q '\./inside .*\[0123456789ab\]' ||
		fail "text: $(ctxan -q group.er -r processes | tail -n 4)"
else
	leave_out "control groups: none can be made here"
fi
finish
