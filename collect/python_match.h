/*
 * Which functions of Python run in which calls of the interpreter's evaluation loop.
 *
 *	native stack, leaf first		Python's frames, innermost first
 *	  memmove				  inner (entry)
 *	  eval  <------------------------------'
 *	  list_sort				  helper
 *	  eval  <------------------------------ outer (entry)
 *	  main
 *
 * Python functions that Python functions call run in the same call of the loop: its frames are those up to the entry.
 * A stack is matched if each call of the loop has its frames; nothing is guessed. Pure.
 */
#ifndef CTX_COLLECT_PYTHON_MATCH_H
#define CTX_COLLECT_PYTHON_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The native stack, as of model/event_source.h, and where the evaluation loop's code is. */
struct ctx_python_native {
	const uint64_t *frames; /* leaf first */
	size_t n;
	uint64_t eval_begin, eval_end;
};

struct ctx_python_named {
	const uint64_t *frames; /* innermost first: ctx_frame_named */
	const bool *is_entry;
	size_t n;
	bool is_cut; /* there are more, nearer to the root */
};

/*
 * Puts the native stack with Python's frames in it to `out`, which has room for both. Returns how many; 0: they do not match.
 * A call of the loop that has just begun, as the leaf, has none yet.
 */
size_t ctx_python_match(const struct ctx_python_native *native, const struct ctx_python_named *named,
			uint64_t *out);

#endif
