/*
 * Stream: the records of one data file in file order, with compressed records unpacked.
 *
 *	file --pread--> outer chunk --record--> COMPRESSED? --zstd--> inner chunk --record--> caller
 *	                                        `-- no ---------------------------------------> caller
 *
 * Records are not copied: they are in reference-counted chunks of 1 MiB. After damage the stream
 * resumes at the next offset where several consecutive headers are plausible.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_STREAM_H
#define CTX_FORMATS_PERFDATA_PD_STREAM_H

#include "base/err.h"
#include "formats/perfdata/pd_part.h"
#include "formats/perfdata/pd_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_pd_chunk { /* reference-counted; freed with the last reference */
	uint32_t references;
	uint32_t queued; /* records of this chunk in a queue; maintained by the queue */
	size_t cap;
	uint8_t bytes[];
};

void ctx_pd_chunk_drop(struct ctx_pd_chunk *chunk);

struct ctx_pd_record {
	const uint8_t *bytes; /* header.size bytes */
	struct perf_event_header header;
	struct ctx_pd_chunk *chunk; /* holds the bytes; take a reference to keep them */
	uint64_t offset; /* in the file; of an unpacked record: the offset of its COMPRESSED record */
};

/* The bytes of a chunk not used yet. */
struct ctx_pd_window {
	struct ctx_pd_chunk *chunk; /* NULL at first */
	size_t begin, end;	    /* in chunk->bytes */
	bool lost;		    /* after damage: the next record has to be found */
};

struct ctx_pd_stream {
	int fd; /* borrowed */
	const char *name;
	bool swap;
	uint64_t at, end; /* in the file: next byte to read; end of the data */
	uint64_t skip;	  /* bytes between records still to be skipped */
	struct ctx_pd_window outer, inner;
	void *zstd;			   /* state of the decompression, which spans records */
	struct ctx_pd_chunk *packed_chunk; /* holds `packed` */
	const uint8_t *packed;
	size_t packed_n, packed_at;
	uint64_t packed_offset;
	bool unpacking;
	uint64_t n_records, n_compressed;
	char damage[256]; /* found by the last call of next; "" none */
};

/*
 * The stream borrows the part's descriptor and name. `swap`: records are in the other byte order.
 */
void ctx_pd_stream_init(struct ctx_pd_stream *stream, const struct ctx_pd_part *part, bool swap);
void ctx_pd_stream_deinit(struct ctx_pd_stream *stream);

/*
 * The next record. COMPRESSED records are unpacked and not returned; data after AUXTRACE and
 * TRACING_DATA records is skipped. The record's bytes are valid until the next call, or as long as
 * its chunk is referenced. CTX_END at the end. Damage is not a failure: stream->damage describes
 * what precedes the returned record or the end. Fails with CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_stream_next(struct ctx_pd_stream *stream, struct ctx_pd_record *ret,
						  struct ctx_err *err);

#endif
