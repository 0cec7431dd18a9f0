/*
 * Format of the data files of an experiment: file header, block header, and the payloads of most
 * kinds of block. Used by writer and reader.
 *
 *	file    = file header, block, block, ...
 *	block   = block header (64 bytes), zstd frame of the payload
 *
 * docs/experiment-format.md is the reference. Everything is little-endian.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_BLOCK_H
#define CTX_FORMATS_EXPERIMENT_EXP_BLOCK_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "model/profile.h"
#include "model/traced.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_VERSION 3 /* what is written; older ones are read */
#define CTX_EXP_FILE_HEADER_BYTES 16u
#define CTX_EXP_BLOCK_HEADER_BYTES 64u
#define CTX_EXP_BLOCK_HEADER_MAX 4096u /* a later minor version may append fields */
#define CTX_EXP_BLOCK_MAGIC                                                                                  \
	"\xf5"                                                                                               \
	"CXb"
#define CTX_EXP_RAW_MAX ((uint32_t)4 << 20)   /* payload bytes; larger is damage */
#define CTX_EXP_FRAME_MAX ((uint32_t)5 << 20) /* compressed bytes; larger is damage */

enum ctx_exp_block_kind {
	CTX_EXP_BLOCK_PROFILE = 1,  /* samples in columns */
	CTX_EXP_BLOCK_FRAMES = 2,   /* call stacks */
	CTX_EXP_BLOCK_OVERVIEW = 3, /* resource use */
	CTX_EXP_BLOCK_KEPT = 4,	    /* registers and copied stacks: exp_keep.h */
	/* Thread state changes as interpreted by older recorders; read only. */
	CTX_EXP_BLOCK_STATES = 5,
	CTX_EXP_BLOCK_SEEN = 6, /* observed thread state changes, in the same columns as samples */
	CTX_EXP_BLOCK_HEAP = 7, /* heap operations: exp_heap_code.h */
	CTX_EXP_BLOCK_SYNC = 8, /* synchronisation: the columns of samples, and more (exp_sync_block.c) */
	CTX_EXP_BLOCK_IO = 9,	/* input and output: exp_io_block.h */
	CTX_EXP_BLOCK_PACKED_FRAMES = 10, /* call stacks of older recorders: exp_packed_frames.h; read only */
	CTX_EXP_BLOCK_CALLS = 11,	  /* call stacks: exp_calls.h */
	CTX_EXP_BLOCK_MARKS = 12,	  /* what programs say: the columns and names of input and output */
	CTX_EXP_BLOCK_LARGE_HEAP = 13,	  /* as CTX_EXP_BLOCK_HEAP, of more operations */
	CTX_EXP_BLOCK_CALL_EVENTS = 14,	  /* calls that begin and end: exp_callevents.h */
	CTX_EXP_BLOCK_OMP = 15, /* OpenMP: the columns of samples, of events and values (model/omp.h) */
	CTX_EXP_BLOCK_ACCESSES =
		16, /* accesses to memory: those of input and output, and more (exp_io_block.h) */
};

struct ctx_exp_block_header {
	uint32_t header_bytes; /* whole header; the zstd frame follows */
	uint32_t kind;	       /* enum ctx_exp_block_kind, or a kind of a later version */
	uint32_t raw_bytes;
	uint32_t frame_bytes;
	uint32_t n_records;
	uint32_t epoch;
	uint32_t process;	    /* number; CTX_NONE in an overview */
	uint64_t first_ns, last_ns; /* relative; 0 in frames */
	uint64_t checksum;	    /* XXH3 of the zstd frame */
};

/* Appends the 16 bytes of the file header. */
void ctx_exp_put_file_header(struct ctx_buf *out);

/*
 * Fails with CTX_E_FORMAT (not a data file) or CTX_E_VERSION (a newer one). `bytes` has
 * CTX_EXP_FILE_HEADER_BYTES.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_check_file_header(const uint8_t *bytes, struct ctx_err *err);

/* Writes the 64 bytes of a header, with its own checksum, to `out`. */
void ctx_exp_encode_block_header(const struct ctx_exp_block_header *header,
				 uint8_t out[CTX_EXP_BLOCK_HEADER_BYTES]);

