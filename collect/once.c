#include "collect/once.h"

#include "base/mem.h"
#include "collect/shared_file.h"
#include "runtime/once_layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SITES_MAX 4000000u

struct site {
	uint64_t address;
	uint32_t object, metrics; /* indices */
};

struct ctx_once {
	struct ctx_shared_objects objects;
	bool is_written[CTX_SHARED_OBJECTS_MAX]; /* the sites of an object have samples */
	struct site *sites;			 /* owned, like all below */
	size_t n_sites, sites_cap;
	struct ctx_once_metrics *metrics;
	size_t n_metrics, metrics_cap;
	struct ctx_rt_once_header *shared; /* mapped; NULL: not yet */
	/* What targets write to its header moves none of these. */
	const struct ctx_rt_once_site *shared_sites;
	const _Atomic uint32_t *log;
	uint64_t bytes;
	int fd;
	uint32_t taken;		  /* entries of the log */
	uint32_t process, thread; /* of the last one that was known; CTX_NONE */
};

enum ctx_status ctx_once_create(struct ctx_once **ret, struct ctx_err *err)
{
	struct ctx_once *once = ctx_calloc(1, sizeof(*once));

	if (once == NULL)
		return ctx_err_nomem(err);
	once->fd = -1;
	once->process = once->thread = CTX_NONE;
	*ret = once;
	return CTX_OK;
}

void ctx_once_destroy(struct ctx_once *once)
{
	if (once == NULL)
		return;
	if (once->shared != NULL)
		munmap(once->shared, (size_t)once->bytes);
	if (once->fd >= 0)
		close(once->fd);
	ctx_shared_objects_deinit(&once->objects);
	free(once->sites);
	free(once->metrics);
	free(once);
}

enum ctx_status ctx_once_add(struct ctx_once *once, const struct ctx_indicator_places *places,
			     const struct ctx_once_metrics *metrics, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&once->metrics, &once->metrics_cap, once->n_metrics + 1, err);
	uint32_t object = 0;

	if (status == CTX_OK && places->n > SITES_MAX - once->n_sites)
		status = ctx_err_set(err, CTX_E_LIMIT, "coverage of more than %u sites", SITES_MAX);
	if (status == CTX_OK)
		status = ctx_grow(&once->sites, &once->sites_cap, once->n_sites + places->n, err);
	if (status == CTX_OK && places->n != 0)
		status = ctx_shared_objects_find(&once->objects, places->items[0].path, "coverage", &object,
						 err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < places->n; i++)
		once->sites[once->n_sites++] =
			(struct site){places->items[i].address, object, (uint32_t)once->n_metrics};
	once->metrics[once->n_metrics++] = *metrics;
	return CTX_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct site *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->metrics > right->metrics) - (left->metrics < right->metrics);
}

/* Each address once. */
static void sort(struct ctx_once *once)
{
	size_t n = 0;

	if (once->n_sites != 0)
		qsort(once->sites, once->n_sites, sizeof(*once->sites), by_address);
	for (size_t i = 0; i < once->n_sites; i++) {
		const struct site *last = n != 0 ? &once->sites[n - 1] : NULL;

		if (last == NULL || last->object != once->sites[i].object ||
		    last->address != once->sites[i].address)
			once->sites[n++] = once->sites[i];
	}
	once->n_sites = n;
}

static void fill(struct ctx_once *once, uint64_t bytes)
{
	struct ctx_rt_once_header *shared = once->shared;
	struct ctx_rt_once_object *objects;
	struct ctx_rt_once_site *sites;

	shared->magic = CTX_RT_ONCE_MAGIC;
	shared->version = CTX_RT_ONCE_VERSION;
	shared->n_objects = (uint32_t)once->objects.n;
	shared->n_sites = (uint32_t)once->n_sites;
	shared->bytes = bytes;
	objects = ctx_rt_once_objects(shared);
	sites = ctx_rt_once_sites(shared);
	for (size_t i = 0; i < once->objects.n; i++) {
		objects[i].device = once->objects.items[i].device;
		objects[i].inode = once->objects.items[i].inode;
	}
	for (size_t i = once->n_sites; i-- > 0;) {
		objects[once->sites[i].object].first = (uint32_t)i;
		objects[once->sites[i].object].n++;
		sites[i].address = once->sites[i].address;
	}
}

enum ctx_status ctx_once_share(struct ctx_once *once, int *ret_fd, struct ctx_err *err)
{
	enum ctx_status status;
	uint64_t bytes;
	void *at;

