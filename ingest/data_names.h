/*
 * Names of data (model/data_name.h) for a recording: the debug information of its load objects, each opened when it is asked
 * for first.
 */
#ifndef CTX_INGEST_DATA_NAMES_H
#define CTX_INGEST_DATA_NAMES_H

#include "model/data_name.h"
#include "model/profile.h"

struct ctx_data_names_options { /* borrowed */
	const struct ctx_profile *profile;
	const char *archives; /* directory of copies, "" none */
	const char *symfs, *debug_root;
	const char *const *caches; /* NULL-terminated; NULL: none */
};

struct ctx_data_names;

/* Opens nothing yet. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_data_names_create(const struct ctx_data_names_options *options,
						     struct ctx_data_names **ret, struct ctx_err *err);
void ctx_data_names_destroy(struct ctx_data_names *names); /* NULL does nothing */

/* The functions; `context` of it is `names`. */
struct ctx_data_namer ctx_data_names_namer(struct ctx_data_names *names);

#endif
