/*
 * Options and statistics of an ingest.
 */
#ifndef CTX_INGEST_INGEST_OPTIONS_H
#define CTX_INGEST_INGEST_OPTIONS_H

#include "timetree/timetree.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_ingest_options {
	struct ctx_timetree_params tree;
	const char *debug_root;	   /* root of separate debug files, "" for the system's */
	const char *symfs;	   /* put in front of paths of load objects, "" none */
	const char *const *caches; /* build-id cache directories (perf's), NULL at the end; NULL: none */
	/*
	 * The name of each of `caches` in the database, NULL: its path (ctx_symbol_caches has
	 * both).
	 */
	const char *const *cache_names;
	bool no_inlines; /* inlined functions are attributed to their callers */
	int64_t recorded_s; /* when it was recorded, seconds since 1970: source files changed since then are reported; 0 unknown */
	const char *fingerprint; /* kept in the database */
	bool one_thread;	 /* do all in the caller's thread */
	/* Called about every 64 k events; done and total in bytes. May be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t samples);
	void *progress_context;
};

struct ctx_ingest_stats {
	uint64_t samples, events;
	uint64_t spans; /* of thread states */
	uint32_t stacks, raw_stacks, locations, functions, objects, threads, trees;
	uint64_t moved; /* samples whose time was adjusted to keep the order */
};

#endif
