# ctxrec --io of asynchronous input and output: libaio's operations and those of POSIX with their bytes, files and callers.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime

# What of libaio is used here.
cat >stand_in.c <<'END_C'
#include <errno.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>
static int result(long value) { return value < 0 ? -errno : (int)value; }
int io_setup(int n, aio_context_t *context) { return result(syscall(SYS_io_setup, n, context)); }
int io_submit(aio_context_t context, long n, struct iocb **blocks) { return result(syscall(SYS_io_submit, context, n, blocks)); }
int io_getevents(aio_context_t context, long least, long n, struct io_event *events, void *timeout)
{
	return result(syscall(SYS_io_getevents, context, least, n, events, timeout));
}
END_C
cat >uses.c <<'END_C'
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int io_setup(int n, aio_context_t *context);
int io_submit(aio_context_t context, long n, struct iocb **blocks);
int io_getevents(aio_context_t context, long least, long n, struct io_event *events, void *timeout);
static char buffer[16][4096];
static aio_context_t context;
static struct iocb block(int i, int fd, int opcode, long bytes)
{
	return (struct iocb){.aio_fildes = (unsigned)fd, .aio_lio_opcode = (unsigned short)opcode, .aio_buf = (unsigned long)buffer[i],
			     .aio_nbytes = (unsigned long)bytes, .aio_offset = 4096 * i, .aio_data = (unsigned long)i};
}
__attribute__((noinline)) static void fetches(long n)
{
	struct io_event events[16];
	while (n > 0) {
		int got = io_getevents(context, 1, n < 16 ? n : 16, events, NULL);
		if (got <= 0)
			exit(3);
		n -= got;
	}
}
__attribute__((noinline)) static void submits(int fd, int opcode, long n, long bytes)
{
	struct iocb blocks[16], *all[16];
	for (int i = 0; i < n; i++) {
		*(all[i] = &blocks[i]) = block(i, fd, opcode, bytes);
		if (bytes == 0)
			blocks[i].aio_buf = blocks[i].aio_offset = 0;
	}
	if (io_submit(context, n, all) != n)
		exit(4);
	fetches(n);
}
__attribute__((noinline)) static ssize_t returns(struct aiocb *block)
{
	const struct aiocb *list[1] = {block};

	while (aio_error(block) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	return aio_return(block);
}
static struct aiocb posix(int i, int fd, int what, size_t bytes)
{
	return (struct aiocb){.aio_fildes = fd, .aio_buf = buffer[i], .aio_nbytes = bytes, .aio_offset = 4096 * i, .aio_lio_opcode = what};
}
/* Four writes of 1700 bytes, three reads of 696, a refused read, a flush; what is submitted and never asked for is none. */
static int uses_posix(int fd)
{
	struct aiocb blocks[6], *list[6];
	ssize_t sum = 0;

	for (int i = 0; i < 3; i++) {
		blocks[i] = posix(i, fd, LIO_NOP, 500);
		if (aio_write(&blocks[i]) != 0)
			return 10;
		sum += returns(&blocks[i]);
	}
	for (int i = 0; i < 6; i++)
		list[i] = &blocks[i];
	blocks[0] = posix(0, fd, LIO_READ, 300);
	blocks[1] = posix(1, fd, LIO_READ, 300);
	blocks[2] = posix(2, fd, LIO_WRITE, 200);
	blocks[3] = posix(3, fd, LIO_NOP, 900);
	list[4] = NULL;
	blocks[5] = posix(2, fd, LIO_READ, 96);
	if (lio_listio(LIO_WAIT, list, 6, NULL) != 0)
		return 11;
	sum += returns(&blocks[0]) + returns(&blocks[1]) + returns(&blocks[2]) + returns(&blocks[5]);
	blocks[0] = posix(0, -1, LIO_READ, 100);
	if (aio_read(&blocks[0]) == 0 && returns(&blocks[0]) != -1)
		return 12;
	blocks[1] = posix(0, fd, LIO_NOP, 0);
	if (aio_fsync(O_SYNC, &blocks[1]) != 0 || returns(&blocks[1]) != 0)
		return 13;
	/* Refused at once; a result that was fetched already is none again. */
	if (aio_fsync(12345, &blocks[2]) != -1 || errno != EINVAL)
		return 14;
	(void)aio_return(&blocks[1]);
	return sum == 2396 ? 0 : 15;
}
int main(void)
{
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct iocb good = block(0, fd, IOCB_CMD_PREAD, 100), bad = block(1, -1, IOCB_CMD_PREAD, 100), *both[2] = {&good, &bad};

	if (io_setup(16, &context) != 0)
		return 77;
	submits(fd, IOCB_CMD_PWRITE, 10, 4096);
	submits(fd, IOCB_CMD_PREAD, 5, 1000);
	submits(fd, IOCB_CMD_FSYNC, 1, 0);
	/* At the end of the file there are 96 bytes less. */
	good.aio_offset = 4096 * 10 - 4;
	if (io_submit(context, 2, both) != 1)
		return 5;
	fetches(1);
	/* What the kernel refuses is refused as without. */
	if (io_submit(context, 1, NULL) != -EFAULT || io_submit(context, 1, (struct iocb *[]){(struct iocb *)8}) != -EFAULT)
		return 6;
	/* Submitted by the system call, and its block is gone when the result is fetched: what it was is not known. */
	both[0] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*both[0] = block(0, fd, IOCB_CMD_PREAD, 100);
	if (syscall(SYS_io_submit, context, 1, both) != 1 || munmap(both[0], 4096) != 0)
		return 7;
	fetches(1);
	return uses_posix(open("posix", O_RDWR | O_CREAT | O_TRUNC, 0600));
}
END_C
cc -O1 -g -shared -fPIC -o libstand_in.so stand_in.c && cc -O1 -g -o uses uses.c -L. -lstand_in -Wl,-rpath,"$PWD" || fail "uses.c"
./uses
got=$?
[ $got != 77 ] || skip "the kernel has no asynchronous input and output"
[ $got = 0 ] || fail "the program alone: $got"
ctxrec -q -o run.er --io --trace-full wait -- ./uses 2>err.txt
got=$?
[ $got = 0 ] && [ ! -s err.txt ] || fail "exit status $got: $(cat err.txt)"
ctxan run.er -r io --format json >io.json || fail "report"
got=$(sums_of io.json fetches writes write_bytes reads read_bytes others errors)
[ "$got" = "10 40960 6 5004 2 0" ] || fail "libaio's operations: $got"
got=$(sums_of io.json submits writes write_bytes reads read_bytes others errors)
[ "$got" = "10 40960 5 5000 1 0" ] || fail "those of one caller: $got"
got=$(jq -r '[.rows[] | select(.section == "file") | select((.file // .name // "") | endswith("/data"))] | map("\(.writes) \(.write_bytes) \(.reads) \(.read_bytes)") | join(",")' io.json)
[ "$got" = "10 40960 6 5004" ] || fail "those of the file: $got $(jq -c '.rows[] | select(.section == "file")' io.json)"
got=$(sums_of io.json returns writes write_bytes reads read_bytes others errors)
[ "$got" = "4 1700 3 696 1 1" ] || fail "operations of POSIX: $got"
got=$(jq -r '[.rows[] | select(.section == "file") | select((.file // .name // "") | endswith("/posix"))] | map("\(.writes) \(.write_bytes) \(.reads) \(.read_bytes)") | join(",")' io.json)
[ "$got" = "4 1700 3 696" ] || fail "those of the file: $got $(jq -c '.rows[] | select(.section == "file")' io.json)"
finish
