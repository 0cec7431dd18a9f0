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

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <time.h>

#define PENDING 4096u /* a power of two; of more at a time the duration is not known */
#define TRIES 64u

struct pending {
	_Atomic uint64_t block; /* 0: free; 1: it is being written */
	uint64_t begin_ns;
	int32_t fd;
	uint16_t opcode;
};

static struct pending pending[PENDING];

int io_submit(aio_context_t context, long n, struct iocb **blocks);
int io_getevents(aio_context_t context, long least, long n, struct io_event *events,
		 struct timespec *timeout);
int io_pgetevents(aio_context_t context, long least, long n, struct io_event *events,
		  struct timespec *timeout, void *mask);

static uint32_t place_of(uint64_t block)
{
	return (uint32_t)(block >> 4 ^ block >> 16) & (PENDING - 1);
}

static void add(const struct iocb *block, uint64_t now_ns)
{
	for (uint32_t i = 0, at = place_of((uintptr_t)block); i < TRIES; i++, at = (at + 1) & (PENDING - 1)) {
		uint64_t free_one = 0;

		if (!atomic_compare_exchange_strong(&pending[at].block, &free_one, 1))
			continue;
		pending[at].begin_ns = now_ns;
		pending[at].fd = (int32_t)block->aio_fildes;
		pending[at].opcode = block->aio_lio_opcode;
		atomic_store_explicit(&pending[at].block, (uintptr_t)block, memory_order_release);
		return;
	}
}

/* Removes it. False: it was not there. */
static bool take(uint64_t block, struct pending *ret)
{
	for (uint32_t i = 0, at = place_of(block); i < TRIES; i++, at = (at + 1) & (PENDING - 1)) {
		uint64_t expected = block;

		if (atomic_load_explicit(&pending[at].block, memory_order_acquire) != block)
			continue;
		ret->begin_ns = pending[at].begin_ns;
		ret->fd = pending[at].fd;
		ret->opcode = pending[at].opcode;
		return atomic_compare_exchange_strong(&pending[at].block, &expected, 0);
	}
	return false;
}

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
	     i++)
		add(blocks[i], now_ns);
}

/* Those that were not submitted. */
static void forget(long from, long n, struct iocb **blocks)
{
	struct pending taken;

	for (long i = from; i < n && is_readable(&blocks[i], sizeof(blocks[i])); i++)
		(void)take((uintptr_t)blocks[i], &taken);
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
		struct pending found = {.begin_ns = ctx_clock_ns(CLOCK_MONOTONIC)};
		int64_t result = events[i].res;
		struct ctx_rt_io io;

		if (!take(events[i].obj, &found)) {
			found.fd = (int32_t)block->aio_fildes;
			found.opcode = block->aio_lio_opcode;
		}
		io = (struct ctx_rt_io){
			.begin_ns = found.begin_ns, .fd = found.fd, .call = call_of(found.opcode)};
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
