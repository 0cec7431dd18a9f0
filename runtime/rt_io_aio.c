/*
 * Asynchronous input and output by libaio: an operation is recorded when the program fetches its result, with the bytes and the error
 * that this has. Its time is from its submission to then, its stack that of io_getevents.
 *
 *	io_submit --control block: time, descriptor, what--> table --io_getevents--> operation
 *
 * The functions are libaio's, or whichever library has them: they return -errno. What is submitted by the system call itself is not seen.
 */
#include "runtime/rt_code.h"
#include "runtime/rt_io.h"
#include "runtime/rt_io_pending.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <time.h>

int io_submit(aio_context_t context, long n, struct iocb **blocks);
int io_getevents(aio_context_t context, long least, long n, struct io_event *events,
		 struct timespec *timeout);
int io_pgetevents(aio_context_t context, long least, long n, struct io_event *events,
		  struct timespec *timeout, void *mask);

static uint8_t call_of(uint16_t opcode)
{
	return opcode == IOCB_CMD_PREAD || opcode == IOCB_CMD_PREADV	 ? CTX_CALL_AIO_READ
	       : opcode == IOCB_CMD_PWRITE || opcode == IOCB_CMD_PWRITEV ? CTX_CALL_AIO_WRITE
									 : CTX_CALL_AIO_OTHER;
}

/* The kernel refuses what cannot be read. */
static bool is_readable(const void *from, size_t n)
{
	return (uintptr_t)from >= CTX_RT_PAGE && ctx_rt_is_readable((uintptr_t)from) &&
	       ctx_rt_is_readable((uintptr_t)from + n - 1);
}

static void note_submitted(long n, struct iocb **blocks)
{
	uint64_t now_ns = ctx_clock_ns(CLOCK_MONOTONIC);

	for (long i = 0; i < n && is_readable(&blocks[i], sizeof(blocks[i])) &&
			 is_readable(blocks[i], sizeof(*blocks[i]));
	     i++) {
		const struct ctx_rt_pending operation = {.begin_ns = now_ns,
							 .fd = (int32_t)blocks[i]->aio_fildes,
							 .what = blocks[i]->aio_lio_opcode};

		ctx_rt_pending_add(blocks[i], &operation);
	}
}

/* Those that were not submitted. */
static void forget(long from, long n, struct iocb **blocks)
{
	struct ctx_rt_pending taken;

	for (long i = from; i < n && is_readable(&blocks[i], sizeof(blocks[i])); i++)
		(void)ctx_rt_pending_take(blocks[i], &taken);
}

CTX_RT_EXPORT int io_submit(aio_context_t context, long n, struct iocb **blocks)
{
	static __typeof__(&io_submit) real;
	bool is_on = ctx_rt_is_on(CTX_RT_WHAT_IO);
	int result;

	if (real == NULL)
		*(void **)&real = ctx_rt_find("io_submit", NULL);
	if (real == NULL)
		return -ENOSYS;
	if (is_on) {
		ctx_rt_io_list();
		note_submitted(n, blocks);
	}
	result = real(context, n, blocks);
	if (is_on && result < n)
		forget(result > 0 ? result : 0, n, blocks);
	return result;
}

static void note_events(long n, const struct io_event *events, const struct ctx_rt_registers *caller)
{
	for (long i = 0; i < n; i++) {
		const struct iocb *block = (const struct iocb *)(uintptr_t)events[i].obj;
		struct ctx_rt_pending found = {.begin_ns = ctx_clock_ns(CLOCK_MONOTONIC)};
		int64_t result = events[i].res;
		struct ctx_rt_io io;

		/* Not submitted here: its block may be gone, which the kernel has a copy of. */
		if (!ctx_rt_pending_take(block, &found)) {
			bool is_there = is_readable(block, sizeof(*block));

			found.fd = is_there ? (int32_t)block->aio_fildes : -1;
			found.what = is_there ? block->aio_lio_opcode : (uint16_t)IOCB_CMD_NOOP;
		}
		io = (struct ctx_rt_io){
			.begin_ns = found.begin_ns, .fd = found.fd, .call = call_of(found.what)};
		if (result > 0 && io.call != CTX_CALL_AIO_OTHER)
			io.size = (uint64_t)result;
		ctx_rt_io_put(&io, result < 0 ? (int)-result : 0, caller);
	}
}

CTX_RT_EXPORT int io_getevents(aio_context_t context, long least, long n, struct io_event *events,
			       struct timespec *timeout)
{
	static __typeof__(&io_getevents) real;
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	int result;

	if (real == NULL)
		*(void **)&real = ctx_rt_find("io_getevents", NULL);
	if (real == NULL)
		return -ENOSYS;
	result = real(context, least, n, events, timeout);
	if (ctx_rt_is_on(CTX_RT_WHAT_IO))
		note_events(result, events, &caller);
	return result;
}

CTX_RT_EXPORT int io_pgetevents(aio_context_t context, long least, long n, struct io_event *events,
				struct timespec *timeout, void *mask)
{
	static __typeof__(&io_pgetevents) real;
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	int result;

	if (real == NULL)
		*(void **)&real = ctx_rt_find("io_pgetevents", NULL);
	if (real == NULL)
		return -ENOSYS;
	result = real(context, least, n, events, timeout, mask);
	if (ctx_rt_is_on(CTX_RT_WHAT_IO))
		note_events(result, events, &caller);
	return result;
}
