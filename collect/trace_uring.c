#include "collect/trace_uring.h"

#include "base/clock.h"
#include "base/map64.h"
#include "base/mem.h"
#include "collect/cpus.h"
#include "collect/ring.h"
#include "collect/tracepoint.h"
#include "formats/perfevent/pe_tracepoint.h"
#include "model/event_source.h"
#include "model/io_call.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 256u /* at most; fewer where the limit on locked memory requires it */
#define RING_PAGES_MIN 8u
#define FRAMES_MAX 48u
#define EVENTS_MAX 65536u
#define PENDING_MAX 65536u
#define OPEN_BY_2 28u /* IORING_OP_OPENAT2 and others that some headers lack */
#define SPLICE 30u
#define SOCKET 45u
#define SEND_ZC 47u
#define SENDMSG_ZC 48u
#define READ_MULTISHOT 49u
#define GOES_ON 2 /* IORING_CQE_F_MORE */

enum kind { SUBMIT, FILE_GET, COMPLETE, KINDS_N };

struct source { /* a tracepoint, and two of its fields */
	uint64_t id;
	struct ctx_pe_field request, value, more;
};

struct event {
	uint64_t time_ns, request;
	int64_t value; /* what is done, the descriptor, the result */
	int64_t more;  /* flags of the completion */
	int32_t tid;
	uint16_t kind, n_frames;
	uint64_t frames[FRAMES_MAX];
};

struct pending { /* a request */
	uint64_t begin_ns;
	uint32_t process, thread; /* CTX_NONE: free */
	uint32_t what;		  /* IORING_OP_* */
	int32_t fd;
	uint16_t n_frames;
	uint64_t frames[FRAMES_MAX];
};

struct ctx_trace_uring {
	struct source sources[KINDS_N];
	int *fds; /* owned; KINDS_N for each ring */
	struct ctx_ring *rings;
	size_t n_rings;
	struct event *events; /* owned; read, and not taken yet */
	size_t n_events, events_cap;
	struct pending *pending; /* owned */
	size_t n_pending, pending_cap;
	struct ctx_map64
		place_of; /* request -> place; kept when the request is over, for the next at its address */
	uint64_t operations, lost, damaged;
};

/* The beginning */

static enum ctx_status read_source(const char *tracefs, enum kind kind, struct source *ret,
				   struct ctx_err *err)
{
	static const char *const names[KINDS_N] = {
		"io_uring/io_uring_submit_req", "io_uring/io_uring_file_get", "io_uring/io_uring_complete"};
	static const char *const values[KINDS_N] = {"opcode", "fd", "res"};
	struct ctx_tracepoint point = {0};
	enum ctx_status status = ctx_tracepoint_read(tracefs, names[kind], &point, err);
	size_t n;

	if (status != CTX_OK)
		return status;
	n = strlen(point.format);
	ret->id = point.id;
	if (!ctx_pe_format_field(point.format, n, "req", &ret->request) ||
	    !ctx_pe_format_field(point.format, n, values[kind], &ret->value) ||
	    (kind == COMPLETE && !ctx_pe_format_field(point.format, n, "cflags", &ret->more)))
		status = ctx_err_set(err, CTX_E_FORMAT, "the tracepoint %s has other fields", names[kind]);
	ctx_tracepoint_deinit(&point);
	return status;
}

static enum ctx_status map_ring(struct ctx_ring *ring, int fd, struct ctx_err *err)
{
	enum ctx_status status = CTX_E_PERM;

	for (size_t pages = RING_PAGES; pages >= RING_PAGES_MIN && status == CTX_E_PERM; pages /= 2)
		status = ctx_ring_map(ring, fd, pages, err);
	return status;
}

/* The events of one processor share a ring. */
static enum ctx_status open_cpu(struct ctx_trace_uring *uring, int cpu, struct ctx_err *err)
{
	int *fds = uring->fds + uring->n_rings * KINDS_N;

