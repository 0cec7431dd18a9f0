/*
 *	files[] --first reading--> runs[], sorted by the first time in each
 *	                             |  [0, next) are open or done, the others wait
 *	                             v
 *	open runs: the bytes of the run, and its events' times in order
 *	                             ^
 *	heap: the next time of each, least on top
 */
#include "formats/gprofng/gp_events.h"

#include "base/fileio.h"
#include "base/heap.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_MAX_RUNS 2048u
#define LATER 4u /* events of the same run between an event and the one whose stack is its hint */

struct data_file {
	char *path; /* owned */
	const struct ctx_gp_log *log;
	size_t file;
	const struct ctx_gp_layout *layout; /* of the type looked up last */
	uint32_t layout_type;		    /* UINT32_MAX: none was */
	uint32_t owner;
	int64_t base_ns; /* subtracted from absolute times */
	int64_t earliest_ns, latest_ns;
};

struct run {
	uint64_t begin, end; /* in the file */
	int64_t first_ns;    /* relative */
	uint32_t file, order;
};

struct timed {		 /* one event of an open run */
	int64_t time_ns; /* relative */
	uint32_t at, n;
};

struct open_run {
	uint8_t *bytes; /* owned; NULL: the slot is free */
	struct timed *events;
	size_t n, cap, next;
	uint32_t run;
};

struct head {
	int64_t time_ns;
	uint32_t order; /* of the run: breaks ties between equal times, so that the order is deterministic */
	uint32_t open;	/* index of the run in open[] */
};

struct ctx_gp_events {
	struct data_file *files;
	size_t n_files, files_cap;
	int fd; /* of the file read last; -1 none. Only one is open: they may outnumber the descriptors */
	uint32_t fd_file; /* its number */
	struct run *runs;
	size_t n_runs, runs_cap, next_run;
	struct open_run *open; /* owned; as many slots as runs were ever open at once */
	size_t n_open, open_cap;
	struct head *heap; /* owned */
	size_t n_heap, heap_cap;
	bool sorted;
	bool ready; /* the top of the heap is the next event */
	bool took;  /* it was returned: the next call removes it from the top */
	uint64_t progress;
};

enum ctx_status ctx_gp_events_create(struct ctx_gp_events **ret, struct ctx_err *err)
{
	*ret = ctx_calloc(1, sizeof(**ret));
	if (*ret == NULL)
		return ctx_err_nomem(err);
	(*ret)->fd = -1;
	return CTX_OK;
}

/* The slot keeps its array for the next run. */
static void close_run(struct open_run *open)
{
	free(open->bytes);
	open->bytes = NULL;
	open->n = open->next = 0;
}

void ctx_gp_events_destroy(struct ctx_gp_events *events)
{
	if (events == NULL)
		return;
	for (size_t i = 0; i < events->n_open; i++) {
		free(events->open[i].bytes);
		free(events->open[i].events);
	}
	for (size_t i = 0; i < events->n_files; i++)
		free(events->files[i].path);
	if (events->fd >= 0)
		close(events->fd);
	free(events->open);
	free(events->heap);
	free(events->files);
	free(events->runs);
	free(events);
}

/* Adding */

static enum ctx_status open_file(const char *path, int *ret, struct ctx_err *err)
{
	struct stat info;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	*ret = fd;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s is no plain file", path);
	return CTX_OK;
}

/*
 * The layout of a type in this file; NULL where the log does not describe it. Nearly always it is
 * that of the previous record.
 */
static const struct ctx_gp_layout *layout_of(struct data_file *file, uint32_t type)
{
	if (file->layout_type != type) {
		file->layout = ctx_gp_log_layout(file->log, file->file, type);
		file->layout_type = type;
	}
	return file->layout;
}

/*
 * Is this record used? Its time is absolute. Problems of other records are counted in `found`,
 * unless that is NULL.
 */
