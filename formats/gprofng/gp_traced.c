#include "formats/gprofng/gp_traced.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "model/heap_leaks.h"
#include "model/traced_metrics.h"

#include <stdlib.h>
#include <string.h>

#define NO_NAME (CTX_MAP64_NONE - 1) /* of a descriptor; CTX_MAP64_NONE is a free slot of the map */

struct image { /* state of a process */
	struct ctx_heap_leaks leaks;
	uint64_t n_heap;	  /* heap records so far */
	struct ctx_map64 file_of; /* descriptor: name; NO_NAME while it is closed */
};

struct ctx_gp_traced {
	struct image *images; /* owned; by experiment */
	size_t n_images;
	struct ctx_strtab names;
	bool has[CTX_TRACED_N];
	uint32_t first[CTX_TRACED_N]; /* number of the first announced metric of a kind */
	struct ctx_traced operation;  /* being returned */
};

void ctx_gp_traced_destroy(struct ctx_gp_traced *traced)
{
	if (traced == NULL)
		return;
	for (size_t i = 0; i < traced->n_images; i++) {
		ctx_heap_leaks_deinit(&traced->images[i].leaks);
		ctx_map64_deinit(&traced->images[i].file_of);
	}
	ctx_strtab_deinit(&traced->names);
	free(traced->images);
	free(traced);
}

/* A program starts with the first three descriptors open. */
static enum ctx_status name_standard(struct ctx_gp_traced *traced, struct image *image, struct ctx_err *err)
{
	static const char *const names[] = {"<stdin>", "<stdout>", "<stderr>"};

	for (uint64_t fd = 0; fd < CTX_COUNT_OF(names); fd++) {
		uint32_t *place = ctx_map64_place(&image->file_of, fd);
		uint32_t name;
		enum ctx_status status = ctx_strtab_add_text(&traced->names, names[fd], &name, err);

		if (status != CTX_OK)
			return status;
		if (place == NULL)
			return ctx_err_nomem(err);
		*place = name;
	}
	return CTX_OK;
}

enum ctx_status ctx_gp_traced_create(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_gp_traced *traced = ctx_calloc(1, sizeof(*traced));
	enum ctx_status status = CTX_OK;

	if (traced == NULL)
		return ctx_err_nomem(err);
	reader->traced = traced;
	traced->images = ctx_calloc(reader->experiments.n, sizeof(*traced->images));
	if (traced->images == NULL)
		return ctx_err_nomem(err);
	traced->n_images = reader->experiments.n;
	for (size_t i = 0; i < traced->n_images && status == CTX_OK; i++)
		status = name_standard(traced, &traced->images[i], err);
	return status;
}

static bool kind_of(uint32_t type, enum ctx_traced_kind *ret)
{
	*ret = type == CTX_GP_HEAP ? CTX_TRACED_HEAP : type == CTX_GP_SYNC ? CTX_TRACED_SYNC : CTX_TRACED_IO;
	return type == CTX_GP_HEAP || type == CTX_GP_SYNC || type == CTX_GP_IO;
}

void ctx_gp_traced_note(struct ctx_gp_traced *traced, const struct ctx_gp_log *log, size_t file)
{
	for (size_t i = 0; i < log->n_layouts; i++) {
		enum ctx_traced_kind kind;

		if (log->layouts[i].file == file && kind_of(log->layouts[i].type, &kind))
			traced->has[kind] = true;
	}
}

/* Leaks */

/* Without its leaked bytes. */
static struct ctx_traced heap_operation(const struct ctx_gp_event *event)
{
	static const uint8_t operations[] = {
		[CTX_GP_HEAP_MALLOC] = CTX_HEAP_ALLOCATE,    [CTX_GP_HEAP_FREE] = CTX_HEAP_FREE,
		[CTX_GP_HEAP_REALLOC] = CTX_HEAP_REALLOCATE, [CTX_GP_HEAP_MMAP] = CTX_HEAP_MAP,
		[CTX_GP_HEAP_MUNMAP] = CTX_HEAP_UNMAP,
	};