	for (int kind = 0; kind < KINDS_N; kind++)
		fds[kind] = -1;
	uring->n_rings++;
	for (int kind = 0; kind < KINDS_N; kind++) {
		struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
					       .size = sizeof(attr),
					       .config = uring->sources[kind].id,
					       .sample_period = 1,
					       .sample_type =
						       PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
					       .use_clockid = 1,
					       .clockid = CLOCK_MONOTONIC,
					       .exclude_callchain_kernel = 1};
		enum ctx_status status = CTX_OK;

		if (kind == SUBMIT)
			attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		fds[kind] = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[kind] < 0 && errno == ENODEV)
			return CTX_OK;
		if (fds[kind] < 0)
			return ctx_err_errno(err, errno == EACCES || errno == EPERM ? CTX_E_PERM : CTX_E_IO,
					     "tracepoints of io_uring");
		if (kind == 0)
			status = map_ring(&uring->rings[uring->n_rings - 1], fds[0], err);
		else if (ioctl(fds[kind], PERF_EVENT_IOC_SET_OUTPUT, fds[0]) != 0)
			status = ctx_err_errno(err, CTX_E_IO, "tracepoints of io_uring");
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static enum ctx_status open_all(struct ctx_trace_uring *uring, const char *tracefs, struct ctx_err *err)
{
	struct ctx_ids cpus = {0};
	enum ctx_status status = CTX_OK;

	for (int kind = 0; kind < KINDS_N && status == CTX_OK; kind++)
		status = read_source(tracefs, (enum kind)kind, &uring->sources[kind], err);
	if (status == CTX_OK)
		status = ctx_cpus_online(&cpus, err);
	if (status != CTX_OK)
		return status;
	uring->fds = ctx_calloc(cpus.n * KINDS_N, sizeof(*uring->fds));
	uring->rings = ctx_calloc(cpus.n, sizeof(*uring->rings));
	if (uring->fds == NULL || uring->rings == NULL)
		status = ctx_err_nomem(err);
	for (size_t i = 0; i < cpus.n && status == CTX_OK; i++)
		status = open_cpu(uring, (int)cpus.items[i], err);
	ctx_ids_deinit(&cpus);
	return status;
}

enum ctx_status ctx_trace_uring_create(const char *tracefs, struct ctx_trace_uring **ret, struct ctx_err *err)
{
	struct ctx_trace_uring *uring = ctx_calloc(1, sizeof(*uring));
	enum ctx_status status;

	if (uring == NULL)
		return ctx_err_nomem(err);
	status = open_all(uring, tracefs, err);
	if (status != CTX_OK) {
		ctx_trace_uring_destroy(uring);
		return status;
	}
	*ret = uring;
	return CTX_OK;
}

void ctx_trace_uring_destroy(struct ctx_trace_uring *uring)
{
	if (uring == NULL)
		return;
	for (size_t i = 0; i < uring->n_rings; i++) {
		if (uring->rings[i].page != NULL)
			ctx_ring_unmap(&uring->rings[i]);
		for (int kind = 0; kind < KINDS_N; kind++) {
			if (uring->fds[i * KINDS_N + (size_t)kind] >= 0)
				close(uring->fds[i * KINDS_N + (size_t)kind]);
		}
	}
	ctx_map64_deinit(&uring->place_of);
	free(uring->fds);
	free(uring->rings);
	free(uring->events);
	free(uring->pending);
	free(uring);
}

/* Records of the kernel: header, pid and tid, time, [number of frames, frames,] size of the data, data */

/* Leaf first; callers are in their call. */
static void set_frames(struct event *event, const uint64_t *chain, uint64_t n)
{
	for (uint64_t i = 0; i < n && event->n_frames < FRAMES_MAX; i++) {
		if (chain[i] < CTX_KERNEL_START && chain[i] != 0) { /* marks are above */
			event->frames[event->n_frames] = chain[i] - (event->n_frames != 0);
			event->n_frames++;
		}
	}
}

static bool set_fields(const struct ctx_trace_uring *uring, struct event *event, const uint8_t *raw, size_t n)
{
	const struct source *source = &uring->sources[event->kind];
	int64_t request;

	if (!ctx_pe_field_read(&source->request, raw, n, false, &request) ||
	    !ctx_pe_field_read(&source->value, raw, n, false, &event->value) ||
	    (event->kind == COMPLETE && !ctx_pe_field_read(&source->more, raw, n, false, &event->more)))
		return false;
	event->request = (uint64_t)request;
	return true;
}

