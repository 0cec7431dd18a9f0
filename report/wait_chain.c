#include "report/wait_chain.h"

#include "base/mem.h"
#include "report/names.h"

#include <string.h>

#define SHOWN_FRAMES 4u
#define NAME_WIDTH 36u
#define GAP "\xe2\x80\xa6" /* an ellipsis */
#define GAP_WIDTH 4u	   /* " < " and it */

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static const struct ctx_function_info *function_of(const struct ctx_profile *profile, uint32_t node)
{
	uint32_t function = profile->cct.key[node];

	return function < profile->n_functions ? &profile->functions[function] : NULL;
}

static const char *object_of(const struct ctx_profile *profile, const struct ctx_function_info *function)
{
	return function->object < profile->n_objects ? profile->objects[function->object].path : "";
}

static bool is_kernel(const struct ctx_profile *profile, uint32_t node)
{
	const struct ctx_function_info *function = function_of(profile, node);

	return function != NULL && *object_of(profile, function) == '[' &&
	       strcmp(object_of(profile, function), "[vdso]") != 0;
}

static bool is_libc(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;

	return begins_with(base, "libc.") || begins_with(base, "libc-") || begins_with(base, "libpthread") ||
	       begins_with(base, "ld-musl");
}

/* Locking functions and their internals: they add nothing to the state. */
static bool is_lock_inside(const struct ctx_profile *profile, uint32_t node)
{
	static const char *const c_parts[] = {
		"futex",	  "lll_",	  "pthread_mutex",   "pthread_cond",	     "condvar",
		"pthread_rwlock", "pthread_spin", "pthread_barrier", "pthread_enable_async", "sem_wait",
		"sem_post",	  "new_sem_",	  "sem_timedwait",
	};
	static const char *const cxx_beginnings[] = {
		"std::mutex::",	       "std::recursive_mutex::",
		"std::shared_mutex::", "std::timed_mutex::",
		"std::unique_lock",    "std::lock_guard",
		"std::scoped_lock",    "std::condition_variable",
		"std::__condvar",      "std::_V2::condition_variable",
		"std::__shared_mutex", "__gthread_",
	};
	const struct ctx_function_info *function = function_of(profile, node);
	bool libc;

	if (function == NULL)
		return false;
	for (size_t i = 0; i < CTX_COUNT_OF(cxx_beginnings); i++) {
		if (begins_with(function->name, cxx_beginnings[i]))
			return true;
	}
	/* What ctxrec puts in front of the C library when it traces locks. */
	if (strcmp(ctx_name_of_path(object_of(profile, function)), "libctxrt.so") == 0)
		return true;
	libc = is_libc(object_of(profile, function));
	for (size_t i = 0; i < CTX_COUNT_OF(c_parts) && libc; i++) {
		if (strstr(function->name, c_parts[i]) != NULL)
			return true;
	}
	return libc && (function->kind == CTX_FUNCTION_UNKNOWN || strcmp(function->name, "syscall") == 0);
}

/* Below every stack: not informative. */
static bool is_start(const struct ctx_profile *profile, uint32_t node)
{
	static const char *const names[] = {"_start",
					    "start_thread",
					    "clone",
					    "clone3",
					    "__clone3",
					    "__libc_start_main",
					    "__libc_start_call_main",
					    "__libc_start_main_impl"};
	const struct ctx_function_info *function = function_of(profile, node);

	if (function == NULL || function->kind == CTX_FUNCTION_TRUNCATED)
		return true;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		if (strcmp(function->name, names[i]) == 0)
			return true;
	}
	return begins_with(function->name, "__libc_start_main");
}

/* The kernel's functions that wake threads: the leaf of every waker's stack. */
static bool is_wake_up(const struct ctx_profile *profile, uint32_t node)
{
	static const char *const parts[] = {"wake_up", "wakeup", "wake_function",
					    "ttwu",    "wake_q", "hrtimer_run_queues"};
	const struct ctx_function_info *function = function_of(profile, node);

	for (size_t i = 0; i < CTX_COUNT_OF(parts) && function != NULL; i++) {
		if (strstr(function->name, parts[i]) != NULL)
			return true;
	}
	return false;
}

static uint32_t first_of_kernel(const struct ctx_profile *profile, uint32_t stack)
{
	uint32_t node = stack;

	while (node != CTX_TRIE_ROOT && is_kernel(profile, node) && is_wake_up(profile, node))
		node = profile->cct.parent[node];
	return node != CTX_TRIE_ROOT && is_kernel(profile, node) ? node : stack;
}

static bool is_unknown(const struct ctx_profile *profile, uint32_t node)
{
	const struct ctx_function_info *function = node != CTX_TRIE_ROOT ? function_of(profile, node) : NULL;

	return function != NULL && function->kind == CTX_FUNCTION_UNKNOWN;
}

/* The node with which the text begins. */
static uint32_t first_node(const struct ctx_profile *profile, uint32_t stack)
{
	const struct ctx_trie *cct = &profile->cct;
	uint32_t user = stack, node, last;

	while (user != CTX_TRIE_ROOT && is_kernel(profile, user))
		user = cct->parent[user];
	if (user == CTX_TRIE_ROOT || is_start(profile, user))
		return is_kernel(profile, stack) ? first_of_kernel(profile, stack) : user;
	node = last = user;
	while (node != CTX_TRIE_ROOT && is_lock_inside(profile, node)) {
		last = node;
		node = cct->parent[node];
	}
	/* Frame pointer unwinding fails here: the outermost known function is more informative. */
	if (node != user && is_unknown(profile, node))
		return last;
	return node != CTX_TRIE_ROOT && !is_start(profile, node) ? node : user;
}

