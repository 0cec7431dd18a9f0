/*
 * Stacks of samples in programs with OpenMP, as views need them (model/code_kind.h): nothing is taken away.
 *
 *	own		start_thread, worker's loop, f._omp_fn.0, g, barrier of the runtime, futex
 *	with the state	start_thread, worker's loop, f._omp_fn.0, g, <OMP-explicit_barrier>, barrier of the runtime, futex
 *	with the loop	start_thread, worker's loop, f -- OMP loop from line 14, f._omp_fn.0, g, <OMP-explicit_barrier>, ...
 *	with the team	main, f, <OMP-team>, start_thread, worker's loop, f._omp_fn.0, ...
 *
 * The mark of a state stands before the innermost frames of the runtime: it names what these do. The stack of the
 * thread that began the region stands before that of a worker, and the mark <OMP-team> between them. A work-sharing construct stands before the function that has
 * it: its own function is inside that one's (struct ctx_stack_forest), above what is inlined there.
 */
#include "ingest/ingest_omp.h"

#include "base/mem.h"
#include "ingest/resolver_place.h"

#include <string.h>

/* The locations of a raw stack from the root's side, to path[from] and on; 0: it is too deep. */
static uint32_t put_path(struct ingest *in, uint32_t raw, uint32_t from)
{
	const struct ctx_trie *trie = &in->stacks.raw;
	uint32_t n = trie->depth[raw];

	if (n + from > CTX_OMP_PATH_MOST)
		return 0;
	for (uint32_t i = n; i-- != 0; raw = trie->parent[raw])
		in->omp->path[from + i] = trie->key[raw];
	return n;
}

static enum ctx_status add_path(struct ingest *in, uint32_t base, uint32_t n, uint32_t *ret,
				struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	enum ctx_status status = ctx_stack_forest_add(&in->stacks, base, (struct ctx_trie_keys){omp->path, n},
						      omp->nodes, err);

	*ret = omp->nodes[n - 1];
	return status;
}

/* By its name: the recorder's library calls others, and interrupts come anywhere. */
static bool is_outlined(const char *name)
{
	return strstr(name, "._omp_fn.") != NULL || strstr(name, ".omp_outlined") != NULL ||
	       strstr(name, ".omp_task_entry") != NULL;
}

/* The outlined function that the thread runs is the one of the construct that it is in. */
static enum ctx_status note_outlined(struct ingest *in, uint32_t thread, uint32_t raw, struct ctx_err *err)
{
	uint32_t base = ctx_omp_threads_base(in->omp->threads, thread, CTX_OMP_BASE_OF_OUTLINED).raw;
	uint32_t function = ctx_resolver_location_function(in->resolver, in->stacks.raw.key[raw]);
	uint32_t *known;

	if (base == CTX_TRIE_ROOT || function == CTX_NONE ||
	    !is_outlined(ctx_resolver_function_name(in->resolver, function)))
		return CTX_OK;
	known = ctx_map64_place(&in->omp->outlined, function);
	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known == CTX_MAP64_NONE)
		*known = in->stacks.raw.key[base];
	return CTX_OK;
}

/* The depth at which the innermost run of the runtime's frames begins; 0: there is none. */
static enum ctx_status find_runtime(struct ingest *in, uint32_t raw, uint32_t *ret_begin, struct ctx_err *err)
{
	const struct ctx_trie *trie = &in->stacks.raw;
	enum ctx_status status = CTX_OK;
	bool is = false;

	*ret_begin = 0;
	for (; raw != CTX_TRIE_ROOT && status == CTX_OK; raw = trie->parent[raw]) {
		status = ctx_ingest_omp_is_runtime(in, raw, &is, err);
		if (is)
			*ret_begin = trie->depth[raw];
		else if (*ret_begin != 0)
			break;
	}
	return status;
}

static enum ctx_status mark(struct ingest *in, uint32_t raw, uint32_t state, uint32_t *ret,
			    struct ctx_err *err)
{
	uint32_t begin, n;
	enum ctx_status status = find_runtime(in, raw, &begin, err);

	*ret = raw;
	if (status != CTX_OK || begin == 0)
		return status;
	n = put_path(in, raw, 0);
	if (n == 0)
		return CTX_OK;
	memmove(in->omp->path + begin, in->omp->path + begin - 1, (n - begin + 1) * sizeof(*in->omp->path));
	in->omp->path[begin - 1] = in->omp->marks[state];
	return add_path(in, CTX_TRIE_ROOT, n + 1, ret, err);
}

/* Where the outlined function is that the runtime has called last, on a path of `n`; n: nowhere. */
static enum ctx_status find_called(struct ingest *in, uint32_t raw, uint32_t n, uint32_t *ret,
				   struct ctx_err *err)
{
	const struct ctx_trie *trie = &in->stacks.raw;
	enum ctx_status status = CTX_OK;
	uint32_t below = CTX_NONE;
	bool is = false;

