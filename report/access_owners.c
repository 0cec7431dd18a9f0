#include "report/access_owners.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* An address that is accessed. */
struct site {
	uint64_t address;
	uint32_t process;
	const struct ctx_traced *owner; /* lives there now; NULL none */
};

struct sites {
	struct site *items; /* by process, then by address; each once */
	size_t n;
	size_t *begin_of; /* by process, and one more */
};

struct part { /* of a process's sites */
	struct site *items;
	size_t n;
};

static int by_place(const void *a, const void *b)
{
	const struct site *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

static enum ctx_status make_sites(const struct ctx_profile *profile, const struct ctx_report_traced *accesses,
				  struct sites *ret)
{
	size_t n_processes = profile->n_processes, n = 0;

	ret->items = ctx_calloc(accesses->n + 1, sizeof(*ret->items));
	ret->begin_of = ctx_calloc(n_processes + 1, sizeof(*ret->begin_of));
	if (ret->items == NULL || ret->begin_of == NULL)
		return CTX_E_NOMEM;
	for (size_t i = 0; i < accesses->n; i++)
		ret->items[i] =
			(struct site){.address = accesses->items[i].address,
				      .process = ctx_profile_process_of(profile, accesses->items[i].thread)};
	qsort(ret->items, accesses->n, sizeof(*ret->items), by_place);
	for (size_t i = 0; i < accesses->n; i++) {
		if (n == 0 || by_place(&ret->items[n - 1], &ret->items[i]) != 0)
			ret->items[n++] = ret->items[i];
	}
	ret->n = n;
	for (size_t process = 0, i = 0; process <= n_processes; process++) {
		while (i < n && ret->items[i].process < process)
			i++;
		ret->begin_of[process] = i;
	}
	return CTX_OK;
}

/* The sites of [begin, begin + size) in a process. */
static struct part part_of(const struct sites *sites, uint32_t process, uint64_t begin, uint64_t size)
{
	struct site *first = sites->items + sites->begin_of[process];
	size_t n = sites->begin_of[process + 1] - sites->begin_of[process];
	uint64_t end = size <= UINT64_MAX - begin ? begin + size : UINT64_MAX;
	size_t low = ctx_count_below(first, n, address, begin);

	return (struct part){first + low, ctx_count_below(first + low, n - low, address, end)};
}

static void give(struct part part, const struct ctx_traced *owner)
{
	for (size_t i = 0; i < part.n; i++)
		part.items[i].owner = owner;
}

/* The block that begins at the address; what of it is accessed is behind it, up to the end of its part. */
static void release(const struct sites *sites, uint32_t process, uint64_t address)
{
	struct part part = part_of(sites, process, address, UINT64_MAX);

	for (size_t i = 0; i < part.n && part.items[i].owner != NULL; i++) {
		if (part.items[i].owner->address != address)
			break;
		part.items[i].owner = NULL;
	}
}

static void step(const struct ctx_profile *profile, const struct sites *sites,
		 const struct ctx_traced *operation)
{
	uint32_t process = ctx_profile_process_of(profile, operation->thread);
	uint64_t freed = ctx_traced_freed(operation);
	bool ends = ctx_heap_unmaps(operation->operation) || ctx_heap_maps_file(operation->operation);

	if (process >= profile->n_processes)
		return;
	if (freed != 0)
		release(sites, process, freed);
	if (ends || ctx_traced_is_allocation(operation))
		give(part_of(sites, process, operation->address, operation->size), ends ? NULL : operation);
}

enum ctx_status ctx_access_owners_find(const struct ctx_profile *profile,
				       const struct ctx_report_traced *accesses,
				       const struct ctx_report_traced *heap, struct ctx_access_owner **ret,
				       struct ctx_err *err)
{
	struct ctx_access_owner *owners = ctx_calloc(accesses->n + 1, sizeof(*owners));
	struct sites sites = {0};
	size_t at = 0;
	enum ctx_status status = owners != NULL ? make_sites(profile, accesses, &sites) : CTX_E_NOMEM;

	for (size_t i = 0; i < accesses->n && status == CTX_OK; i++) {
		const struct ctx_traced *access = &accesses->items[i];
		uint32_t process = ctx_profile_process_of(profile, access->thread);
		const struct ctx_traced *owner;

		for (; at < heap->n && heap->items[at].time_ns <= access->time_ns; at++)
			step(profile, &sites, &heap->items[at]);
		if (process >= profile->n_processes)
			continue;
		owner = part_of(&sites, process, access->address, 1).items->owner;
		owners[i].allocation = owner;
		owners[i].offset = owner != NULL ? access->address - owner->address : 0;
	}
	free(sites.items);
	free(sites.begin_of);
	if (status != CTX_OK) {
		free(owners);
		return ctx_err_nomem(err);
	}
	*ret = owners;
	return CTX_OK;
}