/*
 * Reads a header from at most `n` bytes. Fails with CTX_E_FORMAT when the bytes are not a header,
 * and with CTX_E_LIMIT when the header is longer than `n` (up to CTX_EXP_BLOCK_HEADER_MAX); then
 * ret->header_bytes is set.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_decode_block_header(const uint8_t *bytes, size_t n,
							   struct ctx_exp_block_header *ret,
							   struct ctx_err *err);

/* Does it hold call stacks, in any form? */
static inline bool ctx_exp_block_has_frames(const struct ctx_exp_block_header *header)
{
	return header->kind == CTX_EXP_BLOCK_FRAMES || header->kind == CTX_EXP_BLOCK_PACKED_FRAMES ||
	       header->kind == CTX_EXP_BLOCK_CALLS;
}

/* Does the block hold thread state changes, of either kind? */
static inline bool ctx_exp_block_has_changes(const struct ctx_exp_block_header *header)
{
	return header->kind == CTX_EXP_BLOCK_STATES || header->kind == CTX_EXP_BLOCK_SEEN;
}

/* Does the block hold heap operations, few or many? */
static inline bool ctx_exp_block_has_heap(const struct ctx_exp_block_header *header)
{
	return header->kind == CTX_EXP_BLOCK_HEAP || header->kind == CTX_EXP_BLOCK_LARGE_HEAP;
}

/* The kind of its traced operations; CTX_TRACED_N: it has none. */
static inline enum ctx_traced_kind ctx_exp_block_traced(const struct ctx_exp_block_header *header)
{
	return ctx_exp_block_has_heap(header)		? CTX_TRACED_HEAP
	       : header->kind == CTX_EXP_BLOCK_SYNC	? CTX_TRACED_SYNC
	       : header->kind == CTX_EXP_BLOCK_IO	? CTX_TRACED_IO
	       : header->kind == CTX_EXP_BLOCK_MARKS	? CTX_TRACED_MARK
	       : header->kind == CTX_EXP_BLOCK_OMP	? CTX_TRACED_OMP
	       : header->kind == CTX_EXP_BLOCK_ACCESSES ? CTX_TRACED_MEMORY
							: CTX_TRACED_N;
}

/* A sample, a thread state change or a heap operation in memory, in writer and reader. */
struct ctx_exp_packet {
	uint64_t time_ns; /* relative */
	union {
		uint64_t weight; /* sample. 0: the period of the metric */
		uint64_t waker;	 /* change. 0: none; 2 k + 1: thread k; 2 k + 2: external waker k */
		uint64_t
			size; /* heap operation, input or output: bytes; mark: its value, zigzag; OpenMP: the value; access: its address */
		uint64_t duration_ns; /* synchronisation; of CTX_SYNC_ORDER modes */
	};
	uint32_t stack;
	uint32_t thread;
	union {
		int32_t cpu;	/* -1 unknown */
		uint32_t place; /* heap operation that was read: in its block */
	};
	union {
		uint16_t metric; /* sample */
		uint16_t change; /* change: enum ctx_state_change */
		uint16_t
			operation; /* enum ctx_heap_operation, ctx_io_call, ctx_mark_operation, ctx_omp_event, ctx_memory_operation; enum ctx_sync_operation with flags */
	};
	uint16_t order; /* of arrival in the block, so that sorting by time is stable */
};

/* The rest of a heap operation. */
struct ctx_exp_heap_addresses {
	uint64_t address;     /* allocated or freed */
	uint64_t old_address; /* of a reallocation */
};

/* The rest of an operation of synchronisation. */
struct ctx_exp_sync_rest {
	uint64_t object;
	uint64_t other; /* by operation: see exp_sync_block.c */
};

/* Its number in a packet: the operation, and whether it is a wait that failed. */
#define CTX_EXP_SYNC_OPERATION 0xffu
#define CTX_EXP_SYNC_FAILED 0x100u

/* The same of OpenMP: the event, and whether the leaf of its stack is the function that a construct runs. */
#define CTX_EXP_OMP_EVENT 0xffu
#define CTX_EXP_OMP_BODY 0x100u

