/*
 *	root process   run |-----------maps--usage---------------------| exit
 *	_f1.er           run |----maps------| exit
 *	              0      shift_ns                               time
 *
 * Descendants are on the root process's clock. Root processes of a group share a clock if they ran
 * on the same host and the differences of monotonic time and of wall-clock time agree.
 */
#include "formats/gprofng/gp_reader.h"

#include "base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Placing */

static int64_t difference(const struct ctx_gp_experiment *a, const struct ctx_gp_experiment *b)
{
	int64_t ns;

	return __builtin_sub_overflow(a->log.times.run_ns, b->log.times.run_ns, &ns) ? 0 : ns;
}

/*
 * Time from the run of one root process to that of another; without a common clock both begin
 * together.
 */
static int64_t between(const struct ctx_gp_experiment *from, const struct ctx_gp_experiment *to)
{
	int64_t monotonic = difference(to, from);
	int64_t wall = (to->log.times.run_unix - from->log.times.run_unix) * 1000000000;
	int64_t apart = monotonic > wall ? monotonic - wall : wall - monotonic;
	bool is_known = from->log.times.run_unix != 0 && to->log.times.run_unix != 0;

	if (strcmp(from->log.machine.host, to->log.machine.host) == 0 && (apart <= 2000000000 || !is_known))
		return monotonic;
	return is_known ? wall : 0;
}

/*
 * Experiments of each root process by process number and time, and by lineage: there may be tens of
 * thousands.
 */
struct kin {
	const struct ctx_gp_experiment **by_pid, **by_lineage; /* owned */
	size_t n;
};

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_pid(const void *a, const void *b)
{
	const struct ctx_gp_experiment *left = *(const struct ctx_gp_experiment *const *)a,
				       *right = *(const struct ctx_gp_experiment *const *)b;
	int is = order(left->root_process, right->root_process);

	if (is == 0)
		is = order(left->log.process.pid, right->log.process.pid);
	if (is == 0)
		is = order(left->log.times.run_ns, right->log.times.run_ns);
	return is != 0 ? is : order(left->number, right->number);
}

static int by_lineage(const void *a, const void *b)
{
	const struct ctx_gp_experiment *left = *(const struct ctx_gp_experiment *const *)a,
				       *right = *(const struct ctx_gp_experiment *const *)b;
	int is = order(left->root_process, right->root_process);

	if (is == 0)
		is = strcmp(left->lineage, right->lineage);
	return is != 0 ? is : order(left->number, right->number);
}

static void kin_deinit(struct kin *kin)
{
	free(kin->by_pid);
	free(kin->by_lineage);
}

static enum ctx_status kin_init(struct kin *kin, const struct ctx_gp_experiments *experiments,
				struct ctx_err *err)
{
	size_t n = experiments->n;

