#include "collect/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_MAX 65536u /* header.size has 16 bits */

enum ctx_status ctx_ring_attach(struct ctx_ring *ring, struct perf_event_mmap_page *page, const uint8_t *data,
				size_t size, struct ctx_err *err)
{
	uint64_t *wrapped = malloc(RECORD_MAX);

	if (wrapped == NULL)
		return ctx_err_nomem(err);
	*ring = (struct ctx_ring){.page = page, .data = data, .size = size, .wrapped = wrapped};
	ring->tail = ring->published = page->data_tail;
	return CTX_OK;
}

enum ctx_status ctx_ring_map(struct ctx_ring *ring, int fd, size_t pages, struct ctx_err *err)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t n = (pages + 1) * page_size;
	uint8_t *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	enum ctx_status status;

	if (memory == MAP_FAILED)
		return ctx_err_errno(err,
				     errno == EPERM    ? CTX_E_PERM
				     : errno == ENOMEM ? CTX_E_NOMEM
						       : CTX_E_IO,
				     "cannot map a ring buffer of %zu KiB", pages * page_size / 1024);
	status = ctx_ring_attach(ring, (struct perf_event_mmap_page *)(void *)memory, memory + page_size,
				 pages * page_size, err);
	if (status != CTX_OK) {
		munmap(memory, n);
		return status;
	}
	ring->mapped_bytes = n;
	return CTX_OK;
}

void ctx_ring_unmap(struct ctx_ring *ring)
{
	if (ring->mapped_bytes != 0)
		munmap(ring->page, ring->mapped_bytes);
	free(ring->wrapped);
	*ring = (struct ctx_ring){0};
}

void ctx_ring_refresh(struct ctx_ring *ring)
{
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

uint64_t ctx_ring_fill_now(const struct ctx_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) - ring->published;
}

/* `n` bytes from a place on, over the end of the ring. */
static void copy_out(const struct ctx_ring *ring, size_t at, void *out, size_t n)
{
	size_t first = n < ring->size - at ? n : ring->size - at;

	memcpy(out, ring->data + at, first);
	memcpy((uint8_t *)out + first, ring->data, n - first);
}

const void *ctx_ring_peek(struct ctx_ring *ring, uint64_t *damaged)
{
	uint64_t fill = ctx_ring_fill(ring);
	size_t at = (size_t)(ring->tail & (ring->size - 1));
	struct perf_event_header header = {0};

	if (fill == 0)
		return NULL;
	if (fill <= ring->size && fill >= sizeof(header))
		copy_out(ring, at, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > fill) {
		ring->skipped += fill < ring->size ? fill : ring->size;
		ring->tail = ring->head;
		(*damaged)++;
		return NULL;
	}
	if (at + header.size <= ring->size)
		return ring->data + at;
	copy_out(ring, at, ring->wrapped, header.size);
	return ring->wrapped;
}

void ctx_ring_advance(struct ctx_ring *ring, size_t n)
{
	ring->tail += n;
}

void ctx_ring_publish(struct ctx_ring *ring)
{
	if (ring->published == ring->tail)
		return;
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	ring->published = ring->tail;
}
