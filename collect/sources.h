/*
 * --archive-sources: copies the source files of sampled code into the experiment.
 */
#ifndef CTX_COLLECT_SOURCES_H
#define CTX_COLLECT_SOURCES_H

#include "collect/mapped_files.h"
#include "formats/experiment/exp_writer.h"

struct ctx_sources_limits {
	uint64_t file_bytes, total_bytes;	/* before compression */
	uint32_t files;				/* considered; further ones are not listed */
	unsigned object_seconds, total_seconds; /* for reading line tables */
};
extern const struct ctx_sources_limits ctx_sources_usual;

struct ctx_sources_result {
	uint32_t copied, missing; /* missing: not a regular text file */
	uint32_t left_out;	  /* beyond a limit */
	uint32_t newer;		  /* of those copied: newer than the load object */
	uint32_t objects;	  /* with line tables */
	uint32_t unread;	  /* objects whose line tables could not be read (in time) */
	uint64_t bytes;		  /* copied, before compression */
};

/*
 * For a writer with keep_places, before it is closed; the target has ended. Runs ctxrec-sources for
 * every load object with samples, which reads its line tables here or in /usr/lib/debug. Source files
 * are read with the rights of the user who mapped the object, from `files`. Unreadable objects and
 * files are not failures. Fails with CTX_E_NOTFOUND (ctxrec-sources does not exist:
 * nothing is copied), CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_sources_archive(struct ctx_exp_writer *writer,
						   const struct ctx_mapped_files *files,
						   const struct ctx_sources_limits *limits,
						   struct ctx_sources_result *ret, struct ctx_err *err);

#endif
