/*
 * ctxan --check-indicators: is a metadata file of indicators usable here, and what does it say? ctxrec --indicators reads the answer.
 */
#ifndef CTX_CTXAN_CHECKING_H
#define CTX_CTXAN_CHECKING_H

#include "ctxan/options.h"

/*
 * Prints a line for each indicator, of fields separated by tabs: the load object, what is counted (execute, write, access), the
 * offset in its address space (hexadecimal; "-": the object is another build, and --match-symbols says that names count), length and
 * threshold (decimal), flags, name. Fails with CTX_E_FORMAT (the file), CTX_E_NOTFOUND (an object is missing), CTX_E_ARG (an object is
 * another build), CTX_E_IO, CTX_E_NOMEM. Nothing is printed then.
 */
CTX_MUST_CHECK enum ctx_status ctx_checking_indicators(const struct ctx_options *options,
						       struct ctx_err *err);

#endif
