/*
 * Builds the frames of a perf sample. The kernel's part always comes from the kernel; the user's
 * part comes from the kernel, which follows frame pointers, or from an unwinder.
 */
#ifndef CTX_COLLECT_CALLCHAIN_H
#define CTX_COLLECT_CALLCHAIN_H

#include "collect/perfrecord.h"
#include "unwind/unwind.h"

/*
 * The kernel's limit can be raised up to this (sysctl kernel.perf_event_max_stack has no upper
 * bound of its own, records have: 64 KiB).
 */
#define CTX_CALLCHAIN_MAX 8192

struct ctx_callchain {
	uint32_t max_stack; /* sysctl kernel.perf_event_max_stack: a chain of this many was cut */
	uint64_t frames[CTX_CALLCHAIN_MAX + 1];
	size_t n;
};

/*
 * Sets frames and n, leaf first: the kernel's part, then the user's. The pc's are exact, callers
 * are return address - 1; CTX_FRAME_TRUNCATED is last when the chain was cut, or ended in an
 * impossible address (the register did not hold a frame pointer). A sample without a chain has its
 * ip alone.
 */
void ctx_callchain_unwind(struct ctx_callchain *chain, const struct ctx_perf_record *sample);

/* The user's part as the kernel has it, borrowed from the sample; n 0: none. */
struct ctx_unwind_chain ctx_callchain_user(const struct ctx_perf_record *sample);

/* An unwound user stack; borrowed. */
struct ctx_unwound {
	const struct ctx_unwind_frame *frames;
	size_t n;
	const struct ctx_unwind_frame *joined; /* callers that an earlier sample had; NULL: none */
	size_t n_joined;
	bool has_gap;		 /* frames are missing in front of the joined ones */
	bool is_in_exec;	 /* the stack is whole, without the program's frames */
	enum ctx_truncation end; /* why it ends where it does */
};

/*
 * The same with an unwound user part: CTX_FRAME_JOINED or CTX_FRAME_GAP in front of joined callers,
 * ctx_frame_truncated or CTX_FRAME_EXEC last unless the root was reached. Where nothing could be unwound, and the
 * kernel's chain has more, the chain is taken.
 */
void ctx_callchain_compose(struct ctx_callchain *chain, const struct ctx_perf_record *sample,
			   const struct ctx_unwound *user);

/*
 * The same for a sample without a chain of the kernel: its ip, and with one word of the stack, at the entry of a function, its
 * caller; CTX_TRUNCATED_COUNTED last.
 */
void ctx_callchain_edge(struct ctx_callchain *chain, const struct ctx_perf_record *sample);

/* Appends the reason why a chain of ctx_callchain_unwind was not unwound further. */
void ctx_callchain_end(struct ctx_callchain *chain, enum ctx_truncation end);

#endif
