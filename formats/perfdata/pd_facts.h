/*
 * Facts: metadata of the recording from the header features of perf.data: host, command line,
 * processors, event names, build ids, clocks, and what simpleperf adds.
 *
 * In file mode a feature is a section of the file; in pipe mode it is a HEADER_FEATURE record. Both
 * hold the same bytes. A damaged feature adds one line to `damage`; an unknown feature is only
 * marked as seen. Source:
 * tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_FACTS_H
#define CTX_FORMATS_PERFDATA_PD_FACTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "formats/perfdata/pd_bpf.h"
#include "formats/perfdata/pd_simpleperf.h"
#include "formats/perfevent/pe_wire.h"
#include "model/profile.h"
#include "model/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_pd_feature { /* bit numbers in the header */
		      CTX_PD_FEATURE_TRACING_DATA = 1,
		      CTX_PD_FEATURE_BUILD_ID = 2,
		      CTX_PD_FEATURE_HOSTNAME = 3,
		      CTX_PD_FEATURE_OSRELEASE = 4,
		      CTX_PD_FEATURE_VERSION = 5,
		      CTX_PD_FEATURE_ARCH = 6,
		      CTX_PD_FEATURE_NRCPUS = 7,
		      CTX_PD_FEATURE_CPUDESC = 8,
		      CTX_PD_FEATURE_CPUID = 9,
		      CTX_PD_FEATURE_TOTAL_MEM = 10,
		      CTX_PD_FEATURE_CMDLINE = 11,
		      CTX_PD_FEATURE_EVENT_DESC = 12,
		      CTX_PD_FEATURE_CPU_TOPOLOGY = 13,
		      CTX_PD_FEATURE_NUMA_TOPOLOGY = 14,
		      CTX_PD_FEATURE_SAMPLE_TIME = 21,
		      CTX_PD_FEATURE_CLOCKID = 23,
		      CTX_PD_FEATURE_DIR_FORMAT = 24,
		      CTX_PD_FEATURE_COMPRESSED = 27,
		      CTX_PD_FEATURE_CLOCK_DATA = 29,
		      CTX_PD_FEATURE_HYBRID_TOPOLOGY = 30,
		      CTX_PD_FEATURE_BITS = 256, /* bits in the header */
};

struct ctx_pd_build_id {
	const char *path; /* "[kernel.kallsyms]", "/usr/bin/xz"; borrowed from build_ids.paths */
	const char *hex;  /* lower-case */
	int64_t pid;	  /* -1: the host */
	bool kernel;	  /* the kernel or a module */
};

struct ctx_pd_event_desc { /* the name of the events with these ids */
	const char *name;
	const uint64_t *ids;
	uint32_t n_ids;
	uint32_t type;
	uint64_t config;
};

struct ctx_pd_machine { /* the recorded machine; NULL and 0: unknown */
	const char *hostname, *os_release, *arch, *cpu_desc, *cpuid;
	uint32_t cpus_online, cpus_available;
	uint64_t memory_kb;
	uint32_t sockets, cores, dies; /* distinct sibling lists */
	uint32_t numa_nodes;
	struct ctx_topology topology;
};

struct ctx_pd_clock {
	bool has_clockid;
	uint32_t clockid; /* CLOCK_MONOTONIC ...; from the clock data, else from an event's attr */
	bool has_clock_data;
	uint64_t wall_clock_ns, clock_ns;	  /* one moment on the wall clock and on the file's clock */
	uint64_t first_sample_ns, last_sample_ns; /* on the file's clock; both 0: unknown */
};

struct ctx_pd_compression {
	bool on;
	uint32_t type, level, ratio, mmap_bytes;
};

struct ctx_pd_build_ids {
	struct ctx_pd_build_id *items; /* owned */
	size_t n, cap;
	struct ctx_strtab paths; /* path -> index of its last build id, see ctx_pd_facts_build_id */
	uint32_t *of_path;	 /* owned */
	size_t of_path_cap;
};

