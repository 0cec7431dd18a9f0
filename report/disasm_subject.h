/*
 * The function of the report disasm: given by name, or the hottest one that has code.
 */
#ifndef CTX_REPORT_DISASM_SUBJECT_H
#define CTX_REPORT_DISASM_SUBJECT_H

#include "report/code_rows.h"
#include "report/subject.h"

/*
 * Functions of the name `text`; NULL: the one with the largest exclusive weight whose code is
 * available (else the hottest; none if there are no samples). CTX_E_NOTFOUND: no such function, or
 * it has no instructions of its own; the message names the functions that it is inlined into.
 * Released with ctx_subject_deinit after success and failure.
 */
CTX_MUST_CHECK enum ctx_status ctx_disasm_subject(const struct ctx_code_view *view, const char *text,
						  struct ctx_subject *ret, struct ctx_err *err);

#endif
