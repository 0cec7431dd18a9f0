#include "collect/uprobe_guard.h"

#include "base/clock.h"
#include "base/mem.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void ctx_uprobe_guard_deinit(struct ctx_uprobe_guard *guard)
{
	for (size_t i = 0; i < guard->n; i++) {
		if (guard->items[i].fd >= 0)
			close(guard->items[i].fd);
	}
	free(guard->items);
	ctx_map64_deinit(&guard->of_process);
	*guard = (struct ctx_uprobe_guard){0};
}

/* Takes the descriptor; -1 is none. */
static enum ctx_status keep(struct ctx_uprobe_guard *guard, int fd, struct ctx_err *err)
{
	enum ctx_status status = fd < 0 ? CTX_OK : ctx_grow(&guard->items, &guard->cap, guard->n + 1, err);

	if (status == CTX_OK && fd >= 0)
		guard->items[guard->n++] =
			(struct ctx_uprobe_guarded){.fd = fd, .since_ns = ctx_clock_ns(CLOCK_MONOTONIC)};
	else if (fd >= 0)
		close(fd);
	return status;
}

enum ctx_status ctx_uprobe_guard_everywhere(struct ctx_uprobe_guard *guard, uint64_t tracepoint,
					    struct ctx_err *err)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .config = tracepoint,
				       .sample_period = 1,
				       .disabled = 1};

	return keep(guard, (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err);
}

void ctx_uprobe_guard_begin(struct ctx_uprobe_guard *guard)
{
	guard->wants_processes = true;
}

static struct perf_event_attr inherited_attr(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
					.size = sizeof(struct perf_event_attr),
					.config = PERF_COUNT_SW_DUMMY,
					.inherit = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1,
					.disabled = 1};
}

/* The process itself; children that it forks are others. */
static enum ctx_status add_process(struct ctx_uprobe_guard *guard, int64_t pid, struct ctx_err *err)
{
	struct perf_event_attr attr = inherited_attr();
	size_t before = guard->n;
	uint32_t *place;
	enum ctx_status status;

	attr.inherit_thread = 1;
	status =
		keep(guard,
		     (int)syscall(SYS_perf_event_open, &attr, (pid_t)pid, -1, -1, PERF_FLAG_FD_CLOEXEC), err);
	if (status != CTX_OK || guard->n == before)
		return status;
	place = ctx_map64_place(&guard->of_process, (uint64_t)pid);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = (uint32_t)before;
	return CTX_OK;
}

enum ctx_status ctx_uprobe_guard_add(struct ctx_uprobe_guard *guard, int64_t pid, const struct ctx_ids *tids,
				     struct ctx_err *err)
{
	struct perf_event_attr attr = inherited_attr();
	enum ctx_status status = CTX_OK;

	if (!guard->wants_processes)
		return CTX_OK;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	for (size_t i = 0; i < tids->n && status == CTX_OK; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tids->items[i], -1, -1,
				      PERF_FLAG_FD_CLOEXEC);

		guard->is_inherited = guard->is_inherited || fd >= 0;
		status = keep(guard, fd, err);
	}
	return status == CTX_OK && !guard->is_inherited ? add_process(guard, pid, err) : status;
}

enum ctx_status ctx_uprobe_guard_fork(struct ctx_uprobe_guard *guard, int64_t parent, int64_t pid,
				      uint64_t time_ns, struct ctx_err *err)
{
	uint32_t place = ctx_map64_get(&guard->of_process, (uint64_t)parent);

	if (!guard->wants_processes || guard->is_inherited)
		return CTX_OK;
	guard->n_late += place == CTX_MAP64_NONE || guard->items[place].since_ns > time_ns;
	return add_process(guard, pid, err);
}

void ctx_uprobe_guard_end(struct ctx_uprobe_guard *guard, int64_t pid)
{
	uint32_t place = ctx_map64_get(&guard->of_process, (uint64_t)pid);

	if (place == CTX_MAP64_NONE)
		return;
	close(guard->items[place].fd);
	guard->items[place].fd = -1;
	ctx_map64_remove(&guard->of_process, (uint64_t)pid);
}
