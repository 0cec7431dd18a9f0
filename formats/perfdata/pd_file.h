/*
 * File: perf.data except its records: the file or directory of files, header, events and facts.
 *
 *	file       magic, sizes of sections | attrs with ids | data | features (when the recording was closed)
 *	pipe       magic, 16 | data, with attrs and features among the records
 *	directory  data (as a file), data.0, data.1 ... (records only)
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
	bool closed; /* perf finished writing the file */
	struct ctx_pd_events events;
	struct ctx_pd_facts facts;
	struct ctx_pd_tracing tracing;
	uint64_t bytes; /* of the data */
	/* On the file's clock; from the facts or from a scan. first > last: no samples. */
	uint64_t first_sample, last_sample;
	const char **damage; /* owned array, lines in facts.arena */
	size_t n_damage, damage_cap;
};

/* Does `path`, or the file `path`/data, begin with the magic number? */
bool ctx_pd_file_is(const char *path);

/*
 * Opens the files without reading them. Zero the struct before; deinit it also after a failure.
 * Fails with CTX_E_NOTFOUND, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_list(struct ctx_pd_file *file, const char *path,
						struct ctx_err *err);

/*
 * Reads header, events and facts of the listed files. Damage adds lines to `damage`.
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

/* The same for bytes. */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_tracing_bytes(struct ctx_pd_file *file, const void *bytes,
							 size_t n, struct ctx_err *err);

/* Adds a line of damage found before the first record. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_damage(struct ctx_pd_file *file, const char *text,
						  struct ctx_err *err);

#endif