	return (struct ctx_traced){
		.kind = CTX_TRACED_HEAP,
		.operation = operations[event->heap.kind],
		.size = event->heap.size,
		.address = event->heap.address,
		.old_address = event->heap.kind == CTX_GP_HEAP_REALLOC ? event->heap.old_address : 0,
		.descriptor = -1,
	};
}

static enum ctx_status add_heap_files(struct ctx_gp_events *events,
				      const struct ctx_gp_experiment *experiment, int64_t latest_ns,
				      struct ctx_err *err)
{
	const struct ctx_gp_log *log = &experiment->log;

	for (size_t i = 0; i < log->n_files; i++) {
		char *path CTX_AUTO_FREE = NULL;
		struct ctx_gp_events_found found;
		enum ctx_status status;

		if (ctx_gp_log_layout(log, i, CTX_GP_HEAP) == NULL)
			continue;
		path = ctx_path_join(experiment->path, log->files[i]);
		if (path == NULL)
			return ctx_err_nomem(err);
		/* Damage of a file was reported when it was added for its events. */
		status = ctx_gp_events_add(events,
					   &(struct ctx_gp_data_file){.path = path,
								      .log = log,
								      .file = i,
								      .owner = experiment->number,
								      .shift_ns = experiment->shift_ns,
								      .latest_ns = latest_ns},
					   &found, NULL);
		if (status == CTX_E_NOMEM)
			return ctx_err_nomem(err);
	}
	return CTX_OK;
}

enum ctx_status ctx_gp_traced_read(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				   int64_t latest_ns, struct ctx_err *err)
{
	struct ctx_heap_leaks *leaks = &reader->traced->images[experiment->number].leaks;
	struct ctx_gp_events *events = NULL;
	struct ctx_gp_event event;
	enum ctx_status status;

	if (!reader->traced->has[CTX_TRACED_HEAP])
		return CTX_OK;
	status = ctx_gp_events_create(&events, err);
	if (status == CTX_OK)
		status = add_heap_files(events, experiment, latest_ns, err);
	while (status == CTX_OK && (status = ctx_gp_events_next(events, &event, err)) == CTX_OK) {
		struct ctx_traced operation;

		if (event.type != CTX_GP_HEAP || !ctx_gp_traced_is(&event))
			continue;
		operation = heap_operation(&event);
		status = ctx_heap_leaks_add(leaks, leaks->n, &operation, err);
	}
	ctx_gp_events_destroy(events);
	if (status == CTX_END)
		status = ctx_heap_leaks_finish(leaks, err);
	if (status == CTX_OK && ctx_heap_leaks_is_blind(leaks))
		status = ctx_gp_warn(
			reader, err,
			"the collector did not record which block realloc resized: blocks that were "
			"resized count as leaked");
	return status;
}

/* Metrics */

enum ctx_status ctx_gp_traced_metrics(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	static const enum ctx_traced_kind kinds[] = {CTX_TRACED_SYNC, CTX_TRACED_HEAP, CTX_TRACED_IO};
	struct ctx_gp_traced *traced = reader->traced;
	struct ctx_source_info *info = &reader->source.info;
	size_t cap = info->n_metrics;

	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		uint32_t n = info->n_metrics, n_own = ctx_traced_metrics(kinds[i]).n;
		enum ctx_status status;

		if (!traced->has[kinds[i]])
			continue;
		status = ctx_grow(&info->metrics, &cap, n + n_own, err);
		if (status != CTX_OK)
			return status;
		ctx_traced_metrics_append(kinds[i], info->metrics + n, n);
		traced->first[kinds[i]] = n;
		info->n_metrics = n + n_own;
	}
	return CTX_OK;
}

/* Records */

