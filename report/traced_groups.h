/*
 * Sums of traced operations by an arbitrary key: stacks, files, objects.
 */
#ifndef CTX_REPORT_TRACED_GROUPS_H
#define CTX_REPORT_TRACED_GROUPS_H

#include "base/map64.h"
#include "model/profile.h"
#include "report/order.h"

#define CTX_TRACED_ERROR (CTX_IO_OTHER + 1) /* calls that failed, of any operation */
#define CTX_TRACED_CALLS (CTX_TRACED_ERROR + 1)

struct ctx_traced_sums {
	uint64_t count, bytes,
		largest; /* all operations that were added, their bytes, the most bytes of one */
	uint64_t time_ns, longest_ns;
	uint32_t longest_stack; /* of the longest */
	uint64_t leaks, leaked_bytes, largest_leak;
	uint64_t held, held_bytes;		 /* allocations that lived at the peak */
	uint64_t held_at_end, held_at_end_bytes; /* of the selected time */
	uint64_t first_bytes;			 /* that lived at the end of the first interval */
	uint64_t temporary;			 /* freed by the next operation of their thread */
	/* Of sampled allocations numbers are estimates, in units of 1 / 2^shift. 0: all were recorded. */
	unsigned shift;
	double count_variance, bytes_variance; /* of the estimates */
	uint64_t calls[CTX_TRACED_CALLS], call_ns[CTX_TRACED_CALLS],
		call_bytes[CTX_TRACED_CALLS]; /* I/O; errors have no bytes */
};

struct ctx_traced_group {
	uint64_t key;
	const char *text; /* borrowed; NULL unless set by the report */
	uint32_t stack;	  /* CCT node of the group; 0 none */
	uint32_t process, thread, file;
	int32_t descriptor;
	uint64_t address;
	struct ctx_traced_sums sums;
};

struct ctx_traced_groups {
	struct ctx_traced_group *items; /* owned */
	size_t n, cap;
	struct ctx_map64 map;
};

void ctx_traced_groups_deinit(struct ctx_traced_groups *groups);

/*
 * The group of a key, created if it is new (all zero but the key). Valid until the next call. NULL:
 * no memory.
 */
struct ctx_traced_group *ctx_traced_group_at(struct ctx_traced_groups *groups, uint64_t key);

/* The same of operations with one call stack, which is the key. */
struct ctx_traced_group *ctx_traced_stack_group(struct ctx_traced_groups *groups, uint32_t stack);

/* Merges groups with the same text, and releases the map. */
void ctx_traced_groups_merge(struct ctx_traced_groups *groups);

void ctx_traced_add(struct ctx_traced_sums *to, const struct ctx_traced *operation);

#define CTX_TRACED_SHIFT 8u

/*
 * The same of an allocation that was sampled so many bytes apart, and stands for several
 * (model/heap_sampling.h); 0: it was not sampled.
 */
void ctx_traced_add_sampled(struct ctx_traced_sums *to, const struct ctx_traced *operation,
			    uint64_t sample_bytes);

/* A number of allocations as `count` and its like have it, and back, rounded. */
static inline uint64_t ctx_traced_fixed(const struct ctx_traced_sums *sums, double number)
{
	return (uint64_t)(number * (double)(1u << sums->shift) + 0.5);
}

static inline uint64_t ctx_traced_whole(const struct ctx_traced_sums *sums, uint64_t fixed)
{
	return (fixed + (1u << sums->shift >> 1)) >> sums->shift;
}

/*
 * A dense number for each value, from 0, so that a pair of arbitrary values fits into a key of 64
 * bits. CTX_MAP64_NONE: no memory.
 */
uint32_t ctx_traced_number(struct ctx_map64 *map, uint64_t value);

/* Powers of two: 0, 1, 2-3, 4-7, ... */
#define CTX_TRACED_BUCKETS 65

unsigned ctx_traced_bucket(uint64_t value);
uint64_t ctx_traced_bucket_first(unsigned bucket);
uint64_t ctx_traced_bucket_last(unsigned bucket);

#endif
