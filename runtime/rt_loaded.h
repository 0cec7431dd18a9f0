/*
 * What is loaded before a library is opened: what comes then is not in use yet (rt_calls_patch.c, rt_count.c).
 */
#ifndef CTX_RUNTIME_RT_LOADED_H
#define CTX_RUNTIME_RT_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_RT_LOADED_MAX 1024u /* with more objects none is patched */

/* What is loaded. */
struct ctx_rt_loaded {
	bool is_wanted; /* what comes is patched, for calls, coverage or counters; else the rest means nothing */
	bool has_hooks; /* for calls */
	bool is_alone;	/* there is one thread */
	/*
	 * The loader searches elsewhere for the caller than for the runtime: what it opens by a name alone, and everything (what
	 * is opened needs other libraries, too), because of the DT_RUNPATH of the caller, and the DT_RPATH of any library.
	 */
	bool is_own_search, is_inherited_search;
	size_t n;
	uint64_t objects[CTX_RT_LOADED_MAX]; /* where each is, as the loader says */
};

/* Whether an object was loaded there. With more than CTX_RT_LOADED_MAX not all are known. */
static inline bool ctx_rt_loaded_has(const struct ctx_rt_loaded *loaded, uint64_t base)
{
	bool has = false;

	for (size_t i = 0; i < loaded->n && i < CTX_RT_LOADED_MAX; i++)
		has = has || loaded->objects[i] == base;
	return has;
}

#endif