bool ctx_gp_traced_is(const struct ctx_gp_event *event)
{
	enum ctx_traced_kind kind;

	if (!kind_of(event->type, &kind))
		return false;
	return kind == CTX_TRACED_HEAP ? event->heap.kind <= CTX_GP_HEAP_MUNMAP
	       : kind == CTX_TRACED_IO ? event->io.kind < 2 * CTX_GP_IO_KINDS
				       : true;
}

/* Of a metric of the operation's kind. */
static void add_sample(struct ctx_gp_reader *reader, const struct ctx_event *like, uint32_t metric,
		       uint64_t weight)
{
	struct ctx_event *sample = &reader->later.events[reader->later.n];

	if (weight > CTX_TRACED_WEIGHT_MAX || weight > UINT64_MAX - reader->sums.weight) {
		reader->sums.impossible++;
		return;
	}
	reader->sums.weight += weight;
	*sample = *like;
	sample->sample.metric = reader->traced->first[reader->traced->operation.kind] + metric;
	sample->sample.weight = weight;
	reader->later.n++;
}

static uint64_t duration(const struct ctx_gp_event *event, int64_t request_ns)
{
	return request_ns > 0 && request_ns < event->time_ns ? (uint64_t)(event->time_ns - request_ns) : 0;
}

static void take_heap(struct ctx_gp_reader *reader, const struct ctx_gp_event *event,
		      const struct ctx_event *like)
{
	struct image *image = &reader->traced->images[event->owner];
	struct ctx_traced *operation = &reader->traced->operation;

	*operation = heap_operation(event);
	operation->leaked_size = ctx_heap_leaks_get(&image->leaks, image->n_heap++, operation);
	operation->leaked = operation->leaked_size != 0;
	if (ctx_traced_is_allocation(operation))
		add_sample(reader, like, CTX_HEAP_METRIC_BYTES, event->heap.size);
	if (operation->leaked)
		add_sample(reader, like, CTX_HEAP_METRIC_LEAK_BYTES, operation->leaked_size);
}

static void take_sync(struct ctx_gp_reader *reader, const struct ctx_gp_event *event,
		      const struct ctx_event *like)
{
	uint64_t wait_ns = duration(event, event->sync.request_ns);

	reader->traced->operation = (struct ctx_traced){
		.kind = CTX_TRACED_SYNC,
		.other = CTX_NONE,
		.duration_ns = wait_ns,
		.address = event->sync.object,
		.descriptor = -1,
	};
	add_sample(reader, like, CTX_SYNC_METRIC_TIME, wait_ns);
}

/* CTX_MAP64_NONE: unknown. */
static uint32_t name_of(const struct image *image, int32_t fd)
{
	uint32_t name = ctx_map64_get(&image->file_of, (uint32_t)fd);

	return name != NO_NAME ? name : CTX_MAP64_NONE;
}

static enum ctx_io_operation operation_of(const struct ctx_gp_event *event)
{
	static const enum ctx_io_operation operations[] = {
		[CTX_GP_IO_READ] = CTX_IO_READ,	  [CTX_GP_IO_WRITE] = CTX_IO_WRITE,
		[CTX_GP_IO_OPEN] = CTX_IO_OPEN,	  [CTX_GP_IO_CLOSE] = CTX_IO_CLOSE,
		[CTX_GP_IO_OTHER] = CTX_IO_OTHER,
	};

	return operations[event->io.kind % CTX_GP_IO_KINDS];
}

static bool has_failed(const struct ctx_gp_event *event)
{
	return event->io.kind >= CTX_GP_IO_KINDS;
}

/*
 * Opening or duplicating names the descriptor; closing forgets the name. Returns the name, or
 * CTX_MAP64_NONE.
 */
