/*
 * Chain walk: decodes the kernel's call chains, from a ring buffer or a file.
 *
 * A chain is the program counter and then return addresses, with marks where the kernel's part ends
 * and the user's begins. Source: enum perf_callchain_context in include/uapi/linux/perf_event.h.
 *
 *	struct ctx_chainwalk walk = ctx_chainwalk_begin(ctx_chainwalk_part_of(misc));
 *
 *	for each entry, leaf first:
 *		if (ctx_chainwalk_step(&walk, &entry))
 *			`entry` is an address to look up, of walk.part
 */
#ifndef CTX_MODEL_CHAINWALK_H
#define CTX_MODEL_CHAINWALK_H

#include <stdbool.h>
#include <stdint.h>

enum ctx_chainwalk_part {
	CTX_CHAINWALK_KERNEL,
	CTX_CHAINWALK_USER,
	CTX_CHAINWALK_ELSEWHERE, /* hypervisor and guests: addresses of another machine */
};

struct ctx_chainwalk {
	enum ctx_chainwalk_part part; /* that the last entry belongs to */
	bool exact;		      /* the next address is a program counter, not a return address */
};

/* The part that a sample was taken in, by the `misc` of its record's header. */
enum ctx_chainwalk_part ctx_chainwalk_part_of(uint16_t misc);

/* Whether the entry is a mark, not an address. */
bool ctx_chainwalk_is_mark(uint64_t entry);

/* The state before the first entry of a sample taken in `part`. */
struct ctx_chainwalk ctx_chainwalk_begin(enum ctx_chainwalk_part part);

/*
 * Decodes one entry. True: an address; it is changed to one to look up (a return address minus
 * one), without a check against its part. False: a mark, known or not; the next address is exact
 * again.
 */
bool ctx_chainwalk_step(struct ctx_chainwalk *walk, uint64_t *entry);

#endif
