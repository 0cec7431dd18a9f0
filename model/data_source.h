/*
 * Where the data of an access to memory was: the word PERF_SAMPLE_DATA_SRC of the kernel, whose bits are those of
 * union perf_mem_data_src. 0 is unknown, and so is each part that is not available. Source:
 * include/uapi/linux/perf_event.h.
 */
#ifndef CTX_MODEL_DATA_SOURCE_H
#define CTX_MODEL_DATA_SOURCE_H

#include "model/traced.h"

#include <stdbool.h>
#include <stdint.h>

/* From near to far. Values of MLEVEL: only additions. */
enum ctx_data_level {
	CTX_DATA_UNKNOWN = 0,
	CTX_DATA_L1,
	CTX_DATA_FILL_BUFFER, /* a line that was under way already */
	CTX_DATA_L2,
	CTX_DATA_L3,
	CTX_DATA_L4,
	CTX_DATA_ANY_CACHE,
	CTX_DATA_REMOTE_CACHE, /* of another processor */
	CTX_DATA_RAM,
	CTX_DATA_REMOTE_RAM,
	CTX_DATA_PERSISTENT,
	CTX_DATA_CXL,
	CTX_DATA_IO,
	CTX_DATA_UNCACHED,
	CTX_DATA_LEVEL_N,
};

enum ctx_data_snoop { /* what other caches answered */
		      CTX_SNOOP_UNKNOWN = 0,
		      CTX_SNOOP_NONE,
		      CTX_SNOOP_HIT,
		      CTX_SNOOP_MISS,
		      CTX_SNOOP_HITM, /* one had the line modified */
		      CTX_SNOOP_FORWARD,
		      CTX_SNOOP_PEER,
		      CTX_SNOOP_N,
};

enum ctx_data_tlb { /* where the translation of the address was */
		    CTX_TLB_UNKNOWN = 0,
		    CTX_TLB_L1,
		    CTX_TLB_L1_OR_L2,
		    CTX_TLB_L2,
		    CTX_TLB_MISS,  /* neither; it is not said what helped */
		    CTX_TLB_WALK,  /* the processor walked the tables */
		    CTX_TLB_FAULT, /* the kernel had to help */
		    CTX_TLB_N,
};

/* The kernel reports no growth of a program's stack: so far below [stack], where nothing is mapped, is the stack. */
#define CTX_STACK_GROWTH_MAX ((uint64_t)64 << 20)

enum ctx_memory_operation ctx_data_operation_of(uint64_t data_source);
enum ctx_data_level ctx_data_level_of(uint64_t data_source);
enum ctx_data_snoop ctx_data_snoop_of(uint64_t data_source);
enum ctx_data_tlb ctx_data_tlb_of(uint64_t data_source);

/* Whether the level did not have the data: it came from behind. */
bool ctx_data_is_miss(uint64_t data_source);
bool ctx_data_is_locked(uint64_t data_source);

/* "L1", "remote RAM", "?"; "hit modified"; "walk". "?" is unknown, and any other number. */
const char *ctx_data_level_name(enum ctx_data_level level);
const char *ctx_data_snoop_name(enum ctx_data_snoop snoop);
const char *ctx_data_tlb_name(enum ctx_data_tlb tlb);

#endif
