/*
 *	add --> items --full: sort, write--> runs in the file --.
 *	           '---- freeze: the last run, in memory ------+--> a heap of runs --> next
 */
#include "formats/traceevent/te_sort.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_RECORDS 2048u /* of a run in memory */

void ctx_te_sort_deinit(struct ctx_te_sort *sort)
{
	for (size_t i = 0; i < sort->n_runs; i++)
		free(sort->runs[i].items);
	if (sort->n_runs != 0)
		close(sort->fd);
	free(sort->runs);
	free(sort->items);
	*sort = (struct ctx_te_sort){0};
}

static bool is_before(const struct ctx_te_record *a, const struct ctx_te_record *b, bool outer_is_later)
{
	bool a_slice = ctx_te_kind_of(a) == CTX_TE_SLICE, b_slice = ctx_te_kind_of(b) == CTX_TE_SLICE;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a_slice != b_slice)
		return b_slice;
	if (a_slice && a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns;
	return (a->order < b->order) != (a_slice && outer_is_later);
}

static int compare(const void *a, const void *b, void *context)
{
	const bool *outer_is_later = context;

	return is_before(a, b, *outer_is_later) ? -1 : 1; /* none are equal: each has its order */
}

static void sort_items(struct ctx_te_sort *sort)
{
	if (!sort->is_decided)
		sort->outer_is_later = sort->ends_in_order > sort->begins_in_order;
	sort->is_decided = true;
	for (size_t i = 1; i < sort->n; i++) {
		if (is_before(&sort->items[i - 1], &sort->items[i], sort->outer_is_later))
			continue;
		qsort_r(sort->items, sort->n, sizeof(*sort->items), compare, &sort->outer_is_later);
		return;
	}
}

/* A file without a name. */
static enum ctx_status make_file(struct ctx_te_sort *sort, struct ctx_err *err)
{
	const char *directory = getenv("TMPDIR");
	char *path CTX_AUTO_FREE = NULL;

	path = ctx_path_join(directory != NULL && directory[0] != '\0' ? directory : "/tmp",
			     "ctxan-sort-XXXXXX");
	if (path == NULL)
		return ctx_err_nomem(err);
	sort->fd = mkostemp(path, O_CLOEXEC);
	if (sort->fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "temporary file %s", path);
	unlink(path);
	return CTX_OK;
}

static enum ctx_status write_run(struct ctx_te_sort *sort, struct ctx_err *err)
{
	size_t bytes = sort->n * sizeof(*sort->items);
	enum ctx_status status = ctx_grow(&sort->runs, &sort->runs_cap, sort->n_runs + 1, err);

	if (status == CTX_OK && sort->n_runs == 0)
		status = make_file(sort, err);
	if (status != CTX_OK)
		return status;
	sort->runs[sort->n_runs++] = (struct ctx_te_run){.at = sort->bytes, .end = sort->bytes + bytes};
	sort_items(sort);
	status = ctx_file_write(sort->fd, "temporary file", sort->items, bytes, err);
	sort->bytes += bytes;
	sort->n = 0;
	return status;
}

enum ctx_status ctx_te_sort_add(struct ctx_te_sort *sort, const struct ctx_te_record *record,
				struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (sort->n >= (sort->limit != 0 ? sort->limit : CTX_TE_SORT_RECORDS))
		status = write_run(sort, err);
	if (status == CTX_OK)
		status = ctx_grow(&sort->items, &sort->cap, sort->n + 1, err);
	if (status == CTX_OK)
		sort->items[sort->n++] = *record;
	return status;
}

/* Has the run's next record in memory. CTX_END: there is none. */
static enum ctx_status fill_run(struct ctx_te_sort *sort, struct ctx_te_run *run, struct ctx_err *err)
{
	size_t bytes = RUN_RECORDS * sizeof(*run->items), got = 0;
	enum ctx_status status;

	if (run->next < run->n)
		return CTX_OK;
	if (run->at == run->end)
		return CTX_END;
	if (run->items == NULL)
		run->items = malloc(bytes);
	if (run->items == NULL)
		return ctx_err_nomem(err);
	if (bytes > run->end - run->at)
		bytes = (size_t)(run->end - run->at);
	status = ctx_file_pread(&(struct ctx_file_place){sort->fd, "temporary file", run->at}, run->items,
				bytes, &got, err);
	if (status != CTX_OK)
		return status < 0 ? status : ctx_err_set(err, CTX_E_IO, "temporary file: cut");
	run->at += bytes;
	run->n = bytes / sizeof(*run->items);
	run->next = 0;
	return CTX_OK;
}

enum ctx_status ctx_te_sort_freeze(struct ctx_te_sort *sort, struct ctx_err *err)
{
	enum ctx_status status;

	if (sort->n_runs == 0) {
		sort_items(sort);
		return CTX_OK;
	}
	status = sort->n != 0 ? write_run(sort, err) : CTX_OK;
	free(sort->items);
	sort->items = NULL;
	sort->n = sort->cap = 0;
	for (size_t i = 0; i < sort->n_runs && status == CTX_OK; i++)
		status = fill_run(sort, &sort->runs[i], err);
	return status;
}

/* The run with the first record; NULL: none has one. Few runs: 64 MiB each. */
static struct ctx_te_run *first_run(struct ctx_te_sort *sort)
{
	struct ctx_te_run *first = NULL;

	for (size_t i = 0; i < sort->n_runs; i++) {
		struct ctx_te_run *run = &sort->runs[i];

		if (run->next < run->n &&
		    (first == NULL ||
		     is_before(&run->items[run->next], &first->items[first->next], sort->outer_is_later)))
			first = run;
	}
	return first;
}

enum ctx_status ctx_te_sort_next(struct ctx_te_sort *sort, const struct ctx_te_record **ret,
				 struct ctx_err *err)
{
	struct ctx_te_run *run;
	enum ctx_status status = CTX_OK;

	if (sort->n_runs == 0) {
		if (sort->next == sort->n)
			return CTX_END;
		*ret = &sort->items[sort->next++];
		return CTX_OK;
	}
	if (sort->last != NULL && sort->last->next == sort->last->n)
		status = fill_run(sort, sort->last, err);
	if (status < 0)
		return status;
	run = first_run(sort);
	if (run == NULL)
		return CTX_END;
	sort->last = run;
	*ret = &run->items[run->next++];
	return CTX_OK;
}
