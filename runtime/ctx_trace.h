/*
 * ctx_trace.h: what a program says of itself to `ctxrec --marks`, or to any other recording with --trace.
 *
 *	#include <ctx_trace.h>
 *
 *	ctx_trace_begin("load");
 *	...
 *	ctx_trace_end("load");
 *	ctx_trace_counter("queue", n);
 *	ctx_trace_mark("ready");
 *
 * Nothing is linked: the functions are inline, and call the recorder's library through a pointer that the loader
 * sets if the library is in the process. Without ctxrec it is zero, and a call is one test of it. In statically
 * linked programs, and on other machines than x86-64 with Linux, it is always zero. With CTX_TRACE_DISABLE
 * defined the functions do nothing at all.
 *
 * Reading what was said: `ctxan NAME.er -r marks`; `ctxan NAME.er -i mark:load` selects the first interval "load",
 * `-i mark:ready..mark:done` what was between two marks.
 *
 * Names are texts of 1 to 127 bytes; longer ones are cut, and nothing is recorded with an empty one or NULL. They are
 * copied, and are best few: of a recording the first 4096 are kept, others are "<Others>".
 *
 * All functions may be called by any thread, also in signal handlers (one that interrupts the recording of
 * something else of its thread is counted, not recorded), and keep errno. For C (from C89 with inline) and C++, by
 * gcc and clang.
 */
#ifndef CTX_TRACE_H
#define CTX_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are those of recordings. */
enum ctx_trace_kind {
	CTX_TRACE_MARK = 0,
	CTX_TRACE_BEGIN = 1,
	CTX_TRACE_END = 2,
	CTX_TRACE_BEGIN_ID = 3,
	CTX_TRACE_END_ID = 4,
	CTX_TRACE_COUNTER = 5,
	CTX_TRACE_PAUSE = 6,
	CTX_TRACE_RESUME = 7
};

/* Of the recorder's library. */
typedef void ctx_trace_function(unsigned kind, const char *name, int64_t value);

#if defined(__x86_64__) && defined(__LP64__) && defined(__linux__) && !defined(CTX_TRACE_DISABLE)

/*
 * Its address; 0: the library is not there. By the table of the loader, since a compiler that is told that the
 * program has a fixed address would take the address of a weak function for known to the linker. Each time anew: the
 * library may come while the program runs (ctxrec -p).
 */
static __inline__ __attribute__((unused)) ctx_trace_function *ctx_trace_library(void)
{
	ctx_trace_function *function;

	__asm__ volatile(".weak ctx_trace_event_v1\n\tmovq ctx_trace_event_v1@GOTPCREL(%%rip), %0"
			 : "=r"(function));
	return function;
}

static __inline__ __attribute__((unused)) void ctx_trace_say(enum ctx_trace_kind kind, const char *name,
							     int64_t value)
{
	ctx_trace_function *function = ctx_trace_library();

	if (__builtin_expect(function != 0, 0)) {
		function((unsigned)kind, name, value);
		/* Or the call may be a jump, and the calling function would not be on the stack. */
		__asm__ volatile("");
	}
}

#else

static __inline__ __attribute__((unused)) void ctx_trace_say(enum ctx_trace_kind kind, const char *name,
							     int64_t value)
{
	(void)kind;
	(void)name;
	(void)value;
}

#endif

/* The program is at this point. */
static __inline__ __attribute__((unused)) void ctx_trace_mark(const char *name)
{
	ctx_trace_say(CTX_TRACE_MARK, name, 0);
}

/*
 * A named interval of the calling thread. An end ends the innermost open interval of its name that this thread has
 * begun: intervals may be nested, also in one of the same name, and those of different names may overlap. An
 * end without a begin is counted, and one that never comes leaves the interval open. At most 256 are open
 * in a thread at a time; further ones are not timed.
 */
static __inline__ __attribute__((unused)) void ctx_trace_begin(const char *name)
{
	ctx_trace_say(CTX_TRACE_BEGIN, name, 0);
}

static __inline__ __attribute__((unused)) void ctx_trace_end(const char *name)
{
	ctx_trace_say(CTX_TRACE_END, name, 0);
}

/*
 * The same of the process: it may end in another thread. Intervals of a name are told apart by `id`, such as the
 * number of a request. At most 1024 are open in a process at a time.
 */
static __inline__ __attribute__((unused)) void ctx_trace_begin_id(const char *name, int64_t id)
{
	ctx_trace_say(CTX_TRACE_BEGIN_ID, name, id);
}

static __inline__ __attribute__((unused)) void ctx_trace_end_id(const char *name, int64_t id)
{
	ctx_trace_say(CTX_TRACE_END_ID, name, id);
}

/* A number that the program counts or measures has this value from now on. */
static __inline__ __attribute__((unused)) void ctx_trace_counter(const char *name, int64_t value)
{
	ctx_trace_say(CTX_TRACE_COUNTER, name, value);
}

/*
 * Nothing of the process is recorded by the library from here on, in all its threads, until it resumes: no
 * allocation, no wait for a lock, no input or output. They do not nest: the first resume ends the pause, however
 * often it was asked for, and to resume what goes on does nothing. A forked child is paused if its parent is; a
 * program that is executed is not.
 *
 * What is recorded nevertheless: marks, and what the rest would be wrong without, which is releases of memory, and what opens,
 * closes and names descriptors. So a block that was allocated before a pause and freed in it is no leak, and
 * one that was allocated in it is none either. Samples of the processor go on: the kernel takes them.
 */
static __inline__ __attribute__((unused)) void ctx_trace_pause(void)
{
	ctx_trace_say(CTX_TRACE_PAUSE, "pause", 0);
}

static __inline__ __attribute__((unused)) void ctx_trace_resume(void)
{
	ctx_trace_say(CTX_TRACE_RESUME, "pause", 0);
}

#ifdef __cplusplus
}
#endif

#endif
