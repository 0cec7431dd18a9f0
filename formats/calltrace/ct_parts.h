/*
 * The parts of a text whose lines are each in order of time, read together in order of time.
 *
 *	one text               one part
 *	`uftrace dump`         a part for each task
 *	the kernel's text      a part for each processor: all lines, of which those of others are nothing
 */
#ifndef CTX_FORMATS_CALLTRACE_CT_PARTS_H
#define CTX_FORMATS_CALLTRACE_CT_PARTS_H

#include "base/strtab.h"
#include "formats/calltrace/ct_dialect.h"
#include "formats/calltrace/ct_lines.h"

#define CTX_CT_PARTS_MAX 65536u

struct ctx_ct_part {
	struct ctx_ct_range range;
	uint64_t only_cpu; /* as in struct ctx_ct_parser */
	struct ctx_ct_lines lines;
	struct ctx_ct_parser parser;
	struct ctx_ct_record record; /* the next one; its text lies in the buffer of lines */
};

/* What a whole text has, in all of its parts. */
struct ctx_ct_contents {
	uint64_t begin_ns, end_ns; /* of times; begin after end: it has none */
	uint64_t samples, changes;
	struct ctx_strtab counters; /* words of counts, by first appearance */
};

struct ctx_ct_parts {
	const struct ctx_ct_dialect *dialect;
	int fd;			   /* borrowed */
	const char *name;	   /* borrowed */
	struct ctx_ct_part *items; /* owned */
	size_t n, cap;
	struct ctx_ct_next *heap; /* owned; parts with a record, that of the first time first */
	size_t n_heap;
};

/* A line that cannot be read. False ends the reading: what is called then fails with CTX_E_NOMEM. */
struct ctx_ct_bad_lines {
	void *context;
	bool (*each)(void *context, const struct ctx_ct_line *line, const char *why);
};

/* Finds the parts. CTX_E_NOMEM, CTX_E_IO, CTX_E_LIMIT (too many). */
CTX_MUST_CHECK enum ctx_status ctx_ct_parts_find(struct ctx_ct_parts *parts, uint64_t size,
						 struct ctx_err *err);
void ctx_ct_parts_deinit(struct ctx_ct_parts *parts);

/* Reads all of it. `ret` is released with ctx_strtab_deinit(&ret->counters), also on failure. */
CTX_MUST_CHECK enum ctx_status ctx_ct_parts_measure(struct ctx_ct_parts *parts, struct ctx_ct_contents *ret,
						    struct ctx_err *err);

/* Begins to read from the begin. */
CTX_MUST_CHECK enum ctx_status ctx_ct_parts_begin(struct ctx_ct_parts *parts,
						  const struct ctx_ct_bad_lines *bad, struct ctx_err *err);

/*
 * The next record, valid until the next call; CTX_END. Its time is as in the text. Bad lines are
 * handed out when they are passed.
 */
CTX_MUST_CHECK enum ctx_status ctx_ct_parts_next(struct ctx_ct_parts *parts,
						 const struct ctx_ct_bad_lines *bad,
						 const struct ctx_ct_record **ret, struct ctx_err *err);

/* Bytes read so far; they can be more than the file has where parts share them. */
uint64_t ctx_ct_parts_progress(const struct ctx_ct_parts *parts);

#endif