static inline bool find_time(struct data_file *file, const struct ctx_gp_record *record, int64_t *ret_ns,
			     struct ctx_gp_events_found *found)
{
	const struct ctx_gp_layout *layout = layout_of(file, record->type);

	if (!ctx_gp_event_time(layout, record, file->log->machine.big_endian, ret_ns)) {
		if (found != NULL && layout != NULL && found->invalid++ == 0)
			found->invalid_at = record->offset;
		return false;
	}
	if (*ret_ns < file->earliest_ns || *ret_ns > file->latest_ns) {
		if (found != NULL)
			found->impossible++;
		return false;
	}
	if (*ret_ns < file->log->times.run_ns) /* no event comes before its process */
		*ret_ns = file->log->times.run_ns;
	return true;
}

static enum ctx_status add_run(struct ctx_gp_events *events, uint32_t file, uint64_t begin,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&events->runs, &events->runs_cap, events->n_runs + 1, err);

	if (status == CTX_OK)
		events->runs[events->n_runs++] = (struct run){.begin = begin,
							      .first_ns = INT64_MAX,
							      .file = file,
							      .order = (uint32_t)events->n_runs};
	return status;
}

static void note(struct ctx_gp_events_found *found, int64_t time_ns)
{
	if (found->n++ == 0) {
		found->first_ns = time_ns;
		found->last_ns = time_ns;
	}
	if (time_ns < found->first_ns)
		found->first_ns = time_ns;
	if (time_ns > found->last_ns)
		found->last_ns = time_ns;
}

/* The first reading: a run begins with the first event in a block. */
static enum ctx_status scan(struct ctx_gp_events *events, uint32_t file, struct ctx_gp_blocks *blocks,
			    struct ctx_gp_events_found *found, struct ctx_err *err)
{
	uint64_t block = UINT64_MAX;
	struct ctx_gp_record record;
	enum ctx_status status;

	while ((status = ctx_gp_blocks_next(blocks, &record, err)) == CTX_OK) {
		struct run *run;
		int64_t absolute, time;

		if (!find_time(&events->files[file], &record, &absolute, found))
			continue;
		if (record.offset / CTX_GP_BLOCK_BYTES != block) {
			block = record.offset / CTX_GP_BLOCK_BYTES;
			status = add_run(events, file, record.offset, err);
			if (status != CTX_OK)
				return status;
		}
		time = absolute - events->files[file].base_ns;
		run = &events->runs[events->n_runs - 1];
		run->end = record.offset + record.n;
		if (time < run->first_ns)
			run->first_ns = time;
		note(found, absolute);
	}
	return status == CTX_END ? CTX_OK : status;
}

enum ctx_status ctx_gp_events_add(struct ctx_gp_events *events, const struct ctx_gp_data_file *added,
				  struct ctx_gp_events_found *ret, struct ctx_err *err)
{
	const struct ctx_gp_log *log = added->log;
	struct ctx_gp_events_found found = {0};
	struct ctx_gp_blocks blocks;
	int fd CTX_AUTO_CLOSE = -1;
	enum ctx_status status = open_file(added->path, &fd, err);

	if (status == CTX_OK)
		status = ctx_grow(&events->files, &events->files_cap, events->n_files + 1, err);
	if (status != CTX_OK)
		return status;
	events->files[events->n_files] = (struct data_file){
		.path = strdup(added->path),
		.log = log,
		.file = added->file,
		.layout_type = UINT32_MAX,
		.owner = added->owner,
		.base_ns = log->times.run_ns - added->shift_ns,
		.earliest_ns = log->times.run_ns - 1000000000,
		.latest_ns = added->latest_ns,
	};
	if (events->files[events->n_files].path == NULL)
		return ctx_err_nomem(err);
	events->n_files++;
	status = ctx_gp_blocks_init(&blocks, fd, events->files[events->n_files - 1].path,
				    log->machine.big_endian, err);
	if (status == CTX_OK)
		status = scan(events, (uint32_t)(events->n_files - 1), &blocks, &found, err);
	found.bytes = blocks.end;
	if (blocks.invalid != 0 && (found.invalid == 0 || blocks.invalid_at < found.invalid_at))
		found.invalid_at = blocks.invalid_at;
	found.invalid += blocks.invalid;
	ctx_gp_blocks_deinit(&blocks);
	*ret = found;
	return status;
}

