/*
 * jitdump: the file that a JIT compiler writes during a recording (jit-PID.dump), one record with
 * time for each compiled function. Source: tools/perf/Documentation/jitdump-specification.txt of
 * Linux.
 *
 * perf records an mmap of the file as a marker; the file itself is read here, without `perf
 * inject`. Either byte order. Load, move and close records are used, others are skipped.
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
	uint64_t file_offset; /* of the code in the dump: unique per function */
	const char *name;     /* borrowed from the dump; may be empty */
	uint32_t pid;	      /* process that runs the code: nearly always the dump's own */
};

struct ctx_pd_jitdump {
	char *bytes; /* owned: the names of the functions */
	/*
	 * Owned; sorted by time, equal times in file order. A moved function is a second load at
	 * its new address. Empty functions are left out.
	 */
	struct ctx_pd_jit_load *loads;
	size_t n, cap;
	uint32_t pid;
	bool arch_timestamps; /* times are from the time stamp counter, not from perf's clock: not usable */
	uint64_t damaged;     /* number of unusable records */
};

/* Is this the path of a dump ("jit-123.dump")? Then `*ret_pid` is the pid in its name. */
bool ctx_pd_jitdump_is(const char *path, uint32_t *ret_pid);

/*
 * Reads the whole dump. The file must be a regular file owned by the user or root, at most 4 GiB.
 * An incomplete record at the end counts as damaged; the records before it are used. Fails with
 * CTX_E_NOTFOUND, CTX_E_PERM (owned by another user), CTX_E_FORMAT (not a dump), CTX_E_VERSION,
 * CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_jitdump_read(const char *path, struct ctx_pd_jitdump *ret,
						   struct ctx_err *err);

/* The same from bytes in memory, which are not borrowed. */
CTX_MUST_CHECK enum ctx_status ctx_pd_jitdump_parse(const void *bytes, size_t n, struct ctx_pd_jitdump *ret,
						    struct ctx_err *err);

void ctx_pd_jitdump_deinit(struct ctx_pd_jitdump *dump);

#endif