	*kin = (struct kin){.by_pid = ctx_calloc(n, sizeof(*kin->by_pid)),
			    .by_lineage = ctx_calloc(n, sizeof(*kin->by_lineage)),
			    .n = n};
	if (kin->by_pid == NULL || kin->by_lineage == NULL) {
		kin_deinit(kin);
		return ctx_err_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		kin->by_pid[i] = kin->by_lineage[i] = experiments->items[i];
	qsort(kin->by_pid, n, sizeof(struct ctx_gp_experiment *), by_pid);
	qsort(kin->by_lineage, n, sizeof(struct ctx_gp_experiment *), by_lineage);
	return CTX_OK;
}

/* Number of entries before `key` in the order. */
static size_t count_before(const struct ctx_gp_experiment **items, size_t n,
			   const struct ctx_gp_experiment *key, int (*compare)(const void *, const void *))
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The experiment of a recorded ancestor; CTX_NONE. */
static uint32_t find_lineage(const struct kin *kin, uint32_t root_process, const char *lineage, size_t n)
{
	char text[NAME_MAX + 1]; /* lineages are names of directories */
	struct ctx_gp_experiment key = {.root_process = root_process, .lineage = text};
	size_t at;

	snprintf(text, sizeof(text), "%.*s", (int)n, lineage);
	at = count_before(kin->by_lineage, kin->n, &key, by_lineage);
	if (at == kin->n || kin->by_lineage[at]->root_process != root_process ||
	    strcmp(kin->by_lineage[at]->lineage, text) != 0)
		return CTX_NONE;
	return kin->by_lineage[at]->number;
}

/* The last earlier experiment with this process number; NULL: none. */
static const struct ctx_gp_experiment *find_pid(const struct kin *kin, const struct ctx_gp_experiment *child,
						int64_t pid)
{
	struct ctx_gp_experiment key = {.root_process = child->root_process, .number = UINT32_MAX};
	size_t at;

	key.log.process.pid = pid;
	key.log.times.run_ns = child->log.times.run_ns;
	at = pid >= 0 ? count_before(kin->by_pid, kin->n, &key, by_pid) : 0;
	if (at != 0 && kin->by_pid[at - 1] == child)
		at--;
	if (at == 0 || kin->by_pid[at - 1]->root_process != child->root_process ||
	    kin->by_pid[at - 1]->log.process.pid != pid)
		return NULL;
	return kin->by_pid[at - 1];
}

/*
 * The parent is, in this order: the experiment that executed it (same process number, unless that
 * one exited and the number was reused), the one that forked it (the parent's number), the one
 * named by its lineage, the root process. Lineages alone are not enough: after vfork and exec in
 * system() the child is named after the first.
 */
static uint32_t parent_of(const struct kin *kin, const struct ctx_gp_experiment *child)
{
	const char *last = strrchr(child->lineage, '_');
	const struct ctx_gp_experiment *found;
	uint32_t parent = CTX_NONE;

	if (child->lineage[0] == '\0')
		return CTX_NONE;
	found = find_pid(kin, child, child->log.process.pid);
	if (found == NULL || found->log.times.has_exit)
		found = find_pid(kin, child, child->log.process.ppid);
	if (found != NULL)
		return found->number;
	if (last != NULL)
		parent = find_lineage(kin, child->root_process, child->lineage,
				      (size_t)(last - child->lineage));
	return parent != CTX_NONE ? parent : child->root_process;
}

static enum ctx_status find_parents(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	const struct ctx_gp_experiments *experiments = &reader->experiments;
	struct kin kin;
	enum ctx_status status = kin_init(&kin, experiments, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < experiments->n; i++)
		reader->images[i] = (struct ctx_gp_image){.number = CTX_NONE,
							  .java.shared = &reader->jstacks,
							  .parent = parent_of(&kin, experiments->items[i])};
	kin_deinit(&kin);
	return CTX_OK;
}

enum ctx_status ctx_gp_timeline_place(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_gp_experiments *experiments = &reader->experiments;
	int64_t earliest = 0;
	enum ctx_status status;

	reader->images = ctx_calloc(experiments->n, sizeof(*reader->images));
	reader->experiment_of = ctx_calloc(experiments->n, sizeof(*reader->experiment_of));
	if (reader->images == NULL || reader->experiment_of == NULL)
		return ctx_err_nomem(err);
	status = find_parents(reader, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < experiments->n; i++) {
		struct ctx_gp_experiment *item = experiments->items[i];
		struct ctx_gp_experiment *root_process = experiments->items[item->root_process];

		item->shift_ns = item == root_process
					 ? between(experiments->items[0], item)
					 : root_process->shift_ns + difference(item, root_process);
		item->end_ns = item->log.times.last_ns;
		if (item->log.times.has_exit && item->log.times.exit_ns > item->end_ns)
			item->end_ns = item->log.times.exit_ns;
		if (item->shift_ns < earliest)
			earliest = item->shift_ns;
	}
	for (size_t i = 0; i < experiments->n; i++)
		experiments->items[i]->shift_ns -= earliest;
	return CTX_OK;
}

/* Filling */

/* `time_ns` is from its run. */
static enum ctx_status add(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
			   struct ctx_gp_moment moment, int64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&reader->moments.items, &reader->moments.cap, reader->moments.n + 1, err);

	if (status != CTX_OK)
		return status;
	if (time_ns < 0)
		time_ns = 0;
	if (time_ns > experiment->end_ns)
		time_ns = experiment->end_ns;
	moment.time_ns = (uint64_t)(experiment->shift_ns + time_ns);
	moment.experiment = experiment->number;
	reader->moments.items[reader->moments.n++] = moment;
	return CTX_OK;
}

static enum ctx_status fill_one(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				struct ctx_err *err)
{
	enum ctx_status status = add(reader, experiment,
				     (struct ctx_gp_moment){.kind = CTX_GP_MOMENT_START, .item = 0}, 0, err);

	for (size_t i = 0; i < experiment->map.n && status == CTX_OK; i++) {
		const struct ctx_gp_map_entry *entry = &experiment->map.entries[i];

		if (entry->size != 0 && (entry->executable || entry->is_unmap))
			status = add(reader, experiment,
				     (struct ctx_gp_moment){.kind = CTX_GP_MOMENT_MAP, .item = (uint32_t)i},
				     entry->time_ns, err);
	}
	for (size_t i = 0; i < experiment->overview.n && status == CTX_OK; i++) {
		int64_t time = experiment->overview.records[i].time_ns - experiment->log.times.run_ns;

		if (time >= 0 && time <= experiment->end_ns)
			status = add(reader, experiment,
				     (struct ctx_gp_moment){.kind = CTX_GP_MOMENT_USAGE, .item = (uint32_t)i},
				     time, err);
	}
	return status == CTX_OK
		       ? add(reader, experiment, (struct ctx_gp_moment){.kind = CTX_GP_MOMENT_END, .item = 0},
			     experiment->end_ns, err)
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
		qsort(reader->moments.items, reader->moments.n, sizeof(*reader->moments.items), by_time);
	return status;
}
