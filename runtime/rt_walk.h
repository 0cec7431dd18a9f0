/*
 * The unwinder of the runtime: the call stack of the thread that calls it.
 *
 * It follows the same call frame information as unwind/, but reads .eh_frame where the program has it
 * mapped: the row of a pc is found when the pc is first seen (.eh_frame_hdr, then the program of one
 * function, about 1 us) and kept in a table of the thread, so that a step afterwards is a look-up and two
 * loads. Nothing is made when a program or library is loaded.
 *
 * Most frames are those of the stack before: a frame with the same pc, stack pointer and frame pointer as
 * then is left by the same rule, so only what it read is compared, word by word up to the root. What is
 * unchanged is not handed out again.
 *
 * Code without call frame information is left as unwind/ leaves it: its instructions say where the return address
 * may be, or it has a frame pointer, and a caller is taken only where a call stands in front of it. What was found
 * is kept as a row as long as the code next to the pc is the same.
 *
 * Async-signal-safe: no locks, no memory is allocated. Objects are found by _dl_find_object (glibc
 * 2.35), which takes no lock. The thread's own stack is read within its bounds. Of any other one (of
 * sigaltstack, of a coroutine) each page is tried first by a system call that fails where it is not readable:
 * as many pages as the last such stack needed, more if that is not enough.
 */
#ifndef CTX_RUNTIME_RT_WALK_H
#define CTX_RUNTIME_RT_WALK_H

#include "model/event_source.h"
#include "runtime/shared_layout.h"
#include "unwind/cfi_program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_RT_ROWS 2048u      /* kept for a thread; a power of two */
#define CTX_RT_EXPRESSIONS 32u /* of one function; a signal trampoline has 18 */
#define CTX_RT_RETURNS 512u    /* kept return addresses that stand behind a call; a power of two */

struct ctx_rt_row {
	uint64_t address; /* 0: none */
	struct ctx_cfi_summary summary;
};

struct ctx_rt_frame { /* of the last stack */
	uint64_t pc, sp, fp;
	uint64_t fp_at; /* where its caller's frame pointer was read; 0: it is the same */
};

/* What an unwinding thread needs; all zero is valid. Large: in memory of its own. */
struct ctx_rt_walker {
	uint64_t low, top; /* its stack */
	uint32_t pages;	   /* of other stacks: so many are tried behind the stack pointer's */
	bool all_tried;	   /* of the current stack no page is left to be tried */
	/* A frame at `sender_at` may have been moved there from `sender` (HotSpot's adapters); 0: none. */
	uint64_t sender_at, sender;
	uint32_t epoch; /* of ctx_rt_forget_objects */
	/* The last stack: its leaf is at CTX_RT_FRAMES_MAX - depth. */
	uint32_t depth;
	enum ctx_truncation end;
	struct ctx_rt_frame last[CTX_RT_FRAMES_MAX];
	struct ctx_rt_frame fresh[CTX_RT_FRAMES_MAX]; /* scratch, leaf first */
	struct ctx_rt_row rows[CTX_RT_ROWS];
	uint64_t prints[CTX_RT_ROWS];	  /* ctx_rt_code_print of rows of code that may change */
	uint64_t returns[CTX_RT_RETURNS]; /* 0: none */
	struct ctx_cfi_machine machine;	  /* scratch, as all below */
	struct ctx_cfi_state initial;
	struct ctx_bytes expressions[CTX_RT_EXPRESSIONS];
	uint32_t n_expressions;
};

struct ctx_rt_registers { /* of the caller whose stack is wanted, as after the call returns */
	uint64_t pc, sp, fp;
};

/* Those of the caller of the function that uses this, which must have a frame pointer. */
#define CTX_RT_CALLER()                                                                                      \
	((struct ctx_rt_registers){                                                                          \
		.pc = (uintptr_t)__builtin_return_address(0),                                                \
		.sp = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t),                         \
		.fp = *(const uintptr_t *)__builtin_frame_address(0),                                        \
	})

struct ctx_rt_stack {
	const uint64_t *frames; /* the new ones, leaf first, as in model/event_source.h; `n` of them */
	uint32_t n, kept;	/* frames of the stack before, counted from the root, that are still there */
	enum ctx_truncation end;
};

/*
 * The stack, as what is new in it since the call before; at most CTX_RT_FRAMES_MAX frames. `room` has as
 * many.
 */
struct ctx_rt_stack ctx_rt_walk(struct ctx_rt_walker *walker, const struct ctx_rt_registers *caller,
				uint64_t *room);

/* The next stack is handed out whole. */
static inline void ctx_rt_walk_anew(struct ctx_rt_walker *walker)
{
	walker->depth = 0;
}

/* Whether a frame of the last stack is of the function that begins at an address. Some 100 ns a frame. */
bool ctx_rt_walk_has(const struct ctx_rt_walker *walker, const void *function);

/* The same, and nothing else is left either: a walk was not ended. */
static inline void ctx_rt_walk_forget(struct ctx_rt_walker *walker)
{
	walker->epoch--;
	walker->depth = 0;
}

/*
 * Functions may return to code that stands in for their callers: where their return address is `code`, the true one is
 * what `find` says for their CFA. 0: it is not known.
 */
void ctx_rt_walk_stand_in(uint64_t code, uint64_t (*find)(uint64_t cfa));

/* Objects were unloaded: rows of their addresses are forgotten. */
void ctx_rt_forget_objects(void);

/* Whether the C library is recent enough. */
bool ctx_rt_can_walk(void);

#endif
