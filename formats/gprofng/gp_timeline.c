/*
 *	founder   run |-----------maps--usage---------------------| exit
 *	_f1.er           run |----maps------| exit
 *	              0      shift_ns                               time
 *
 * Descendants are on the founder's clock. Founders of a group are on one clock too where that makes sense: the same host, and
 * the difference of the monotonic times is that of the wall clock.
 */
#include "formats/gprofng/gp_reader.h"

#include "base/mem.h"

#include <string.h>

/* Placing */

static int64_t difference(const struct ctx_gp_experiment *a, const struct ctx_gp_experiment *b)
{
	int64_t ns;

	return __builtin_sub_overflow(a->log.run_ns, b->log.run_ns, &ns) ? 0 : ns;
}

/* From the run of one founder to that of another. */
static int64_t between(const struct ctx_gp_experiment *from, const struct ctx_gp_experiment *to)
{
	int64_t monotonic = difference(to, from);
	int64_t wall = (to->log.run_unix - from->log.run_unix) * 1000000000;
	int64_t apart = monotonic > wall ? monotonic - wall : wall - monotonic;

	if (strcmp(from->log.host, to->log.host) == 0 && apart <= 2000000000)
		return monotonic;
	return wall;
}

/* The experiment of a process that is said to be an ancestor; CTX_NONE. */
static uint32_t find_lineage(const struct ctx_gp_experiments *experiments, uint32_t founder,
			     const char *lineage, size_t n)
{
	for (size_t i = founder; i < experiments->n && experiments->items[i]->founder == founder; i++) {
		const char *other = experiments->items[i]->lineage;

		if (strlen(other) == n && memcmp(other, lineage, n) == 0)
			return (uint32_t)i;
	}
	return CTX_NONE;
}

/* The last one that had this process number and began before; CTX_NONE. */
static uint32_t find_pid(const struct ctx_gp_experiments *experiments, const struct ctx_gp_experiment *child,
			 int64_t pid)
{
	uint32_t found = CTX_NONE;

	for (size_t i = child->founder;
	     pid >= 0 && i < experiments->n && experiments->items[i]->founder == child->founder; i++) {
		const struct ctx_gp_experiment *other = experiments->items[i];

		if (other == child || other->log.pid != pid || other->log.run_ns > child->log.run_ns)
			continue;
		if (found == CTX_NONE || experiments->items[found]->log.run_ns <= other->log.run_ns)
			found = (uint32_t)i;
	}
	return found;
}

/*
 * Who executed it (the same number), who forked it (the parent's number), who is named by its lineage; else the founder.
 * Lineages alone do not tell: what vfork and exec make of system() is named after the first.
 */
static uint32_t parent_of(const struct ctx_gp_experiments *experiments, const struct ctx_gp_experiment *child)
{
	const char *last = strrchr(child->lineage, '_');
	uint32_t found;

	if (child->lineage[0] == '\0')
		return CTX_NONE;
	found = find_pid(experiments, child, child->log.pid);
	if (found == CTX_NONE)
		found = find_pid(experiments, child, child->log.ppid);
	if (found == CTX_NONE && last != NULL)
		found = find_lineage(experiments, child->founder, child->lineage,
				     (size_t)(last - child->lineage));
	return found != CTX_NONE && found != child->number ? found : child->founder;
}

enum ctx_status ctx_gp_timeline_place(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_gp_experiments *experiments = &reader->experiments;
	int64_t earliest = 0;

	reader->images = ctx_calloc(experiments->n, sizeof(*reader->images));
	reader->experiment_of = ctx_calloc(experiments->n, sizeof(*reader->experiment_of));
	if (reader->images == NULL || reader->experiment_of == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < experiments->n; i++) {
		struct ctx_gp_experiment *item = experiments->items[i];
		struct ctx_gp_experiment *founder = experiments->items[item->founder];

		reader->images[i] =
			(struct ctx_gp_image){.number = CTX_NONE, .parent = parent_of(experiments, item)};
		item->shift_ns = item == founder ? between(experiments->items[0], item)
						 : founder->shift_ns + difference(item, founder);
		item->end_ns = item->log.last_ns;
		if (item->log.has_exit && item->log.exit_ns > item->end_ns)
			item->end_ns = item->log.exit_ns;
		if (item->shift_ns < earliest)
			earliest = item->shift_ns;
	}
	for (size_t i = 0; i < experiments->n; i++)
		experiments->items[i]->shift_ns -= earliest;
	return CTX_OK;
}

/* Filling */

static enum ctx_status add(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
			   enum ctx_gp_moment_kind kind, int64_t time_ns, size_t item, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->moments, &reader->moments_cap, reader->n_moments + 1, err);

	if (status != CTX_OK)
		return status;
	if (time_ns < 0)
		time_ns = 0;
	if (time_ns > experiment->end_ns)
		time_ns = experiment->end_ns;
	reader->moments[reader->n_moments++] =
		(struct ctx_gp_moment){.time_ns = (uint64_t)(experiment->shift_ns + time_ns),
				       .kind = kind,
				       .experiment = experiment->number,
				       .item = (uint32_t)item};
	return CTX_OK;
}

static enum ctx_status fill_one(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				struct ctx_err *err)
{
	enum ctx_status status = add(reader, experiment, CTX_GP_MOMENT_START, 0, 0, err);

	for (size_t i = 0; i < experiment->map.n && status == CTX_OK; i++) {
		const struct ctx_gp_map_entry *entry = &experiment->map.entries[i];

		if (entry->size != 0 && (entry->executable || entry->is_unmap))
			status = add(reader, experiment, CTX_GP_MOMENT_MAP, entry->time_ns, i, err);
	}
	for (size_t i = 0; i < experiment->overview.n && status == CTX_OK; i++) {
		int64_t time = experiment->overview.records[i].time_ns - experiment->log.run_ns;

		if (time >= 0 && time <= experiment->end_ns)
			status = add(reader, experiment, CTX_GP_MOMENT_USAGE, time, i, err);
	}
	return status == CTX_OK ? add(reader, experiment, CTX_GP_MOMENT_END, experiment->end_ns, 0, err)
				: status;
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_gp_moment *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->experiment != right->experiment)
		return left->experiment < right->experiment ? -1 : 1;
	return left->item < right->item ? -1 : left->item > right->item;
}

enum ctx_status ctx_gp_timeline_fill(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->experiments.n && status == CTX_OK; i++)
		status = fill_one(reader, reader->experiments.items[i], err);
	if (status == CTX_OK)
		qsort(reader->moments, reader->n_moments, sizeof(*reader->moments), by_time);
	return status;
}
