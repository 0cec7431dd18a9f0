/*
 * Recording input and output of the program.
 *
 *	function of the program --> begin --> the real function --> end --> one record
 *
 * A record says which function it was, the descriptor, the bytes or the error, begin and end, and the call
 * stack. Names of files: a function that opens one has it with it, as the program gave it; in a new
 * process those of the descriptors that it has are read from /proc and recorded first. Of others, made
 * by a function that is not recorded, the first record says that the name is not known, and the recorder
 * looks for it. What a descriptor is called at which time follows from the records; nothing is
 * looked up while the program goes on.
 *
 * Between begin and end nothing is held: the real function may be cancelled, or leave by longjmp from a
 * signal handler. errno is kept.
 */
#ifndef CTX_RUNTIME_RT_IO_H
#define CTX_RUNTIME_RT_IO_H

#include "model/io_call.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"

#define CTX_RT_EXPORT __attribute__((visibility("default"), noinline))

struct ctx_rt_io {
	uint64_t begin_ns; /* 0: not recorded */
	uint64_t size; /* bytes; of a function that opens: another descriptor that it has to do with, + 1 */
	int32_t fd;    /* -1: none */
	uint8_t call;  /* enum ctx_io_call */
	bool foreign;  /* by a child of vfork, which has descriptors of its own */
	bool is_over;  /* the descriptor is closed already: nobody can look for its name */
	const char *file; /* name; NULL: that of the descriptor */
};

/* Parts of the two functions below. */
void ctx_rt_io_start(struct ctx_rt_io *io);
void ctx_rt_io_finish(struct ctx_rt_io *io, int64_t result, const struct ctx_rt_registers *caller);

/* Before the real function. `fd`: the descriptor, -1 if the function makes it, or has none. */
static inline struct ctx_rt_io ctx_rt_io_begin(enum ctx_io_call call, int fd)
{
	struct ctx_rt_io io = {.fd = fd >= 0 ? fd : -1, .call = (uint8_t)call};

	if (ctx_rt_is_on(CTX_RT_WHAT_IO))
		ctx_rt_io_start(&io);
	return io;
}

/*
 * After it. `result` is what it returned: negative where it failed, bytes of reads and writes, the
 * descriptor where it opens one.
 */
static inline void ctx_rt_io_end(struct ctx_rt_io *io, int64_t result, const struct ctx_rt_registers *caller)
{
	if (io->begin_ns != 0)
		ctx_rt_io_finish(io, result, caller);
}

/* The same of several operations of one function: records it, with `io->size` bytes. */
void ctx_rt_io_put(const struct ctx_rt_io *io, int error, const struct ctx_rt_registers *caller);

/* The name of a further descriptor that was made. */
void ctx_rt_io_name(int fd, const char *name);

/* Descriptors are closed, or another may be in their place, without a record of each. */
void ctx_rt_io_forget(unsigned first, unsigned last);

/*
 * A function of a descriptor `fd` with this type, name, enum ctx_io_call, and parameters, and what of it
 * the real one gets.
 */
#define CTX_RT_IO_FUNCTION(type, name, number, parameters, arguments)                                        \
	CTX_RT_EXPORT type name parameters                                                                   \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io;                                                                         \
		type result;                                                                                 \
                                                                                                             \
		if (!ctx_rt_is_on(CTX_RT_WHAT_IO))                                                           \
			return CTX_RT_REAL(name) arguments;                                                  \
		io = ctx_rt_io_begin(number, fd);                                                            \
		result = CTX_RT_REAL(name) arguments;                                                        \
		ctx_rt_io_end(&io, result, &caller);                                                         \
		return result;                                                                               \
	}

/* Tells the recorder the descriptors of the process, if it does not have them yet. */
void ctx_rt_io_list(void);

#endif
