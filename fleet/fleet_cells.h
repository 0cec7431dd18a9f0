/*
 * Cells: the samples of a recording added up by span of time, metric, group of threads and call stack.
 *
 *	level 0    the whole recording
 *	level 60   minutes of the clock of the day (UTC)
 *	level 10   tenths of them
 *	level 1    seconds
 *
 * Cells of all recordings have the same borders, so an interval that begins and ends with a second is put together exactly from
 * minutes, ten seconds and seconds, whatever the recordings' own times are.
 *
 * A span of time that crosses a border is a sample in each cell that it touches. `carried` says how many of a cell's samples have
 * begun before it: whoever adds up neighbouring cells subtracts them in all but the first. `carried_calls` is the same of calls
 * that are estimated from samples; exact ones belong to the span's begin alone (model/span_clip.h).
 *
 * Rows with the same key may come several times, they add up: memory is bounded by `rows_max`, not by the recording.
 *
 * Samples come in order of their (last) time. So of each level the cell that has this time is a table of its own, which is small and stays in
 * the processor's caches, and is handed out when time is past it; what spans have in cells before is in a table of all of these.
 */
#ifndef CTX_FLEET_FLEET_CELLS_H
#define CTX_FLEET_FLEET_CELLS_H

#include "base/map64.h"
#include "model/profile.h"
#include "model/sample.h"

#define CTX_CELL_WHOLE 0u
#define CTX_CELL_LEVELS 4u
extern const uint32_t ctx_cell_levels[CTX_CELL_LEVELS]; /* 0, 1, 10, 60: seconds; 0 the whole recording */

struct ctx_fleet_cell {
	uint64_t weight, samples;
	int64_t calls;
	uint64_t carried;
	int64_t carried_calls;
	uint64_t longest; /* weight of one sample, of its part in the cell */
	uint32_t begin_s; /* since 1970, of the cell; of the whole recording the second of its begin */
	uint32_t level, metric, group,
		stack; /* metric: id; group: as the caller numbers threads; stack: CCT node */
};

/* Rows in no particular order, valid during the call. Any status but CTX_OK ends the adding with it. */
typedef enum ctx_status (*ctx_fleet_cells_fn)(void *context, const struct ctx_fleet_cell *cells, size_t n,
					      struct ctx_err *err);

struct ctx_fleet_cells_spec { /* borrowed */
	const struct ctx_profile *profile;
	uint64_t wall_ns;	/* time of day at the profile's time 0 */
	const uint32_t *groups; /* by thread: its group */
	size_t rows_max;	/* in memory at a time */
	ctx_fleet_cells_fn each;
	void *context;
};

/* Rows and their numbers by key. */
struct ctx_fleet_cell_table {
	struct ctx_fleet_cell *rows;
	size_t n, cap;
	struct ctx_map64 row_of;
};

struct ctx_fleet_cells { /* made by ctx_fleet_cells_init, released by ctx_fleet_cells_deinit */
	struct ctx_fleet_cells_spec spec;
	struct ctx_fleet_cell_table now[CTX_CELL_LEVELS]; /* by (metric, group, stack) */
	uint64_t now_number[CTX_CELL_LEVELS];		  /* of its cell */
	struct ctx_fleet_cell_table past;		  /* by (place, stack) */
	struct ctx_map64 places;			  /* of (metric, group) and the cell: its number */
	uint32_t n_places;
};

void ctx_fleet_cells_init(struct ctx_fleet_cells *cells, const struct ctx_fleet_cells_spec *spec);
void ctx_fleet_cells_deinit(struct ctx_fleet_cells *cells);

/*
 * Adds a sample, whole: a span is not cut yet. CTX_E_LIMIT: more than 65536 groups or 256 metrics; CTX_E_NOMEM; what
 * `each` fails with. O(1) for each level, of a span for each cell that it touches.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_cells_add(struct ctx_fleet_cells *cells,
						   const struct ctx_sample *sample, struct ctx_err *err);

/* Hands out what is left. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_cells_end(struct ctx_fleet_cells *cells, struct ctx_err *err);

#endif
