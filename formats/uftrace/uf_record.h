/*
 * The records of a thread's file, TID.dat: 16 bytes each, the time and a word of bit fields
 *
 *	type:2  more:1  magic:3 (5)  depth:10  address:48
 *
 * With `more` the data of arguments, a return value or an event follow, in units of 8 bytes. An event's data begin with
 * their length. Arguments do not tell theirs: it follows from specifications that name functions by patterns and from
 * debug information. Here they end where the next record begins: the first place at which a record is that can
 * follow by its time, type, address and depth, and behind it another one. Source: uftrace's struct uftrace_record.
 */
#ifndef CTX_FORMATS_UFTRACE_UF_RECORD_H
#define CTX_FORMATS_UFTRACE_UF_RECORD_H

#include "base/err.h"
#include "formats/uftrace/uf_stream.h"

enum ctx_uf_type {
	CTX_UF_ENTRY,
	CTX_UF_EXIT,
	CTX_UF_LOST,  /* `address` is the number of lost records; without time */
	CTX_UF_EVENT, /* `address` is the event's number */
};

struct ctx_uf_record {
	uint64_t time_ns; /* of CLOCK_MONOTONIC */
	uint64_t address;
	uint16_t depth; /* open calls below the one that begins or ends */
	uint8_t type;	/* enum ctx_uf_type */
	bool more;
};

#define CTX_UF_RECORD_BYTES 16u
#define CTX_UF_TIME_END ((uint64_t)1 << 62) /* later ones cannot be */

struct ctx_uf_records {
	struct ctx_uf_stream stream;
	struct ctx_uf_record last; /* that was returned */
	bool has_last;
	uint64_t n_skipped;  /* bytes that are no records, */
	uint64_t skipped_at; /* the first of them */
	uint64_t n_breaks;   /* places where such bytes were skipped */
	uint64_t n_cut;	     /* bytes of a record without its end, at the end of the file */
};

/* Back to the begin. */
void ctx_uf_records_rewind(struct ctx_uf_records *records);
void ctx_uf_records_deinit(struct ctx_uf_records *records);

/* The next record. CTX_END; CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uf_records_next(struct ctx_uf_records *records, struct ctx_uf_record *ret,
						   struct ctx_err *err);

#endif