/* False: it makes no sense. The kind is in the data, and whether there are frames depends on it: both are tried. */
static bool read_sample(const struct ctx_trace_uring *uring, const uint64_t *words, size_t n,
			struct event *ret)
{
	for (int has_chain = 0; has_chain < 2; has_chain++) {
		uint64_t n_chain = has_chain != 0 && n > 3 ? words[3] : 0;
		size_t at = 3 + (has_chain != 0 ? 1 + (size_t)n_chain : 0);
		const uint8_t *raw;
		uint32_t size;
		uint16_t type;

		if (n < 5 || n_chain > n || at >= n)
			continue;
		raw = (const uint8_t *)(words + at) + sizeof(size);
		memcpy(&size, words + at, sizeof(size));
		if (size < 8 || size > (n - at) * 8 - sizeof(size) || size + sizeof(size) + 8 <= (n - at) * 8)
			continue;
		memcpy(&type, raw, sizeof(type));
		for (unsigned kind = 0; kind < KINDS_N; kind++) {
			if (uring->sources[kind].id != type || (kind == SUBMIT) != (has_chain != 0))
				continue;
			*ret = (struct event){.time_ns = words[2],
					      .tid = (int32_t)(words[1] >> 32),
					      .kind = (uint16_t)kind};
			set_frames(ret, words + 4, n_chain);
			return set_fields(uring, ret, raw, size);
		}
	}
	return false;
}

static enum ctx_status read_ring(struct ctx_trace_uring *uring, struct ctx_ring *ring, struct ctx_err *err)
{
	const struct perf_event_header *header;

	ctx_ring_refresh(ring);
	while ((header = ctx_ring_peek(ring, &uring->damaged)) != NULL) {
		const uint64_t *words = (const uint64_t *)header;
		size_t n = header->size / 8;
		enum ctx_status status = CTX_OK;

		if (header->type == PERF_RECORD_LOST && n >= 3)
			uring->lost += words[2];
		if (header->type == PERF_RECORD_SAMPLE) {
			status = ctx_grow(&uring->events, &uring->events_cap, uring->n_events + 1, err);
			if (status != CTX_OK)
				return status;
			if (uring->n_events == EVENTS_MAX ||
			    !read_sample(uring, words, n, &uring->events[uring->n_events]))
				uring->lost++;
			else
				uring->n_events++;
		}
		ctx_ring_advance(ring, header->size);
		ctx_ring_publish(ring);
	}
	return CTX_OK;
}

/* Operations */

static struct pending *find(struct ctx_trace_uring *uring, uint64_t request)
{
	uint32_t place = ctx_map64_get(&uring->place_of, request);

	return place != CTX_MAP64_NONE && uring->pending[place].thread != CTX_NONE ? &uring->pending[place]
										   : NULL;
}

static enum ctx_status begin(struct ctx_trace_uring *uring, const struct ctx_proctree *tree,
			     const struct event *event, struct ctx_err *err)
{
	struct pending new = {.begin_ns = event->time_ns, .what = (uint32_t)event->value, .fd = -1};
	uint32_t place = ctx_map64_get(&uring->place_of, event->request);
	enum ctx_status status = CTX_OK;
	uint32_t *slot;

	if (!ctx_proctree_lookup(tree, event->tid, &new.process, &new.thread)) {
		if (place != CTX_MAP64_NONE)
			uring->pending[place].thread = CTX_NONE;
		return CTX_OK;
	}
	if (place == CTX_MAP64_NONE && uring->n_pending == PENDING_MAX) {
		uring->lost++;
		return CTX_OK;
	}
	if (place == CTX_MAP64_NONE) {
		place = (uint32_t)uring->n_pending;
		status = ctx_grow(&uring->pending, &uring->pending_cap, uring->n_pending + 1, err);
		if (status != CTX_OK)
			return status;
		slot = ctx_map64_place(&uring->place_of, event->request);
		if (slot == NULL)
			return ctx_err_nomem(err);
		*slot = place;
		uring->n_pending++;
	}
	new.n_frames = event->n_frames;
	memcpy(new.frames, event->frames, sizeof(new.frames));
	uring->pending[place] = new;
	return CTX_OK;
}