	sort(once);
	bytes = ctx_rt_once_bytes((uint32_t)once->objects.n, (uint32_t)once->n_sites);
	status = ctx_shared_file_make("coverage", bytes, &once->fd, &at, err);
	if (status != CTX_OK)
		return status;
	once->shared = at;
	fill(once, bytes);
	once->bytes = bytes;
	once->shared_sites = ctx_rt_once_sites(once->shared);
	once->log = ctx_rt_once_log(once->shared);
	*ret_fd = once->fd;
	return CTX_OK;
}

/* Samples */

/* Who executed it. What is not known, as in another pid namespace, is the last one's that was. */
static bool find_thread(struct ctx_once *once, const struct ctx_proctree *tree, int64_t tid)
{
	uint32_t process, thread;

	if (tid != 0 && ctx_proctree_lookup(tree, tid, &process, &thread)) {
		once->process = process;
		once->thread = thread;
	}
	return once->thread != CTX_NONE;
}

struct moment { /* of an execution */
	uint64_t ip, time_ns;
};

static enum ctx_status put(const struct ctx_once *once, struct ctx_exp_writer *writer, uint32_t metric,
			   struct moment moment, struct ctx_err *err)
{
	const uint64_t frames[] = {moment.ip, ctx_frame_truncated(CTX_TRUNCATED_COUNTED)};

	return ctx_exp_sample(writer,
			      &(struct ctx_exp_sample){.time_ns = moment.time_ns,
						       .process = once->process,
						       .thread = once->thread,
						       .metric = metric,
						       .cpu = -1,
						       .weight = 1,
						       .frames = frames,
						       .n_frames = CTX_COUNT_OF(frames)},
			      err);
}

/* All sites of an object that a process has. */
static enum ctx_status put_object(struct ctx_once *once, size_t number, struct ctx_exp_writer *writer,
				  struct ctx_err *err)
{
	const struct ctx_rt_once_object *object = &ctx_rt_once_objects(once->shared)[number];
	uint64_t armed_ns = atomic_load(&object->armed_ns);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < once->n_sites && status == CTX_OK; i++) {
		const struct site *site = &once->sites[i];

		if (site->object == number)
			status = put(once, writer, once->metrics[site->metrics].sites,
				     (struct moment){object->base + site->address, armed_ns}, err);
	}
	return status;
}

enum ctx_status ctx_once_take(struct ctx_once *once, const struct ctx_proctree *tree,
			      struct ctx_exp_writer *writer, uint64_t limit_ns, struct ctx_err *err)
{
	const _Atomic uint32_t *log = once->log;
	const struct ctx_rt_once_site *sites = once->shared_sites;
	uint32_t n_hits = atomic_load(&once->shared->n_hits);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < once->objects.n && status == CTX_OK; i++) {
		const struct ctx_rt_once_object *object = &ctx_rt_once_objects(once->shared)[i];
		uint64_t armed_ns = atomic_load(&object->armed_ns);

		if (once->is_written[i] || armed_ns == 0 || armed_ns > limit_ns ||
		    !find_thread(once, tree, object->pid))
			continue;
		once->is_written[i] = true;
		status = put_object(once, i, writer, err);
	}
	for (; status == CTX_OK && once->taken < once->n_sites && once->taken < n_hits; once->taken++) {
		uint32_t number = atomic_load_explicit(&log[once->taken], memory_order_acquire);

		/* A thread that was killed in between never writes it. */
		if (number == 0 && limit_ns != UINT64_MAX)
			break;
		if (number == 0 || number > once->n_sites)
			continue;
		number--;
		if (sites[number].time_ns > limit_ns || !find_thread(once, tree, sites[number].tid))
			break;
		status = put(once, writer, once->metrics[once->sites[number].metrics].executed,
			     (struct moment){sites[number].ip, sites[number].time_ns}, err);
	}
	return status;
}

uint64_t ctx_once_count(const struct ctx_once *once, uint32_t executed_metric)
{
	const struct ctx_rt_once_site *sites = once->shared_sites;
	uint64_t n = 0;

	for (size_t i = 0; i < once->n_sites; i++)
		n += once->metrics[once->sites[i].metrics].executed == executed_metric &&
		     atomic_load(&sites[i].is_taken) != 0;
	return n;
}

const char *ctx_once_next_missing(const struct ctx_once *once, size_t *at)
{
	for (; *at < once->objects.n; (*at)++) {
		if (atomic_load(&ctx_rt_once_objects(once->shared)[*at].armed_ns) == 0)
			return once->objects.items[(*at)++].path;
	}
	return NULL;
}

uint64_t ctx_once_refused(const struct ctx_once *once)
{
	uint64_t n = 0;

	for (size_t i = 0; i < once->objects.n; i++)
		n += atomic_load(&ctx_rt_once_objects(once->shared)[i].refused);
	return n;
}