/* Merging */

static bool is_before(const void *left, const void *right)
{
	const struct head *a = left, *b = right;

	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static int by_first(const void *a, const void *b)
{
	const struct run *left = a, *right = b;

	if (left->first_ns != right->first_ns)
		return left->first_ns < right->first_ns ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static int by_time(const void *a, const void *b)
{
	const struct timed *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->at < right->at ? -1 : left->at > right->at;
}

/* Sorts the events of a run. They mostly are sorted: threads of one flow only take turns. */
static enum ctx_status list_events(struct open_run *open, struct data_file *file,
				   struct ctx_gp_blocks *blocks, uint64_t begin, struct ctx_err *err)
{
	struct ctx_gp_record record;
	bool in_order = true;
	enum ctx_status status;

	while ((status = ctx_gp_blocks_next(blocks, &record, err)) == CTX_OK) {
		int64_t time;

		if (!find_time(file, &record, &time, NULL))
			continue;
		status = ctx_grow(&open->events, &open->cap, open->n + 1, err);
		if (status != CTX_OK)
			return status;
		time -= file->base_ns;
		in_order = in_order && (open->n == 0 || open->events[open->n - 1].time_ns <= time);
		open->events[open->n++] = (struct timed){
			.time_ns = time, .at = (uint32_t)(record.offset - begin), .n = (uint32_t)record.n};
	}
	if (status == CTX_END && !in_order)
		qsort(open->events, open->n, sizeof(*open->events), by_time);
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status use_file(struct ctx_gp_events *events, uint32_t file, struct ctx_err *err)
{
	if (events->fd >= 0 && events->fd_file == file)
		return CTX_OK;
	if (events->fd >= 0)
		close(events->fd);
	events->fd = -1;
	events->fd_file = file;
	return open_file(events->files[file].path, &events->fd, err);
}

static enum ctx_status read_run(struct ctx_gp_events *events, const struct run *run, struct open_run *open,
				struct ctx_err *err)
{
	struct data_file *file = &events->files[run->file];
	size_t n = (size_t)(run->end - run->begin), got = 0;
	struct ctx_gp_blocks blocks;
	enum ctx_status status;

	open->bytes = malloc(n);
	status = open->bytes != NULL ? use_file(events, run->file, err) : ctx_err_nomem(err);
	if (status == CTX_OK)
		status = ctx_file_pread(&(struct ctx_file_place){events->fd, file->path, run->begin},
					open->bytes, n, &got, err);
	if (status >= 0) {
		ctx_gp_blocks_set(&blocks, open->bytes, got, run->begin, file->log->machine.big_endian);
		status = list_events(open, file, &blocks, run->begin, err);
	}
	events->progress += n;
	return status;
}

/* A slot for one more open run. */
static enum ctx_status find_place(struct ctx_gp_events *events, uint32_t *ret, struct ctx_err *err)
{
	size_t place = 0;
	enum ctx_status status = ctx_grow(&events->heap, &events->heap_cap, events->n_heap + 1, err);

	while (place < events->n_open && events->open[place].bytes != NULL)
		place++;
	if (status == CTX_OK && place == events->n_open) {
		status = ctx_grow(&events->open, &events->open_cap, events->n_open + 1, err);
		if (status == CTX_OK)
			events->open[events->n_open++] = (struct open_run){0};
	}
	*ret = (uint32_t)place;
	return status;
}

static enum ctx_status open_run(struct ctx_gp_events *events, uint32_t number, struct ctx_err *err)
{
	const struct run *run = &events->runs[number];
	struct open_run *open;
	uint32_t place;
	enum ctx_status status = find_place(events, &place, err);

	if (status != CTX_OK)
		return status;
	open = &events->open[place];
	open->run = number;
	status = read_run(events, run, open, err);
	if (status != CTX_OK || open->n == 0) {
		close_run(open);
		return status;
	}
	events->heap[events->n_heap++] =
		(struct head){.time_ns = open->events[0].time_ns, .order = run->order, .open = place};
	ctx_heap_rise(events->heap, events->n_heap, sizeof(*events->heap), is_before);
	return CTX_OK;
}

/* Moves past the event returned last. */
static void move_on(struct ctx_gp_events *events)
{
	struct open_run *top = &events->open[events->heap[0].open];

	events->took = false;
	if (++top->next < top->n) {
		events->heap[0].time_ns = top->events[top->next].time_ns;
	} else {
		close_run(top);
		events->heap[0] = events->heap[--events->n_heap];
	}
	ctx_heap_sink(events->heap, events->n_heap, sizeof(*events->heap), is_before);
}

enum ctx_status ctx_gp_events_peek(struct ctx_gp_events *events, int64_t *ret_time_ns, struct ctx_err *err)
{
	if (events->ready) {
		*ret_time_ns = events->heap[0].time_ns;
		return CTX_OK;
	}
	if (!events->sorted && events->n_runs != 0)
		qsort(events->runs, events->n_runs, sizeof(*events->runs), by_first);
	events->sorted = true;
	if (events->took)
		move_on(events);
	while (events->next_run < events->n_runs && events->n_heap < OPEN_MAX_RUNS &&
	       (events->n_heap == 0 || events->runs[events->next_run].first_ns <= events->heap[0].time_ns)) {
		enum ctx_status status = open_run(events, (uint32_t)events->next_run++, err);

		if (status != CTX_OK)
			return status;
	}
	if (events->n_heap == 0)
		return CTX_END;
	events->ready = true;
	*ret_time_ns = events->heap[0].time_ns;
	return CTX_OK;
}

/* The stack of a later event of a run. */
static uint64_t later_stack(const struct data_file *file, const struct open_run *run)
{
	const struct ctx_gp_layout *layout = file->layout; /* most likely it has the same type */
	const struct timed *event;

	if (layout == NULL || run->n - run->next <= LATER)
		return 0;
	event = &run->events[run->next + LATER];
	if (event->n < layout->bytes_min)
		return 0;
	return ctx_gp_layout_get(layout, CTX_GP_FRINFO, run->bytes + event->at,
				 file->log->machine.big_endian);
}

enum ctx_status ctx_gp_events_next(struct ctx_gp_events *events, struct ctx_gp_event *ret,
				   struct ctx_err *err)
{
	int64_t time;
	enum ctx_status status = ctx_gp_events_peek(events, &time, err);
	const struct open_run *top;
	const struct timed *event;
	struct data_file *file;
	struct ctx_gp_record record;

	if (status != CTX_OK)
		return status;
	top = &events->open[events->heap[0].open];
	event = &top->events[top->next];
	file = &events->files[events->runs[top->run].file];
	record = (struct ctx_gp_record){.bytes = top->bytes + event->at, .n = event->n};
	record.type = ctx_gp_u16(record.bytes + 2, file->log->machine.big_endian);
	if (!ctx_gp_event_decode(layout_of(file, record.type), &record, file->log->machine.big_endian, ret))
		return ctx_err_set(err, CTX_E_INTERNAL, "%s: an event that was there before is gone",
				   file->path);
	ret->owner = file->owner;
	ret->later_stack = later_stack(file, top);
	events->ready = false;
	events->took = true;
	return CTX_OK;
}

uint64_t ctx_gp_events_progress(const struct ctx_gp_events *events)
{
	return events->progress;
}
