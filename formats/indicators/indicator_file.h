/*
 * Metadata files of indicators: which places of which load objects are to be counted (ctxrec --indicators).
 *
 *	<indicators version="1">
 *	  <object path="/usr/bin/app" build_id="6f3a...">
 *	    <indicator offset="0x1139" length="32" flags="count raise" threshold="1000" name="parse_line"/>
 *	    <indicator offset="0x4040" length="8" access="write" flags="count" name="counter"/>
 *	  </object>
 *	</indicators>
 *
 * Offsets are in the object's own address space. Elements and attributes that are not known are ignored, an unknown
 * flag is not. The file is untrusted: no entities, no network, limited in size. Source: requirement I4.
 */
#ifndef CTX_FORMATS_INDICATORS_INDICATOR_FILE_H
#define CTX_FORMATS_INDICATORS_INDICATOR_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/buildid.h"

#include <stdint.h>

#define CTX_INDICATOR_FILE_MAX ((size_t)16 << 20) /* bytes */

enum ctx_indicator_flag { /* bits */
			  CTX_INDICATOR_FLAG_COUNT = 1,
			  CTX_INDICATOR_FLAG_RAISE = 2, /* every threshold-th execution with its call stack */
			  CTX_INDICATOR_FLAG_START = 4,
			  CTX_INDICATOR_FLAG_STOP = 8,
};

enum ctx_indicator_file_access {
	CTX_INDICATOR_FILE_EXECUTE,
	CTX_INDICATOR_FILE_WRITE,
	CTX_INDICATOR_FILE_ACCESS, /* reads and writes */
};

struct ctx_indicator_row {
	const char *path, *build_id; /* of the load object; build_id lower-case hex, "" any */
	const char *name;	     /* of the function or variable; "" none */
	uint64_t offset, length_bytes;
	uint64_t threshold; /* 0: none */
	unsigned flags;	    /* of enum ctx_indicator_flag */
	enum ctx_indicator_file_access access;
};

struct ctx_indicator_rows {		 /* all zero is a valid empty list */
	struct ctx_indicator_row *items; /* owned */
	size_t n, cap;
	struct ctx_arena arena; /* of the strings */
};

void ctx_indicator_rows_deinit(struct ctx_indicator_rows *rows);

/* Fails with CTX_E_FORMAT (the message has the line), CTX_E_VERSION, CTX_E_LIMIT, CTX_E_NOMEM. O(n). */
CTX_MUST_CHECK enum ctx_status ctx_indicator_file_parse(struct ctx_indicator_rows *rows, const void *bytes,
							size_t n, struct ctx_err *err);

#define CTX_INDICATOR_BUILD_ID_MAX CTX_BUILDID_TEXT

/* The build id of a load object here, "" if it has none. Fails with CTX_E_NOTFOUND, CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_indicator_object_build(const char *path,
							  char id[CTX_INDICATOR_BUILD_ID_MAX],
							  struct ctx_err *err);

/* "count raise": of bits. At most 32 bytes. */
void ctx_indicator_flags_put(unsigned bits, struct ctx_buf *out);

#endif
