/*
 * Subjects of the reports source and disasm. A name may match several functions (static ones of
 * several files, one in two objects) or several files: each is an owner of rows.
 */
#ifndef CTX_REPORT_SUBJECT_H
#define CTX_REPORT_SUBJECT_H

#include "report/code_rows.h"

struct ctx_subject {
	uint32_t *
		owner_of; /* owned; by function id, of files by file id: number of the owner; CTX_NONE: not selected */
	uint32_t *owners; /* owned; function (not an inlined one, if possible) or file of each owner */
	uint32_t n;
	bool is_file;
};

/*
 * Functions of this name (as --function finds them; the inlined instances of a function belong to
 * it), or else files with this path or path suffix. CTX_E_NOTFOUND with the most similar names if
 * there are none. O(names).
 */
CTX_MUST_CHECK enum ctx_status ctx_subject_find(const struct ctx_code_view *view, const char *text,
						bool allow_files, struct ctx_subject *ret,
						struct ctx_err *err);

/* The subject that is this function, with its inlined instances. */
CTX_MUST_CHECK enum ctx_status ctx_subject_function(const struct ctx_code_view *view, uint32_t function,
						    struct ctx_subject *ret, struct ctx_err *err);

/* Every function that has line numbers, each with its inlined instances. O(functions + sites). */
CTX_MUST_CHECK enum ctx_status ctx_subject_lined(const struct ctx_code_view *view, struct ctx_subject *ret,
						 struct ctx_err *err);

void ctx_subject_deinit(struct ctx_subject *subject);

#endif