	*ret = n;
	for (uint32_t i = n; i-- != 0 && status == CTX_OK; raw = trie->parent[raw]) {
		uint32_t function = below;

		status = ctx_ingest_omp_is_runtime(in, raw, &is, err);
		below = ctx_resolver_location_function(in->resolver, trie->key[raw]);
		if (is && function != CTX_NONE &&
		    is_outlined(ctx_resolver_function_name(in->resolver, function))) {
			*ret = i + 1;
			break;
		}
	}
	return status;
}

/* `by`: the stack of the work-sharing construct, which is put in behind as many frames of the thread as that has, before the one that has the construct. */
static enum ctx_status put_share(struct ingest *in, uint32_t raw, uint32_t by, uint32_t *ret,
				 struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	uint32_t n = put_path(in, raw, 0), at, location;
	enum ctx_status status = find_called(in, raw, n, &at, err);

	*ret = raw;
	at += omp->skip;
	location = ctx_map64_get(&omp->inside_of, by);
	if (status != CTX_OK || at >= n || location == CTX_MAP64_NONE)
		return status;
	memmove(omp->path + at + 1, omp->path + at, (n - at) * sizeof(*omp->path));
	omp->path[at] = location;
	return add_path(in, CTX_TRIE_ROOT, n + 1, ret, err);
}

static enum ctx_status graft(struct ingest *in, uint32_t raw, uint32_t on, uint32_t *ret, struct ctx_err *err)
{
	uint32_t n = put_path(in, raw, 1);

	*ret = raw;
	if (n == 0)
		return CTX_OK;
	in->omp->path[0] = in->omp->graft;
	return add_path(in, on, n + 1, ret, err);
}

/* The outlined function: what the runtime has called last. */
static enum ctx_status find_outlined(struct ingest *in, uint32_t thread, uint32_t raw, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint32_t below = 0;
	bool is = true;

	while (raw != CTX_TRIE_ROOT && is && status == CTX_OK) { /* what it waits in */
		status = ctx_ingest_omp_is_runtime(in, raw, &is, err);
		raw = is ? in->stacks.raw.parent[raw] : raw;
	}
	for (is = false; raw != CTX_TRIE_ROOT && !is && status == CTX_OK; raw = in->stacks.raw.parent[raw]) {
		status = ctx_ingest_omp_is_runtime(in, raw, &is, err);
		below = is ? below : raw;
	}
	return status == CTX_OK && is && below != 0 ? note_outlined(in, thread, below, err) : status;
}

typedef enum ctx_status change(struct ingest *in, uint32_t raw, uint32_t by, uint32_t *ret,
			       struct ctx_err *err);

struct changing {
	struct ctx_map64 *map; /* knows earlier ones */
	change *make;
	uint32_t by;
};

/* The changed stack. */
static enum ctx_status remembered(struct ingest *in, const struct changing *changing, uint32_t *raw,
				  struct ctx_err *err)
{
	uint32_t *known = ctx_map64_place(changing->map, (uint64_t)changing->by << 32 | *raw);
	uint32_t made = *raw;
	enum ctx_status status = CTX_OK;

	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known == CTX_MAP64_NONE) {
		status = changing->make(in, *raw, changing->by, &made, err);
		*known = made;
	}
	*raw = *known;
	return status;
}

enum ctx_status ctx_ingest_omp_merge(struct ingest *in, uint32_t thread, uint32_t *raw, struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	struct ctx_omp_doing doing;
	enum ctx_status status;

	if (omp == NULL || *raw == CTX_TRIE_ROOT || !ctx_omp_threads_doing(omp->threads, thread, &doing))
		return CTX_OK;
	status = doing.state == CTX_OMP_WORK ? find_outlined(in, thread, *raw, err) : CTX_OK;
	if (status == CTX_OK && doing.state != CTX_OMP_WORK && doing.state != CTX_OMP_SERIAL)
		status = remembered(in, &(struct changing){&omp->marked, mark, doing.state}, raw, err);
	omp->skip = doing.base.skip;
	if (status == CTX_OK && doing.base.is_share)
		status =
			remembered(in, &(struct changing){&omp->shared, put_share, doing.base.raw}, raw, err);
	if (status == CTX_OK && doing.graft != 0)
		status = remembered(in, &(struct changing){&omp->grafted, graft, doing.graft}, raw, err);
	return status;
}

/* Names of the program's outlined functions, and that the recorder's library is a part of the runtime. */
void ctx_ingest_omp_name(struct ingest *in)
{
	size_t n = ctx_resolver_n_functions(in->resolver);

	if (in->omp == NULL)
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t construct = ctx_map64_get(&in->omp->outlined, i);

		if (construct != CTX_MAP64_NONE)
			ctx_resolver_rename(in->resolver, i,
					    ctx_resolver_place(in->resolver, construct).function,
					    CTX_CODE_OMP_OUTLINED);
		else if (ctx_resolver_is_of_object(in->resolver, i, "libctxrt.so"))
			ctx_resolver_rename(in->resolver, i, NULL, CTX_CODE_OMP_RUNTIME);
	}
}
