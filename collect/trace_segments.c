#include "collect/trace_segments.h"

#include "base/clock.h"
#include "base/mem.h"
#include "model/profile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The segment */

static uint64_t bytes_of(const struct ctx_trace_grant *grant)
{
	return ctx_rt_segment_bytes(grant->slots, grant->ring_bytes);
}

/* A sealed memory file, and its mapping. */
static enum ctx_status map_file(uint64_t bytes, int *ret_fd, uint8_t **ret, struct ctx_err *err)
{
	int fd = memfd_create("ctxrec", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *mapping = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapping == MAP_FAILED) {
		enum ctx_status status = ctx_err_errno(err, CTX_E_IO, "memory for a traced process");

		if (fd >= 0)
			close(fd);
		return status;
	}
	*ret_fd = fd;
	*ret = mapping;
	return CTX_OK;
}

static enum ctx_status create(const struct ctx_trace_grant *grant, int *ret_fd,
			      struct ctx_trace_segment **ret, struct ctx_err *err)
{
	struct ctx_trace_segment *segment = ctx_calloc(1, sizeof(*segment));
	uint8_t *bytes = NULL;
	enum ctx_status status;

	if (segment == NULL)
		return ctx_err_nomem(err);
	status = map_file(bytes_of(grant), ret_fd, &bytes, err);
	if (status != CTX_OK) {
		free(segment);
		return status;
	}
	segment->grant = *grant;
	segment->header = (struct ctx_rt_header *)bytes;
	segment->header->magic = CTX_RT_MAGIC;
	segment->header->version = CTX_RT_VERSION;
	segment->header->slots = grant->slots;
	segment->header->ring_bytes = grant->ring_bytes;
	segment->created_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	segment->process = CTX_NONE;
	for (uint32_t i = 0; i < grant->slots; i++) {
		segment->rings[i].slot = ctx_rt_slot_of(bytes, i);
		segment->rings[i].words = ctx_rt_words_of(bytes, i, grant->ring_bytes);
		segment->rings[i].bytes = grant->ring_bytes;
		segment->threads[i] = CTX_NONE;
	}
	*ret = segment;
	return CTX_OK;
}

static void destroy(struct ctx_trace_segment *segment)
{
	atomic_store(&segment->header->closed, 1);
	/* A process that goes on keeps the mapping, but not what is in it. */
	(void)madvise(ctx_rt_words_of((uint8_t *)segment->header, 0, segment->grant.ring_bytes),
		      (size_t)segment->grant.slots * segment->grant.ring_bytes, MADV_REMOVE);
	munmap(segment->header, bytes_of(&segment->grant));
	for (uint32_t i = 0; i < segment->grant.slots; i++)
		ctx_trace_ring_deinit(&segment->rings[i]);
	free(segment);
}

/* All of them */

void ctx_trace_segments_init(struct ctx_trace_segments *segments, uint64_t limit_bytes)
{
	*segments = (struct ctx_trace_segments){.limit_bytes = limit_bytes};
	pthread_mutex_init(&segments->lock, NULL);
}

void ctx_trace_segments_close(struct ctx_trace_segments *segments)
{
	for (struct ctx_trace_segment *segment = segments->first; segment != NULL; segment = segment->next)
		atomic_store(&segment->header->closed, 1);
	pthread_mutex_lock(&segments->lock);
	segments->are_closed = true;
	for (struct ctx_trace_segment *segment = segments->arrived; segment != NULL; segment = segment->next)
		atomic_store(&segment->header->closed, 1);
	pthread_mutex_unlock(&segments->lock);
}

void ctx_trace_segments_deinit(struct ctx_trace_segments *segments)
{
	ctx_trace_segments_take(segments);
	while (segments->first != NULL)
		ctx_trace_segments_remove(segments, &segments->first);
	pthread_mutex_destroy(&segments->lock);
}

enum ctx_status ctx_trace_segments_make(struct ctx_trace_segments *segments, int64_t pid, uint32_t n_segments,
					int *ret_fd, struct ctx_err *err)
{
	struct ctx_trace_segment *segment = NULL;
	struct ctx_trace_grant grant;
	enum ctx_status status = CTX_END;

	pthread_mutex_lock(&segments->lock);
	if (segments->are_closed) {
		pthread_mutex_unlock(&segments->lock);
		return CTX_END;
	}
	if (ctx_trace_grant(segments->limit_bytes, segments->used_bytes, n_segments, &grant)) {
		status = create(&grant, ret_fd, &segment, err);
		segments->failed += status != CTX_OK;
	} else if (n_segments == 0) {
		segments->refused++;
	} else {
		segments->refused_more++;
	}
	if (status == CTX_OK) {
		segment->pid = pid;
		segment->header->start_ns = segments->start_ns;
		segment->header->second_ticks = segments->second_ticks;
		segment->next = segments->arrived;
		segments->arrived = segment;
		segments->used_bytes += bytes_of(&grant);
		if (segments->used_bytes > segments->most_bytes)
			segments->most_bytes = segments->used_bytes;
	}
	pthread_mutex_unlock(&segments->lock);
	return status;
}

void ctx_trace_segments_take(struct ctx_trace_segments *segments)
{
	struct ctx_trace_segment **last = &segments->arrived;

	pthread_mutex_lock(&segments->lock);
	while (*last != NULL) {
		segments->n++;
		last = &(*last)->next;
	}
	*last = segments->first;
	segments->first = segments->arrived;
	segments->arrived = NULL;
	pthread_mutex_unlock(&segments->lock);
}

void ctx_trace_segments_remove(struct ctx_trace_segments *segments, struct ctx_trace_segment **place)
{
	struct ctx_trace_segment *segment = *place;

	*place = segment->next;
	segments->n--;
	pthread_mutex_lock(&segments->lock);
	segments->used_bytes -= bytes_of(&segment->grant);
	pthread_mutex_unlock(&segments->lock);
	destroy(segment);
}
