/*
 * File: what perf.data is before its records are read: one file or a directory of them, its header,
 * events and facts.
 *
 *	file       magic, sizes of sections | attrs with ids | data | features (when the recording was closed)
 *	pipe       magic, 16 | data, with attrs and features among the records
 *	directory  data (as a file), data.0, data.1 ... (records alone)
 */
#ifndef CTX_FORMATS_PERFDATA_PD_FILE_H
#define CTX_FORMATS_PERFDATA_PD_FILE_H

#include "base/err.h"
#include "formats/perfdata/pd_events.h"
#include "formats/perfdata/pd_facts.h"
#include "formats/perfdata/pd_part.h"
#include "formats/perfdata/pd_tracing.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_pd_file {
	char *path;		   /* owned, without trailing slashes */
	struct ctx_pd_part *parts; /* owned */
	size_t n_parts, parts_cap;
	bool swap;   /* written in the other byte order */
	bool pipe;   /* attrs and features are records */
	bool closed; /* perf has ended the file in order */
	struct ctx_pd_events events;
	struct ctx_pd_facts facts;
	struct ctx_pd_tracing tracing;
	uint64_t bytes; /* of the data */
	uint64_t first_sample,
		last_sample; /* on the file's clock; from the facts or from a scan; first > last: no
					       samples */
	const char **damage; /* owned array, lines in facts.arena */
	size_t n_damage, damage_cap;
};

/* Is there a file with the magic number at `path` (or in it, named data)? */
bool ctx_pd_file_is(const char *path);

/*
 * Opens the files only, without a look at what is in them. Zero the struct before; deinit it also
 * after a failure. Fails with CTX_E_NOTFOUND, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_list(struct ctx_pd_file *file, const char *path,
						struct ctx_err *err);

/*
 * Reads header, events and facts of files that are listed. What is damaged is a line in `damage`.
 * Fails with CTX_E_FORMAT, CTX_E_VERSION, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_read(struct ctx_pd_file *file, struct ctx_err *err);

void ctx_pd_file_deinit(struct ctx_pd_file *file);

/*
 * Reads the tracepoint formats, `size` bytes at `offset` of the part's file. Format errors add a
 * line to `damage`. Fails with CTX_E_NOMEM, CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_tracing(struct ctx_pd_file *file, const struct ctx_pd_part *part,
						   uint64_t offset, uint64_t size, struct ctx_err *err);

/* A line of damage that was found before the first record. */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_damage(struct ctx_pd_file *file, const char *text,
						  struct ctx_err *err);

#endif
