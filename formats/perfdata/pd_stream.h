/*
 * Stream: the records of one data file in the order of the file, compressed ones unpacked.
 *
 *	file --pread--> outer chunk --record--> COMPRESSED? --zstd--> inner chunk --record--> caller
 *	                                        `-- no ---------------------------------------> caller
 *
 * Records are not copied: they lie in chunks of a megabyte that live as long as somebody holds them. After damage
 * the stream goes on at the next place where several records in a row make sense.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_STREAM_H
#define CTX_FORMATS_PERFDATA_PD_STREAM_H

#include "base/err.h"
#include "formats/perfdata/pd_part.h"
#include "formats/perfdata/pd_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_pd_chunk { /* counted references; released with the last */
	uint32_t references;
	uint32_t queued; /* for whoever keeps records: how many of this chunk */
	size_t cap;
	uint8_t bytes[];
};

void ctx_pd_chunk_drop(struct ctx_pd_chunk *chunk);

struct ctx_pd_record {
	const uint8_t *bytes; /* header.size of them */
	struct perf_event_header header;
	struct ctx_pd_chunk *chunk; /* holds the bytes; take a reference to keep them */
	uint64_t offset;	    /* in the file; of a compressed record: of what it was packed in */
};

/* A window on bytes that come one after the other. */
struct ctx_pd_window {
	struct ctx_pd_chunk *chunk; /* NULL at first */
	size_t begin, end;	    /* in chunk->bytes: what is there and not used yet */
	bool lost;		    /* damage: where the next record begins has to be found */
};

struct ctx_pd_stream {
	int fd; /* borrowed */
	const char *name;
	bool swap;
	uint64_t at, end; /* in the file: next byte to read; end of the data */
	uint64_t skip;	  /* bytes of the file that belong to no record and are still to be passed over */
	struct ctx_pd_window outer, inner;
	void *zstd;			   /* decompression goes on from record to record */
	struct ctx_pd_chunk *packed_chunk; /* holds what is being unpacked */
	const uint8_t *packed;
	size_t packed_n, packed_at;
	uint64_t packed_offset;
	bool unpacking;
	/* Counted: */
	uint64_t n_records, n_compressed;
	char damage[256]; /* of the last record asked for; "" none */
};

/* The stream borrows the part's descriptor and name. `swap`: records are in the other byte order. */
void ctx_pd_stream_init(struct ctx_pd_stream *stream, const struct ctx_pd_part *part, bool swap);
void ctx_pd_stream_deinit(struct ctx_pd_stream *stream);

/*
 * The next record; COMPRESSED ones are unpacked and not shown, and the bytes behind AUXTRACE and TRACING_DATA
 * records are passed over. The record's bytes are valid until the next call, or as long as its chunk is held.
 * CTX_END at the end. Damage is no failure: stream->damage then says what was wrong in front of the record that is
 * given (or in front of the end). Fails with CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_stream_next(struct ctx_pd_stream *stream, struct ctx_pd_record *ret,
						  struct ctx_err *err);

#endif
