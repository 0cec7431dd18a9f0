/*
 * One directory: a process as gprofng recorded it. Descendants are directories inside the root process's.
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
	char *path;    /* owned */
	char *lineage; /* owned; "" for a root process, "_f1_x1" */
	uint32_t
		root_process; /* number of its root process, its own for a root process; as they were opened */
	uint32_t number;      /* as opened */
	struct ctx_gp_log log;
	struct ctx_gp_map map;
	struct ctx_gp_overview overview;
	struct ctx_gp_frames frames; /* read when the first stack is asked for */
	struct ctx_gp_code code;     /* read when the first function made at run time is met */
	bool has_frames, has_code;
	int64_t shift_ns; /* of its run, from the start of all */
	int64_t end_ns;	  /* of all its events, from its own run */
	uint64_t bytes;	  /* of the files that hold its stacks */
};

/* Several of them. All zero is none. */
struct ctx_gp_experiments {
	struct ctx_gp_experiment *
		*items; /* owned; root processes and, behind each, its descendants by name */
	size_t n, cap;
	struct ctx_map64 by_inode; /* root process, device and inode of a directory: its number */
	/* Where something could not be used: one line each, owned by `arena`. */
	struct ctx_arena arena;
	const char **damage;
	size_t n_damage, damage_cap;
	uint64_t n_more_damage; /* that is not in the list */
};

void ctx_gp_experiments_deinit(struct ctx_gp_experiments *experiments);

/* Is this a directory of gprofng's, told from the beginning of log.xml? */
bool ctx_gp_experiment_is(const char *path);

/* Is this a file that lists experiments (.erg)? */
bool ctx_gp_group_is(const char *path);

/*
 * Opens what is at `path`: an experiment with its descendants, or all of a group. Reads logs and maps, no data. What else
 * is wrong is in `damage`. CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_VERSION, CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiments_open(struct ctx_gp_experiments *experiments,
						       const char *path, struct ctx_err *err);

/* Adds a line to `damage`: up to a hundred are kept. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiments_damage(struct ctx_gp_experiments *experiments,
							 struct ctx_err *err, const char *fmt, ...)
	CTX_PRINTF(3, 4);

/* The name for messages: "" for the only root process, "_f1.er: ". */
const char *ctx_gp_experiment_prefix(const struct ctx_gp_experiment *experiment, char out[256]);

/* Reads its call stacks, once. What could not be used is damage. CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiment_read_frames(struct ctx_gp_experiments *experiments,
							     struct ctx_gp_experiment *experiment,
							     struct ctx_err *err);

/* The same of the code that was made at run time; none is no damage. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_experiment_read_code(struct ctx_gp_experiments *experiments,
							   struct ctx_gp_experiment *experiment,
							   struct ctx_err *err);

#endif
