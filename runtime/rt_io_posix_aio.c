/*
 * Asynchronous input and output of POSIX, which the C library does in threads of its own: as libaio's (rt_io_aio.c), an operation is
 * recorded when the program fetches its result by aio_return, with the bytes and the error that this has. Its time is from its submission
 * to then. An operation whose result nobody fetches is none.
 *
 * The functions of 64-bit offsets are the same: of a control block its descriptor and its kind are read, which come first in both.
 */
#include "runtime/rt_io.h"
#include "runtime/rt_io_pending.h"

#include "base/clock.h"

#include <aio.h>
#include <errno.h>

static void note_submitted(const struct aiocb *block, enum ctx_io_call call)
{
	const struct ctx_rt_pending operation = {
		.begin_ns = ctx_clock_ns(CLOCK_MONOTONIC), .fd = block->aio_fildes, .what = (uint16_t)call};

	ctx_rt_io_list();
	ctx_rt_pending_add(block, &operation);
}

/* It was refused, unless it is recorded by another thread already. */
static void note_refused(const struct aiocb *block)
{
	struct ctx_rt_pending refused;

	(void)ctx_rt_pending_take(block, &refused);
}

static void note_result(const struct ctx_rt_pending *operation, ssize_t result, int error,
			const struct ctx_rt_registers *caller)
{
	struct ctx_rt_io io = {
		.begin_ns = operation->begin_ns, .fd = operation->fd, .call = (uint8_t)operation->what};

	if (result > 0 && io.call != CTX_CALL_AIO_OTHER)
		io.size = (uint64_t)result;
	ctx_rt_io_put(&io, result < 0 ? error : 0, caller);
}

/* The real function, looked for once. */
#define REAL(name)                                                                                           \
	({                                                                                                   \
		static __typeof__(&(name)) real_;                                                            \
                                                                                                             \
		if (real_ == NULL)                                                                           \
			*(void **)&real_ = ctx_rt_find(#name, NULL);                                         \
		real_;                                                                                       \
	})

#define REFUSE()                                                                                             \
	do {                                                                                                 \
		errno = ENOSYS;                                                                              \
		return -1;                                                                                   \
	} while (0)

/* A function that submits `block`; `arguments` are those of the real one. */
#define SUBMITS(name, number, parameters, arguments)                                                         \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const __typeof__(&(name)) real = REAL(name);                                                 \
		bool is_on = ctx_rt_is_on(CTX_RT_WHAT_IO);                                                   \
		int result;                                                                                  \
                                                                                                             \
		if (real == NULL)                                                                            \
			REFUSE();                                                                            \
		if (is_on)                                                                                   \
			note_submitted((const struct aiocb *)block, number);                                 \
		result = real arguments;                                                                     \
		if (is_on && result != 0)                                                                    \
			note_refused((const struct aiocb *)block);                                           \
		return result;                                                                               \
	}

SUBMITS(aio_read, CTX_CALL_AIO_READ, (struct aiocb * block), (block))
SUBMITS(aio_read64, CTX_CALL_AIO_READ, (struct aiocb64 * block), (block))
SUBMITS(aio_write, CTX_CALL_AIO_WRITE, (struct aiocb * block), (block))
SUBMITS(aio_write64, CTX_CALL_AIO_WRITE, (struct aiocb64 * block), (block))
SUBMITS(aio_fsync, CTX_CALL_AIO_OTHER, (int operation, struct aiocb *block), (operation, block))
SUBMITS(aio_fsync64, CTX_CALL_AIO_OTHER, (int operation, struct aiocb64 *block), (operation, block))

static void note_list(struct aiocb *const *blocks, int n)
{
	for (int i = 0; i < n; i++) {
		if (blocks[i] != NULL && blocks[i]->aio_lio_opcode != LIO_NOP)
			note_submitted(blocks[i], blocks[i]->aio_lio_opcode == LIO_READ ? CTX_CALL_AIO_READ
											: CTX_CALL_AIO_WRITE);
	}
}

/* Of a list that is refused in part the program fetches the results of what was submitted. */
CTX_RT_EXPORT int lio_listio(int mode, struct aiocb *const blocks[], int n, struct sigevent *event)
{
	const __typeof__(&lio_listio) real = REAL(lio_listio);

	if (real == NULL)
		REFUSE();
	if (ctx_rt_is_on(CTX_RT_WHAT_IO))
		note_list(blocks, n);
	return real(mode, blocks, n, event);
}

CTX_RT_EXPORT int lio_listio64(int mode, struct aiocb64 *const blocks[], int n, struct sigevent *event)
{
	const __typeof__(&lio_listio64) real = REAL(lio_listio64);

	if (real == NULL)
		REFUSE();
	if (ctx_rt_is_on(CTX_RT_WHAT_IO))
		note_list((struct aiocb *const *)blocks, n);
	return real(mode, blocks, n, event);
}

/* The result is there once; what is not over yet, or was not submitted, has none. */
#define FETCHES(name, error_of, type)                                                                        \
	CTX_RT_EXPORT ssize_t name(struct type *block)                                                       \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		const __typeof__(&(name)) real = REAL(name);                                                 \
		const __typeof__(&(error_of)) real_error = REAL(error_of);                                   \
		struct ctx_rt_pending operation;                                                             \
		ssize_t result;                                                                              \
		int error;                                                                                   \
                                                                                                             \
		if (real == NULL || real_error == NULL)                                                      \
			REFUSE();                                                                            \
		if (!ctx_rt_is_on(CTX_RT_WHAT_IO))                                                           \
			return real(block);                                                                  \
		error = real_error(block);                                                                   \
		result = real(block);                                                                        \
		if (error != EINPROGRESS && ctx_rt_pending_take(block, &operation))                          \
			note_result(&operation, result, error, &caller);                                     \
		return result;                                                                               \
	}

FETCHES(aio_return, aio_error, aiocb)
FETCHES(aio_return64, aio_error64, aiocb64)