#define CTX_EXP_STATES_FILE "states"
#define CTX_EXP_HEAP_FILE "heaptrace"
#define CTX_EXP_SYNC_FILE "synctrace"
#define CTX_EXP_IO_FILE "iotrace"
#define CTX_EXP_MARKS_FILE "marktrace"
#define CTX_EXP_CALLS_FILE "callevents"
#define CTX_EXP_OMP_FILE "omptrace"
#define CTX_EXP_ACCESSES_FILE "accesses"

/* The files above: of one kind of records each, whatever the metrics are. */
#define CTX_EXP_RECORD_FILES 8u
extern const char *const ctx_exp_record_files[CTX_EXP_RECORD_FILES];
bool ctx_exp_is_record_file(const char *name);

/* Encodes the waker of a packet. At most one of the two is not CTX_NONE. */
static inline uint64_t ctx_exp_waker(uint32_t thread, uint32_t external_waker)
{
	if (thread != CTX_NONE)
		return 2 * (uint64_t)thread + 1;
	return external_waker != CTX_NONE ? 2 * (uint64_t)external_waker + 2 : 0;
}

#define CTX_EXP_PACKETS_MAX 16384u /* per block; fits packet.order */

/*
 * Appends the payload of a block of samples or changes. Packets are sorted by time; n is not 0. An
 * allocation failure is sticky in `out`.
 */
void ctx_exp_encode_packets(const struct ctx_exp_packet *packets, size_t n, struct ctx_buf *out);

/*
 * Decodes a payload; `packets` has room for n (the header's n_records). Times are computed
 * from first_ns. Fails with CTX_E_FORMAT.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_decode_packets(struct ctx_bytes payload, uint64_t first_ns,
						      struct ctx_exp_packet *packets, size_t n,
						      struct ctx_err *err);

/* The same from a cursor, which stands behind the columns then. */
CTX_MUST_CHECK enum ctx_status ctx_exp_decode_columns(struct ctx_cursor *cursor, uint64_t first_ns,
						      struct ctx_exp_packet *packets, size_t n,
						      struct ctx_err *err);

/* The same for synchronisation. */
void ctx_exp_encode_sync(const struct ctx_exp_packet *packets, const struct ctx_exp_sync_rest *rests,
			 size_t n, struct ctx_buf *out);

struct ctx_exp_sync_block { /* room for the operations of a block */
	struct ctx_exp_packet *packets;
	struct ctx_exp_sync_rest *rests;
	size_t n;
};
CTX_MUST_CHECK enum ctx_status ctx_exp_decode_sync(struct ctx_bytes payload, uint64_t first_ns,
						   const struct ctx_exp_sync_block *ret, struct ctx_err *err);

/*
 * A frames payload is: varint id of the first node; then records, each varint prefix (a node's id),
 * varint k >= 1, and k addresses, root-most first, each as zigzag difference to the previous one in
 * the payload (initially 0). A record creates k nodes with consecutive ids; the first is a child of
 * the prefix.
 */
struct ctx_exp_frames_in {
	struct ctx_cursor cursor;
	uint64_t address; /* the previous one */
	uint32_t next_id;
	uint32_t parent;
	uint32_t left; /* of the record */
};

/* Starts reading a frames payload. Fails with CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status ctx_exp_frames_begin(const uint8_t *payload, size_t n_bytes,
						    struct ctx_exp_frames_in *ret, struct ctx_err *err);

/*
 * The next node: its id, the (smaller) id of its parent, and its address. CTX_END at the end. Fails
 * with CTX_E_FORMAT.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_frames_next(struct ctx_exp_frames_in *in, uint32_t *ret_id,
						   uint32_t *ret_parent, uint64_t *ret_address,
						   struct ctx_err *err);

#define CTX_EXP_USAGE_FIELDS 11u /* after process and time */

/*
 * A record of an overview payload: varints process, time, then the fields of struct ctx_usage_info
 * in order.
 */
struct ctx_exp_usage_record {
	uint32_t process;
	uint64_t time_ns;
	uint64_t fields[CTX_EXP_USAGE_FIELDS];
};

void ctx_exp_put_usage(struct ctx_buf *out, const struct ctx_exp_usage_record *record);
CTX_MUST_CHECK enum ctx_status ctx_exp_get_usage(struct ctx_cursor *cursor, struct ctx_exp_usage_record *ret,
						 struct ctx_err *err);

#endif
