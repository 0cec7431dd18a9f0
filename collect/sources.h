/*
 * --archive-sources: copies the source files that samples were in into the experiment.
 */
#ifndef CTX_COLLECT_SOURCES_H
#define CTX_COLLECT_SOURCES_H

#include "formats/experiment/exp_writer.h"

struct ctx_sources_limits {
	uint64_t file_bytes, total_bytes; /* before compression */
	uint32_t files;			  /* looked at; those beyond are not even listed */
};
extern const struct ctx_sources_limits ctx_sources_usual;

struct ctx_sources_result {
	uint32_t copied, missing; /* missing: no plain file of text there */
	uint32_t left_out;	  /* beyond a limit */
	uint32_t newer;		  /* of those copied: changed after the load object was made */
	uint32_t objects;	  /* with line tables */
	uint64_t bytes;		  /* copied, before compression */
};

/*
 * For a writer with keep_places, before it is closed. Reads the line tables of every load object with samples, here or in
 * /usr/lib/debug. What an object or a file does not give is no failure; CTX_E_IO, CTX_E_NOMEM are.
 */
CTX_MUST_CHECK enum ctx_status ctx_sources_archive(struct ctx_exp_writer *writer,
						   const struct ctx_sources_limits *limits,
						   struct ctx_sources_result *ret, struct ctx_err *err);

#endif
