/*
 * Directories of uftrace (versions 3 and 4 of their format, 64 bits, little-endian) as an event source.
 *
 *	info		header, facts about the run
 *	task.txt	sessions, threads, forks, opened libraries
 *	sid-SID.map	maps of a session
 *	NAME.sym	symbols of a load object
 *	TID.dat		entries and exits of a thread's functions
 *	perf-cpuN.dat	switches, names and ends of threads
 *
 * Events: calls, states of threads, maps, losses; user events (SDT) as marks. Functions are named by the directory's own
 * symbols, as uftrace names them; an address without a symbol stays an address in a map. Not read: values of arguments,
 * and the kernel's functions (kernel-cpuN.dat). Source: uftrace 0.13 and later.
 */
#ifndef CTX_FORMATS_UFTRACE_UFTRACE_H
#define CTX_FORMATS_UFTRACE_UFTRACE_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Is there such a directory at this path? Looks at the first bytes of its file `info`. */
bool ctx_uftrace_is(const char *path);

/*
 * Opens a directory. Reads through all files once for their times, and for the names of calls that began before their
 * records. Close with (*ret)->close. CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_VERSION, CTX_E_IO, CTX_E_LIMIT,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_uftrace_open(const char *path, struct ctx_event_source **ret,
						struct ctx_err *err);

/*
 * 16 hex digits and a zero byte that change when the directory does: names, sizes and times of all files but the database.
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_uftrace_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
