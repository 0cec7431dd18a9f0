/*
 * Prints the heap, synchronization and I/O events of one experiment as ctxan's reader decodes them,
 * a line each, for gprofng_same.py:
 *
 *	gprofng_events EXPERIMENT.er
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/gprofng/gp_experiment.h"

#include <inttypes.h>
#include <stdio.h>

static void print_event(const struct ctx_gp_event *event)
{
	if (event->type == CTX_GP_HEAP)
		printf("heap %" PRId64 " %d %u %" PRIu64 " %016" PRIx64 " %016" PRIx64, event->time_ns,
		       event->cpu, event->heap.kind, event->heap.size, event->heap.address,
		       event->heap.old_address);
	else if (event->type == CTX_GP_SYNC)
		printf("sync %" PRId64 " %d %016" PRIx64 " %" PRId64, event->time_ns, event->cpu,
		       event->sync.object, event->time_ns - event->sync.request_ns);
	else if (event->type == CTX_GP_IO)
		printf("io %" PRId64 " %d %u %d %d %" PRId64 " %" PRId64 " %.*s", event->time_ns, event->cpu,
		       event->io.kind, event->io.fd, event->io.old_fd, event->io.bytes, event->io.request_ns,
		       (int)event->io.file_bytes, event->io.file);
}

static enum ctx_status print_all(struct ctx_gp_experiment *experiment, struct ctx_gp_events *events,
				 struct ctx_err *err)
{
	struct ctx_gp_event event;
	enum ctx_status status;

	while ((status = ctx_gp_events_next(events, &event, err)) == CTX_OK) {
		uint64_t frames[2048];
		size_t n;

		if (event.type == CTX_GP_CLOCK)
			continue;
		print_event(&event);
		ctx_gp_frames_get(&experiment->frames, event.stack, frames, 2048, &n);
		printf(" | %zu\n", n);
	}
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status run(const char *path, struct ctx_gp_experiments *experiments,
			   struct ctx_gp_events *events, struct ctx_err *err)
{
	enum ctx_status status = ctx_gp_experiments_open(experiments, path, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < experiments->items[0]->log.n_files && status == CTX_OK; i++) {
		const struct ctx_gp_log *log = &experiments->items[0]->log;
		char *file CTX_AUTO_FREE = ctx_path_join(path, log->files[i]);
		struct ctx_gp_events_found found;

		status = file != NULL
				 ? ctx_gp_events_add(
					   events, &(struct ctx_gp_data_file){file, log, i, 0, 0, INT64_MAX},
					   &found, err)
				 : ctx_err_nomem(err);
	}
	if (status == CTX_OK)
		status = ctx_gp_experiment_read_frames(experiments, experiments->items[0], err);
	return status == CTX_OK ? print_all(experiments->items[0], events, err) : status;
}

int main(int argc, char **argv)
{
	struct ctx_gp_experiments experiments = {0};
	struct ctx_gp_events *events = NULL;
	struct ctx_err err = {0};
	enum ctx_status status;

	if (argc != 2) {
		fputs("usage: gprofng_events EXPERIMENT.er\n", stderr);
		return 2;
	}
	status = ctx_gp_events_create(&events, &err);
	if (status == CTX_OK)
		status = run(argv[1], &experiments, events, &err);
	ctx_gp_events_destroy(events);
	ctx_gp_experiments_deinit(&experiments);
	if (status != CTX_OK)
		fprintf(stderr, "gprofng_events: %s\n", err.msg);
	return status == CTX_OK ? 0 : 1;
}
