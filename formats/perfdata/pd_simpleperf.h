/*
 * What Android's simpleperf adds to perf.data: the names of events, and the symbols of the files
 * that samples were in, since these are on the phone.
 *
 *	FILE	n * { u32 bytes of what follows, path 0, u32 kind, u64 first address of code, u32 n symbols,
 *		      n * { u64 address, u32 size, name 0 }, dex: u32 n, n * u64; ELF: u64 file offset of that address }
 *	FILE2	n * { u32 bytes, a message of Protocol Buffers with the same }
 *	META	n * { key 0, value 0 }
 *
 * Source: record_file.proto, record_file_writer.cpp and record.h in system/extras/simpleperf of
 * Android.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_SIMPLEPERF_H
#define CTX_FORMATS_PERFDATA_PD_SIMPLEPERF_H

#include "base/arena.h"
#include "base/err.h"
#include "formats/perfevent/pe_wire.h"
#include "model/event_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_PD_FEATURE_SIMPLEPERF_FILE 128u
#define CTX_PD_FEATURE_SIMPLEPERF_META 129u
#define CTX_PD_FEATURE_SIMPLEPERF_FILE2 132u

struct ctx_pd_simpleperf {		  /* all zero: perf wrote the file */
	struct ctx_source_symbols *files; /* owned array; what it points to is in the arena of the facts */
	size_t n_files, files_cap;
	const char *version;	 /* NULL unknown */
	const char *device;	 /* manufacturer, model and name; NULL unknown */
	const char *event_types; /* lines "name,type,config"; NULL none */
};

void ctx_pd_simpleperf_deinit(struct ctx_pd_simpleperf *simpleperf);

/*
 * Reads the body of a feature; others are not read. What comes before the damage is kept. Fails with
 * CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_simpleperf_read(struct ctx_pd_simpleperf *simpleperf,
						      struct ctx_arena *arena, uint32_t feature,
						      struct ctx_pe_wire *wire, struct ctx_err *err);

/* Sorts the files by path and drops all but the first of each. Once all features are read. */
void ctx_pd_simpleperf_settle(struct ctx_pd_simpleperf *simpleperf);

/* Whether there are symbols for this path; after ctx_pd_simpleperf_settle. O(log n). */
bool ctx_pd_simpleperf_has(const struct ctx_pd_simpleperf *simpleperf, const char *path);

/* The name of the event with this type and config; *ret_n is 0 where it is unknown. Borrowed. */
const char *ctx_pd_simpleperf_event_name(const struct ctx_pd_simpleperf *simpleperf, uint32_t type,
					 uint64_t config, size_t *ret_n);

/* Code that was compiled at run time: its symbols have addresses of the process, not of a file. */
bool ctx_pd_simpleperf_is_jit(const char *path);

#endif
