# ctxrec --io of io_uring: operations with their bytes, errors and files, by the kernel's tracepoints, of a program whose numbers are known. Where
# they cannot be watched, the header says so.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime

cat >uses.c <<'END_C'
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static char buffer[16][4096];
struct ring {
	int fd;
	unsigned *tail, *mask, *array, *head, *ctail, *cmask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};
static int make(struct ring *ring)
{
	struct io_uring_params p = {0};
	char *sq, *cq;

	ring->fd = (int)syscall(SYS_io_uring_setup, 32, &p);
	if (ring->fd < 0)
		return 0;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
	ring->sqes = mmap(NULL, p.sq_entries * sizeof(*ring->sqes), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
	ring->tail = (unsigned *)(sq + p.sq_off.tail);
	ring->mask = (unsigned *)(sq + p.sq_off.ring_mask);
	ring->array = (unsigned *)(sq + p.sq_off.array);
	ring->head = (unsigned *)(cq + p.cq_off.head);
	ring->ctail = (unsigned *)(cq + p.cq_off.tail);
	ring->cmask = (unsigned *)(cq + p.cq_off.ring_mask);
	ring->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return 1;
}
/* Submits n alike and waits for all; the sum of their results. */
__attribute__((noinline)) static long submits(struct ring *ring, int what, int fd, int n, unsigned bytes, int flags)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		unsigned tail = *ring->tail, at = tail & *ring->mask;

		memset(&ring->sqes[at], 0, sizeof(ring->sqes[at]));
		ring->sqes[at].opcode = (unsigned char)what;
		ring->sqes[at].flags = (unsigned char)flags;
		ring->sqes[at].fd = fd;
		ring->sqes[at].addr = bytes != 0 ? (unsigned long)buffer[i] : 0;
		ring->sqes[at].len = bytes;
		ring->sqes[at].off = bytes != 0 ? 4096ul * (unsigned)i : 0;
		ring->array[at] = at;
		__atomic_store_n(ring->tail, tail + 1, __ATOMIC_RELEASE);
	}
	if (syscall(SYS_io_uring_enter, ring->fd, n, n, IORING_ENTER_GETEVENTS, NULL, 0) != n)
		return -1000000;
	for (unsigned head = *ring->head; head != __atomic_load_n(ring->ctail, __ATOMIC_ACQUIRE); head++) {
		sum += ring->cqes[head & *ring->cmask].res;
		__atomic_store_n(ring->head, head + 1, __ATOMIC_RELEASE);
	}
	return sum;
}
__attribute__((noinline)) static void *in_a_thread(void *fd)
{
	struct ring ring;

	return make(&ring) && submits(&ring, IORING_OP_WRITE, *(int *)fd, 2, 10, 0) == 20 ? fd : NULL;
}
__attribute__((noinline)) static int in_main(int fd)
{
	struct ring ring;

	if (!make(&ring))
		return 77;
	return submits(&ring, IORING_OP_WRITE, fd, 10, 4096, 0) == 40960 && submits(&ring, IORING_OP_READ, fd, 5, 1000, 0) == 5000 &&
			       submits(&ring, IORING_OP_READ, fd, 3, 500, IOSQE_ASYNC) == 1500 && submits(&ring, IORING_OP_FSYNC, fd, 1, 0, 0) == 0 &&
			       submits(&ring, IORING_OP_READ, 999, 1, 10, 0) == -9
		       ? 0
		       : 3;
}
int main(void)
{
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600), result = in_main(fd);
	pthread_t thread;
	void *done;

	if (result != 0)
		return result;
	pthread_create(&thread, NULL, in_a_thread, &fd);
	pthread_join(thread, &done);
	return done != NULL ? 0 : 4;
}
END_C
cc -O1 -g -fno-omit-frame-pointer -pthread -o uses uses.c || fail "uses.c"
./uses
got=$?
[ $got != 77 ] || skip "the kernel has no io_uring, or does not allow it"
[ $got = 0 ] || fail "the program alone: $got"
need_tracefs
ctxrec -q -o run.er --io --trace-full wait -- ./uses 2>err.txt
got=$?
[ $got = 0 ] && [ ! -s err.txt ] || fail "exit status $got: $(cat err.txt)"
ctxan run.er -r header >header.txt
case $(grep '^io_uring ' header.txt) in
io_uring*'not recorded: '?*)
	[ -n "$tracefs_is_missing" ] || [ "$(id -u)" != 0 ] || fail "io_uring is not recorded: $(grep '^io_uring ' header.txt)"
	skip "$(grep '^io_uring ' header.txt)"
	;;
io_uring*'recorded, by tracepoints'*) ;;
*) fail "the header has no line on io_uring: $(cat header.txt)" ;;
esac
ctxan run.er -r io --format json >io.json || fail "report"
got=$(sums_of io.json in_main writes write_bytes reads read_bytes others errors)
[ "$got" = "10 40960 8 6500 1 1" ] || fail "the main thread's: $got"
got=$(sums_of io.json in_a_thread writes write_bytes reads read_bytes others errors)
[ "$got" = "2 20 0 0 0 0" ] || fail "the other thread's: $got"
got=$(jq -r '[.rows[] | select(.section == "file") | select(.file // "" | endswith("/data"))] | map("\(.writes) \(.write_bytes) \(.reads) \(.read_bytes)") | join(",")' io.json)
[ "$got" = "12 40980 8 6500" ] || fail "those of the file: $got $(jq -c '.rows[] | select(.section == "file")' io.json)"
# Another process that does the same meanwhile is no part of the recording.
ctxrec -q -o run.er -O --io --trace-full wait --no-follow -- sh -c './uses; exec ./uses' 2>err.txt || fail "a child that is not followed: $(cat err.txt)"
ctxan run.er -r io --format json >io.json
got=$(sums_of io.json in_main writes write_bytes reads read_bytes)
[ "$got" = "10 40960 8 6500" ] || fail "with a process beside it: $got"
# Without rights: said in one line, and no error.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
	mkdir user && chown 65534 user && chmod 755 "$work"
	(cd user && setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all env HOME="$work/user" ctxrec -q --no-archive -o run.er --io -- true) 2>err.txt && {
		ctxan user/run.er -r header | grep -q '^io_uring *not recorded: ' || fail "without rights: $(ctxan user/run.er -r header)"
	}
fi
finish
