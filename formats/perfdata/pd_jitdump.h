/*
 * jitdump: the file that a just-in-time compiler writes beside a recording (jit-PID.dump), one record for each
 * function it has made, with the time. Source: tools/perf/Documentation/jitdump-specification.txt of Linux.
 *
 * perf records an mmap of the file as a marker; we read the file itself, no `perf inject` needed. Records come in
 * the order of the file. Either byte order. Only load, move and close matter here; others are skipped.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_JITDUMP_H
#define CTX_FORMATS_PERFDATA_PD_JITDUMP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_pd_jit_load {
	uint64_t time_ns; /* CLOCK_MONOTONIC, or the time stamp counter where `arch_timestamps` */
	uint64_t address; /* of the code */
	uint64_t size;
	uint64_t file_offset; /* of the code's bytes in the dump: unique to the function */
	const char *name;     /* borrowed from the dump; may be empty */
	uint32_t pid;	      /* of the process that has the code: nearly always the dump's own */
};

struct ctx_pd_jitdump {
	char *bytes; /* owned: the file without the code (names only) or whole, as it suits */
	/* Owned; by time, those of equal time in the order of the file. A moved function is a second load at its
	 * new address. Functions of no bytes are left out. */
	struct ctx_pd_jit_load *loads;
	size_t n, cap;
	uint32_t pid;
	bool arch_timestamps; /* times are on another clock than perf's: the loads have no usable time */
	uint64_t damaged;     /* records that could not be used */
};

/* Is this the path of a dump ("jit-123.dump")? Then `*ret_pid` is its number. */
bool ctx_pd_jitdump_is(const char *path, uint32_t *ret_pid);

/*
 * Reads the whole dump. The file must be a plain file of the user or of root, and at most 4 GiB. A file that ends in
 * the middle of a record gives the records before it, and counts. Fails with CTX_E_NOTFOUND, CTX_E_PERM
 * (somebody else's), CTX_E_FORMAT (not a dump), CTX_E_VERSION, CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_jitdump_read(const char *path, struct ctx_pd_jitdump *ret,
						   struct ctx_err *err);

/* The same from bytes in memory, of which nothing is borrowed. */
CTX_MUST_CHECK enum ctx_status ctx_pd_jitdump_parse(const void *bytes, size_t n, struct ctx_pd_jitdump *ret,
						    struct ctx_err *err);

void ctx_pd_jitdump_deinit(struct ctx_pd_jitdump *dump);

#endif