static void put_function(const struct ctx_function_info *function, bool ascii, struct ctx_buf *buf)
{
	struct ctx_buf safe = {0};

	ctx_name_put_text(&safe, function->name, ascii);
	if (safe.failed)
		buf->failed = true;
	else
		ctx_text_shorten(buf, (const char *)safe.bytes, safe.n, NAME_WIDTH, ascii);
	ctx_buf_deinit(&safe);
}

void ctx_wait_chain_put(const struct ctx_profile *profile, uint32_t stack, bool ascii, struct ctx_buf *buf)
{
	const struct ctx_trie *cct = &profile->cct;
	uint32_t node = stack < cct->n ? first_node(profile, stack) : CTX_TRIE_ROOT;
	unsigned shown = 0;

	for (; node != CTX_TRIE_ROOT; node = cct->parent[node]) {
		const struct ctx_function_info *function = function_of(profile, node);

		if (function == NULL || (shown != 0 && is_start(profile, node)))
			continue;
		if (shown != 0)
			ctx_buf_put_text(buf, " < ");
		if (shown++ == SHOWN_FRAMES) {
			ctx_buf_put_text(buf, ascii ? ".." : "…");
			return;
		}
		put_function(function, ascii, buf);
	}
}

/* ---- in some columns ---- */

/*
 * Libraries whose internals are of little interest: the function that the program called is shown.
 */
static bool is_system(const struct ctx_profile *profile, uint32_t node)
{
	static const char *const beginnings[] = {"ld-", "libstdc++", "libm.", "libm-", "libgp-", "libgcc_s"};
	const struct ctx_function_info *function = function_of(profile, node);
	const char *path, *slash;

	if (function == NULL)
		return false;
	path = object_of(profile, function);
	slash = strrchr(path, '/');
	if (is_libc(path))
		return true;
	for (size_t i = 0; i < CTX_COUNT_OF(beginnings); i++) {
		if (begins_with(slash != NULL ? slash + 1 : path, beginnings[i]))
			return true;
	}
	return false;
}

struct chain {
	const struct ctx_profile *profile;
	const uint32_t *nodes; /* the innermost first */
	size_t n;
	bool ascii;
};

/* Called by a function of such a library, and not the node at which the text begins. */
static bool is_inside(const struct chain *chain, size_t i)
{
	return i != 0 && i + 1 < chain->n && is_system(chain->profile, chain->nodes[i]) &&
	       is_system(chain->profile, chain->nodes[i + 1]);
}

/* Appends the function, or a gap if hidden; false: it extends the previous gap. */
static bool put_link(const struct chain *chain, size_t i, bool hidden, bool *in_gap, struct ctx_buf *buf)
{
	if (hidden && *in_gap)
		return false;
	*in_gap = hidden;
	if (i != 0)
		ctx_buf_put_text(buf, " < ");
	if (hidden)
		ctx_buf_put_text(buf, chain->ascii ? ".." : GAP);
	else
		put_function(function_of(chain->profile, chain->nodes[i]), chain->ascii, buf);
	return true;
}

static size_t width_from(const struct ctx_buf *buf, size_t begin)
{
	return ctx_text_width((const char *)buf->bytes + begin, buf->n - begin);
}

/* False: there is no room, and nothing is appended. */
static bool put_whole(const struct chain *chain, size_t room, struct ctx_buf *buf)
{
	size_t begin = buf->n, width = 0;
	bool in_gap = false;

	for (size_t i = 0; i < chain->n && !buf->failed; i++) {
		size_t before = buf->n;

		put_link(chain, i, false, &in_gap, buf);
		if (!buf->failed && (width += width_from(buf, before)) > room) {
			buf->n = begin;
			return false;
		}
	}
	return true;
}

/* Functions after the first four that do not fit become a gap too. */
static void put_outside(const struct chain *chain, size_t room, struct ctx_buf *buf)
{
	size_t width = 0, shown = 0;
	bool in_gap = false;

	for (size_t i = 0; i < chain->n && !buf->failed; i++) {
		size_t before = buf->n;
		bool hidden = is_inside(chain, i), was_in_gap = in_gap;

		if (!put_link(chain, i, hidden, &in_gap, buf))
			continue;
		if (!buf->failed)
			width += width_from(buf, before);
		if (shown >= SHOWN_FRAMES && !buf->failed &&
		    width + (i + 1 < chain->n ? GAP_WIDTH : 0) > room) {
			buf->n = before;
			in_gap = was_in_gap;
			put_link(chain, i, true, &in_gap, buf);
			return;
		}
		shown += !hidden;
	}
}

void ctx_wait_chain_put_within(const struct ctx_profile *profile, uint32_t stack, size_t room, bool ascii,
			       struct ctx_buf *buf)
{
	const struct ctx_trie *cct = &profile->cct;
	uint32_t node = stack < cct->n ? first_node(profile, stack) : CTX_TRIE_ROOT;
	uint32_t *nodes CTX_AUTO_FREE = ctx_calloc(cct->depth[node] + 1, sizeof(*nodes));
	struct chain chain = {.profile = profile, .nodes = nodes, .ascii = ascii};

	if (nodes == NULL) {
		buf->failed = true;
		return;
	}
	for (; node != CTX_TRIE_ROOT; node = cct->parent[node]) {
		if (function_of(profile, node) != NULL && (chain.n == 0 || !is_start(profile, node)))
			nodes[chain.n++] = node;
	}
	if (!put_whole(&chain, room, buf))
		put_outside(&chain, room, buf);
}
