/*
 * Events of chunks as records, which stand for themselves, and are put in order of time over chunks.
 */
#ifndef CTX_FORMATS_JFR_JFR_RECORDS_H
#define CTX_FORMATS_JFR_JFR_RECORDS_H

#include "formats/jfr/jfr_facts.h"

enum ctx_jfr_record_kind {
	CTX_JFR_RECORD_SAMPLE,
	CTX_JFR_RECORD_TRACED,
	CTX_JFR_RECORD_BEGIN,
	CTX_JFR_RECORD_END, /* of the thread */
};

/* An event that stands for itself, whichever chunk it came from. */
struct ctx_jfr_record {
	uint64_t time_ns; /* since 1970: its end */
	uint64_t serial;
	uint64_t weight; /* of a sample; of input and output its bytes */
	uint64_t duration_ns;
	uint64_t number; /* address of a lock; value of a counter */
	uint32_t thread; /* of the names */
	uint32_t other;	 /* thread that had the lock; CTX_JFR_NONE */
	uint32_t stack;	 /* of the names */
	uint32_t text;	 /* of names->texts: of a mark, a file; CTX_JFR_NONE */
	uint8_t kind;	 /* enum ctx_jfr_record_kind */
	uint8_t metric;	 /* enum ctx_jfr_metric */
	uint8_t traced;	 /* enum ctx_traced_kind */
	uint8_t operation;
	bool failed;
};

struct ctx_jfr_records {	      /* all zero is none */
	struct ctx_jfr_record *items; /* owned */
	size_t n, cap;
	uint64_t serial;
};

struct ctx_jfr_reading {
	struct ctx_jfr_names *names;
	struct ctx_jfr_records *records;
	const struct ctx_jfr_facts *facts;
	uint32_t lane; /* thread of events that have none */
};

/* Adds the records of a chunk. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_records_read(const struct ctx_jfr_reading *reading,
						    const struct ctx_jfr_owner *owner, struct ctx_err *err);

/* In order of time; ends of threads last at equal times. */
void ctx_jfr_records_sort(struct ctx_jfr_records *records);

#endif