struct ctx_pd_event_descs {
	struct ctx_pd_event_desc *items; /* owned */
	size_t n, cap;
	struct ctx_map64 of_id; /* -> index of the first event with this id */
};

struct ctx_pd_damage {	    /* one line per unreadable feature or build id, at most 64, then "more" */
	const char **lines; /* owned array */
	size_t n, cap;
};

struct ctx_pd_facts {		/* all zero is a valid empty one */
	struct ctx_arena arena; /* owns all strings and arrays of ids */
	const char *version;	/* of perf; NULL unknown */
	const char *command;	/* the command line of perf, quoted for a shell where needed; NULL unknown */
	struct ctx_pd_machine machine;
	struct ctx_pd_clock clock;
	uint64_t dir_version; /* 0: not a directory */
	struct ctx_pd_compression compression;
	struct ctx_pd_build_ids build_ids;
	struct ctx_pd_event_descs events;
	struct ctx_pd_simpleperf simpleperf;
	struct ctx_pd_bpf bpf;
	struct ctx_pd_damage damage;
	uint64_t seen[CTX_PD_FEATURE_BITS / 64]; /* bits of the features found */
};

void ctx_pd_facts_deinit(struct ctx_pd_facts *facts);

/*
 * Adds one feature, which is the rest of `wire`. It replaces earlier values of the same feature,
 * except for build ids and event descriptions, which accumulate. Fails with CTX_E_NOMEM only.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_facts_add(struct ctx_pd_facts *facts, uint32_t feature,
						struct ctx_pe_wire wire, struct ctx_err *err);

/*
 * Adds one build id. The rest of `wire` is the body of a HEADER_BUILD_ID record (pid, 24 bytes of
 * build id, of which one may be the length, path); `misc` comes from the record's header. A damaged
 * record adds a line to `damage`; a build id of zeros means that the object has none, and adds
 * nothing. Without a length the build id has 20 bytes, trailing zeros included.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_facts_add_build_id(struct ctx_pd_facts *facts, uint16_t misc,
							 struct ctx_pe_wire wire, struct ctx_err *err);

/*
 * The last build id of a path in lower-case hex, or "". A guest's build id is returned only if the
 * host has none. Borrowed. O(1).
 */
const char *ctx_pd_facts_build_id(const struct ctx_pd_facts *facts, const char *path);

/*
 * The name of event `index` of `n`, with this id (0 none), type and config: by its id, else as
 * simpleperf names it, else by its place where the file describes as many events. NULL unknown; not
 * terminated: *ret_n bytes. O(1), for simpleperf O(events).
 */
struct ctx_pd_event_key {
	size_t index, n;
	uint64_t id, config;
	uint32_t type;
};
const char *ctx_pd_facts_event_name(const struct ctx_pd_facts *facts, const struct ctx_pd_event_key *key,
				    size_t *ret_n);

/*
 * When the file's clock showed `time_ns`, what did the wall clock show? false: unknown, before 1970, or
 * after 2554.
 */
bool ctx_pd_facts_wall_time(const struct ctx_pd_facts *facts, uint64_t time_ns, uint64_t *ret_ns);

/* "CLOCK_MONOTONIC"; NULL: not a clock of the kernel's events. */
const char *ctx_pd_clock_name(uint32_t clockid);

/*
 * The facts as properties for the header of a report, in a fixed order and with the keys of an
 * experiment: "collector" ("perf 6.1.187"), "command", "host", "kernel", "arch", "processors"
 * ("Intel ..., 2 online of 2, 1 socket, 2 cores"), those of model/topology.h, "memory" ("23.5 GiB"), "start" ("2026-11-21
 * 06:43:14 UTC": the wall clock at `start_ns` of the file's clock, if the file has clock data),
 * "clock" ("CLOCK_MONOTONIC"). Unknown facts have no line. `*ret` is malloc'ed (free()), its
 * strings are in the arena. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_facts_properties(struct ctx_pd_facts *facts, uint64_t start_ns,
						       struct ctx_property **ret, size_t *ret_n,
						       struct ctx_err *err);

#endif