static enum ctx_status find_file(struct ctx_gp_reader *reader, const struct ctx_gp_event *event,
				 uint32_t *ret, struct ctx_err *err)
{
	enum ctx_io_operation operation = operation_of(event);
	struct image *image = &reader->traced->images[event->owner];
	size_t n = 0;
	uint32_t *place;

	*ret = CTX_MAP64_NONE;
	if (operation == CTX_IO_OTHER)
		return CTX_OK;
	while (n < event->io.file_bytes && event->io.file[n] != '\0')
		n++;
	if (operation == CTX_IO_OPEN && n != 0) {
		enum ctx_status status = ctx_strtab_add(&reader->traced->names, event->io.file, n, ret, err);

		if (status != CTX_OK)
			return status;
	} else {
		bool copies = operation == CTX_IO_OPEN && event->io.old_fd > 0;

		*ret = name_of(image, copies ? event->io.old_fd : event->io.fd);
	}
	if (has_failed(event) || event->io.fd < 0 || (operation != CTX_IO_OPEN && operation != CTX_IO_CLOSE))
		return CTX_OK;
	place = ctx_map64_place(&image->file_of, (uint32_t)event->io.fd);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = operation == CTX_IO_OPEN && *ret != CTX_MAP64_NONE ? *ret : NO_NAME;
	return CTX_OK;
}

static enum ctx_status take_io(struct ctx_gp_reader *reader, const struct ctx_gp_event *event,
			       const struct ctx_event *like, const char **ret_file, struct ctx_err *err)
{
	enum ctx_io_operation operation = operation_of(event);
	bool failed = has_failed(event), moves = operation <= CTX_IO_WRITE && !failed;
	uint64_t bytes = moves && event->io.bytes > 0 ? (uint64_t)event->io.bytes : 0;
	uint64_t time_ns = duration(event, event->io.request_ns);
	uint32_t file;
	enum ctx_status status = find_file(reader, event, &file, err);

	if (status != CTX_OK)
		return status;
	*ret_file = file != CTX_MAP64_NONE ? ctx_strtab_get(&reader->traced->names, file) : NULL;
	reader->traced->operation = (struct ctx_traced){
		.kind = CTX_TRACED_IO,
		.operation = (uint8_t)operation,
		.duration_ns = time_ns,
		.size = bytes,
		.descriptor = event->io.fd >= 0 && operation != CTX_IO_OTHER ? event->io.fd : -1,
		.failed = failed,
	};
	add_sample(reader, like, ctx_io_metric_of_time(&reader->traced->operation), time_ns);
	if (bytes != 0)
		add_sample(reader, like, ctx_io_metric_of_bytes(&reader->traced->operation), bytes);
	return CTX_OK;
}

enum ctx_status ctx_gp_traced_take(struct ctx_gp_reader *reader, const struct ctx_gp_event *event,
				   const struct ctx_event *like, struct ctx_err *err)
{
	size_t at = reader->later.n;
	struct ctx_gp_traced *traced = reader->traced;
	struct ctx_event *ret = &reader->later.events[at];
	uint64_t out_of_range = reader->sums.impossible;
	const char *file = NULL;
	enum ctx_status status = CTX_OK;

	reader->later.n = at + 1;
	if (event->type == CTX_GP_HEAP)
		take_heap(reader, event, like);
	else if (event->type == CTX_GP_SYNC)
		take_sync(reader, event, like);
	else
		status = take_io(reader, event, like, &file, err);
	if (status != CTX_OK)
		return status;
	/*
	 * Values out of range are dropped from the operations too, so that their sums equal the
	 * metrics.
	 */
	if (reader->sums.impossible != out_of_range) {
		reader->sums.impossible = out_of_range + 1;
		reader->later.n = at;
		return CTX_OK;
	}
	traced->operation.cpu = event->cpu;
	*ret = *like;
	ret->kind = CTX_EV_TRACED;
	ret->traced.operation = &traced->operation;
	ret->traced.file = file;
	ret->traced.stack = like->sample.stack;
	return CTX_OK;
}
