/* The bytes of a file, unpacked if it is packed by gzip, in pieces; and where in it they are. */
#ifndef CTX_FORMATS_TRACEEVENT_TE_INPUT_H
#define CTX_FORMATS_TRACEEVENT_TE_INPUT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_te_input {
	const char *path; /* borrowed */
	void *file;	  /* gzFile */
	uint8_t *bytes;	  /* owned; the present piece */
	size_t n;
	uint64_t offset; /* of the piece, unpacked */
	uint64_t lines;	 /* ends of lines before the piece */
	bool is_cut;	 /* the packed file ends too early, or is damaged: no more can be unpacked */
};

/* CTX_E_NOTFOUND, CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_te_input_open(struct ctx_te_input *input, const char *path,
						 struct ctx_err *err);
void ctx_te_input_close(struct ctx_te_input *input);

/* The next piece. CTX_END: there is none; CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_te_input_next(struct ctx_te_input *input, struct ctx_err *err);

/* The line, from 1, of a byte of the piece. */
uint64_t ctx_te_input_line(const struct ctx_te_input *input, size_t at);

#endif
