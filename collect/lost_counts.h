/*
 * Counts of lost records that the kernel keeps for each event (PERF_FORMAT_LOST, Linux 6.0 and
 * later). Records of processes that inherited the event are counted in it.
 */
#ifndef CTX_COLLECT_LOST_COUNTS_H
#define CTX_COLLECT_LOST_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* The read_format for events that are to be counted; 0: this kernel does not count. */
uint64_t ctx_lost_counts_format(void);

struct ctx_lost_count {
	uint64_t id, lost;
};

/* False: the event was not opened with the format above. One system call; O(threads that inherited it). */
bool ctx_lost_count_read(int fd, struct ctx_lost_count *ret);

#endif
