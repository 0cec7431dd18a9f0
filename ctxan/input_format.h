/*
 * The formats that ctxan ingests, recognised by what a file or directory holds.
 */
#ifndef CTX_CTXAN_INPUT_FORMAT_H
#define CTX_CTXAN_INPUT_FORMAT_H

#include "base/err.h"
#include "ingest/private_dir.h"
#include "model/event_source.h"

#include <stdbool.h>

struct ctx_input_format {
	bool (*is)(const char *path);
	enum ctx_status (*open)(const char *path, struct ctx_event_source **ret,
				struct ctx_err *err); /* NULL: compressed */
	enum ctx_status (*fingerprint)(const char *path, char ret[17], struct ctx_err *err);
	bool database_inside; /* the database is in the directory; otherwise beside the file */
	bool is_perfs;	      /* its load objects are where perf keeps them */
};

/* NULL: none. */
const struct ctx_input_format *ctx_input_format_of(const char *path);

/* ctxrec's: the one that reports why an experiment is unusable. */
const struct ctx_input_format *ctx_input_format_ours(void);

/* An open input. All zero but `unpacked.fd`, which is -1, is a closed one. */
struct ctx_input {
	struct ctx_event_source *source;
	struct ctx_private_dir unpacked; /* of a compressed one, as long as it is open */
	char *path;			 /* in it; owned: sources borrow its name */
};

#define CTX_INPUT_CLOSED                                                                                     \
	{                                                                                                    \
		.unpacked = {.fd = -1 }                                                                      \
	}

/*
 * Opens what ctx_input_format_of found. A compressed recording is unpacked in a directory that is removed
 * once it is closed; what is in it must not be compressed again. To be closed after a failure, too.
 */
CTX_MUST_CHECK enum ctx_status ctx_input_open(struct ctx_input *input, const char *path,
					      const struct ctx_input_format *format, struct ctx_err *err);
void ctx_input_close(struct ctx_input *input);

#endif