static uint8_t call_of(uint32_t what)
{
	switch (what) {
	case IORING_OP_READV:
	case IORING_OP_READ_FIXED:
	case IORING_OP_READ:
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
	case READ_MULTISHOT:
		return CTX_CALL_URING_READ;
	case IORING_OP_WRITEV:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_WRITE:
	case IORING_OP_SEND:
	case IORING_OP_SENDMSG:
	case SPLICE:
	case SEND_ZC:
	case SENDMSG_ZC:
		return CTX_CALL_URING_WRITE;
	case IORING_OP_OPENAT:
	case OPEN_BY_2:
		return CTX_CALL_OPENAT;
	case IORING_OP_ACCEPT:
		return CTX_CALL_ACCEPT;
	case SOCKET:
		return CTX_CALL_SOCKET;
	default:
		return CTX_CALL_URING_OTHER;
	}
}

static enum ctx_status end(struct ctx_trace_uring *uring, struct ctx_exp_writer *writer,
			   const struct event *event, struct ctx_err *err)
{
	struct pending *request = find(uring, event->request);
	struct ctx_exp_io io = {.time_ns = event->time_ns,
				.error = event->value < 0 ? (uint16_t)-event->value : 0};

	if (request == NULL || event->time_ns < request->begin_ns)
		return CTX_OK;
	io.duration_ns = event->time_ns - request->begin_ns;
	io.process = request->process;
	io.thread = request->thread;
	io.call = call_of(request->what);
	io.descriptor = request->fd;
	if (ctx_io_call_operation(io.call) == CTX_IO_OPEN)
		io.descriptor = event->value >= 0 ? (int32_t)event->value : -1;
	if (ctx_io_call_operation(io.call) <= CTX_IO_WRITE && event->value > 0)
		io.size = (uint64_t)event->value;
	io.frames = request->frames;
	io.n_frames = request->n_frames;
	if ((event->more & GOES_ON) == 0)
		request->thread = CTX_NONE;
	else
		request->begin_ns = event->time_ns;
	uring->operations++;
	return ctx_exp_io(writer, &io, err);
}

static enum ctx_status take(struct ctx_trace_uring *uring, const struct ctx_trace_uring_target *target,
			    const struct event *event, struct ctx_err *err)
{
	struct pending *request;

	if (event->kind == SUBMIT)
		return begin(uring, target->tree, event, err);
	if (event->kind == COMPLETE)
		return end(uring, target->writer, event, err);
	request = find(uring, event->request);
	if (request != NULL)
		request->fd = (int32_t)event->value;
	return CTX_OK;
}

/* What the kernel did at one time, as it does: a request is submitted before it gets its file, and is completed. */
static int by_time(const void *a, const void *b)
{
	const struct event *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (int)left->kind - (int)right->kind;
}

enum ctx_status ctx_trace_uring_take(struct ctx_trace_uring *uring,
				     const struct ctx_trace_uring_target *target, uint64_t until_ns,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	for (size_t i = 0; i < uring->n_rings && status == CTX_OK; i++) {
		if (uring->rings[i].page != NULL)
			status = read_ring(uring, &uring->rings[i], err);
	}
	if (uring->n_events == 0)
		return status;
	qsort(uring->events, uring->n_events, sizeof(*uring->events), by_time);
	for (; n < uring->n_events && uring->events[n].time_ns <= until_ns && status == CTX_OK; n++)
		status = take(uring, target, &uring->events[n], err);
	memmove(uring->events, uring->events + n, (uring->n_events - n) * sizeof(*uring->events));
	uring->n_events -= n;
	return status;
}

uint64_t ctx_trace_uring_operations(const struct ctx_trace_uring *uring)
{
	return uring->operations;
}

uint64_t ctx_trace_uring_lost(const struct ctx_trace_uring *uring)
{
	return uring->lost + uring->damaged;
}
