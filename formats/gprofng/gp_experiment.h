/*
 * One directory: a process as gprofng recorded it. Descendants are directories inside that of the
 * root process.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_EXPERIMENT_H
#define CTX_FORMATS_GPROFNG_GP_EXPERIMENT_H

#include "base/map64.h"
#include "formats/gprofng/gp_code.h"
#include "formats/gprofng/gp_events.h"
#include "formats/gprofng/gp_frames.h"
#include "formats/gprofng/gp_log.h"
#include "formats/gprofng/gp_map.h"
#include "formats/gprofng/gp_overview.h"

struct ctx_gp_experiment {
	char *path;	       /* owned */
	char *lineage;	       /* owned; "" for a root process, "_f1_x1" */
	uint32_t root_process; /* number, in the order of opening; its own for a root process */
	uint32_t number;       /* in the order of opening */
	struct ctx_gp_log log;
	struct ctx_gp_map map;
	struct ctx_gp_overview overview;
	struct ctx_gp_frames frames; /* read when the first stack is asked for */
	struct ctx_gp_code code;     /* read at the first JIT function */
	bool has_frames, has_code;
	int64_t shift_ns; /* of its run, from the start of the whole source */
	int64_t end_ns;	  /* of all its events, from its own run */
	uint64_t bytes;	  /* of the files with its stacks */
};

/* Several experiments. All zero is a valid empty list. */
struct ctx_gp_experiments {
	struct ctx_gp_experiment *
		*items; /* owned; root processes, each followed by its descendants by name */
	size_t n, cap;
	struct ctx_map64 by_inode; /* root process, device and inode of a directory: its number */
	/* Inputs that could not be used: one line each, owned by `arena`. */
	struct ctx_arena arena;
	const char **damage;
	size_t n_damage, damage_cap;
	uint64_t n_more_damage; /* lines dropped from the list */
};

void ctx_gp_experiments_deinit(struct ctx_gp_experiments *experiments);

/* Is this a gprofng experiment directory, judging from the first bytes of log.xml? */
bool ctx_gp_experiment_is(const char *path);

/* Is this a file that lists experiments (.erg)? */
bool ctx_gp_group_is(const char *path);

/*
 * Opens an experiment with its descendants, or all experiments of a group. Reads logs and maps, but
 * no event data. Other problems are listed in `damage`. CTX_E_NOTFOUND, CTX_E_FORMAT,
 * CTX_E_VERSION, CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiments_open(struct ctx_gp_experiments *experiments,
						       const char *path, struct ctx_err *err);

/* Adds a line to `damage`: at most a hundred are kept. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiments_damage(struct ctx_gp_experiments *experiments,
							 struct ctx_err *err, const char *fmt, ...)
	CTX_PRINTF(3, 4);

/* The name for messages: "" for the only root process, "_f1.er: ". */
const char *ctx_gp_experiment_prefix(const struct ctx_gp_experiment *experiment, char out[256]);

/*
 * Reads its call stacks; later calls do nothing. Records that could not be used are added to
 * `damage`. CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiment_read_frames(struct ctx_gp_experiments *experiments,
							     struct ctx_gp_experiment *experiment,
							     struct ctx_err *err);

/* The same for its JIT code. A missing file is not damage. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiment_read_code(struct ctx_gp_experiments *experiments,
							   struct ctx_gp_experiment *experiment,
							   struct ctx_err *err);

#endif
