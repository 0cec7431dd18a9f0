/*
 * Callgrind's output format: for each function its own cost and, for each callee, the calls and
 * their inclusive cost.
 *
 *	stack               weight        the file
 *	main;parse;read     3             main:  calls parse, 4
 *	main;parse          1             parse: itself 1; calls read, 3
 *
 * Readers (callgrind_annotate, KCachegrind) compute the inclusive cost of a function as the sum of
 * the calls to it. Two cases need care. Recursion: in main;f;g;f both calls of f would have the
 * whole cost, so only the outermost call has it and inner ones have 0. Functions with callers in
 * some stacks but none in others: the root function of every stack is called by <Total>.
 */
#include "base/mem.h"
#include "formats/export/export_names.h"
#include "formats/export/export_stack.h"
#include "formats/export/exports.h"

#include <inttypes.h>
#include <stdlib.h>

/* Numbers of names, from 1: KCachegrind treats 0 as none. */
enum { TOTAL_NUMBER = 1, FUNCTION_NUMBERS, NO_OBJECT_NUMBER = 1, OBJECT_NUMBERS };

struct call {
	uint32_t caller; /* function id + 1; 0 <Total> */
	uint32_t callee; /* function id */
	uint64_t weight;
	int64_t calls;
};

struct callgrind {
	const struct ctx_export_input *input;
	const struct ctx_histogram *whole; /* all selected threads together */
	struct ctx_export_names names;	   /* owned */
	uint64_t *weight;		   /* owned; by CCT node: inclusive */
	int64_t *calls;			   /* owned; by CCT node: of it */
	bool *used;			   /* owned; by CCT node: it or a descendant has samples */
	uint32_t *child, *sibling;	   /* owned; by CCT node: first used child, next used one; 0 none */
	uint32_t *active;		   /* owned; by function: how often it is on the current stack */
	uint64_t *self;	   /* owned; by function; one extra entry for samples without a stack */
	struct call *list; /* owned; by caller and callee */
	size_t n;
	bool *named_function, *named_object; /* owned; by id: the name has been written */
	struct ctx_buf out;
};

static void add_up(struct callgrind *it)
{
	const struct ctx_trie *cct = &it->input->profile->cct;
	const struct ctx_histogram *histogram = it->whole;

	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		uint32_t node = entry->stack;
		uint32_t function = node != CTX_TRIE_ROOT ? cct->key[node] : it->input->profile->n_functions;

		it->self[function] += entry->weight;
		it->weight[node] += entry->weight;
		it->calls[node] += entry->calls;
		it->used[node] |= entry->samples != 0;
	}
	for (uint32_t node = cct->n - 1; node > CTX_TRIE_ROOT; node--) {
		uint32_t parent = cct->parent[node];

		it->calls[parent] += it->calls[node];
		if (!it->used[node])
			continue;
		it->weight[parent] += it->weight[node];
		it->used[parent] = true;
		it->sibling[node] = it->child[parent];
		it->child[parent] = node;
	}
}

static void enter(struct callgrind *it, uint32_t node)
{
	const struct ctx_trie *cct = &it->input->profile->cct;
	uint32_t function = cct->key[node];
	bool outermost = it->active[function]++ == 0;

	it->list[it->n++] = (struct call){
		.caller = cct->key[cct->parent[node]] + 1, /* of the root: 0 */
		.callee = function,
		.weight = outermost ? it->weight[node] : 0,
		.calls = it->calls[node],
	};
}

/* Every used node, from caller to callee. */
static void walk(struct callgrind *it)
{
	const struct ctx_trie *cct = &it->input->profile->cct;
	uint32_t node = CTX_TRIE_ROOT;

	for (;;) {
		if (it->child[node] != 0) {
			node = it->child[node];
			enter(it, node);
			continue;
		}
		while (node != CTX_TRIE_ROOT) {
			it->active[cct->key[node]]--;
			if (it->sibling[node] != 0)
				break;
			node = cct->parent[node];
		}
		if (node == CTX_TRIE_ROOT)
			return;
		node = it->sibling[node];
		enter(it, node);
	}
}

static int by_caller(const void *a, const void *b)
{
	const struct call *left = a, *right = b;

	if (left->caller != right->caller)
		return left->caller < right->caller ? -1 : 1;
	return (left->callee > right->callee) - (left->callee < right->callee);
}

/* Sums calls of the same pair. */
static void merge_calls(struct callgrind *it)
{
	size_t n = 0;

	qsort(it->list, it->n, sizeof(*it->list), by_caller);
	for (size_t i = 0; i < it->n; i++) {
		if (n != 0 && by_caller(&it->list[n - 1], &it->list[i]) == 0) {
			it->list[n - 1].weight += it->list[i].weight;
			it->list[n - 1].calls += it->list[i].calls;
		} else {
			it->list[n++] = it->list[i];
		}
	}
	it->n = n;
}

/* The path must not become empty: a number alone refers to an earlier name. */
static void put_path(struct ctx_buf *out, const char *path)
{
	while (*path > 0 && *path <= ' ')
		path++;
	ctx_export_put_text(out, *path != '\0' ? path : "???");
}

/*
 * Every name is preceded by its number, so that nothing in a name is parsed as a number. No name
 * begins with a space, is empty, or has more than one line (export_names.h).
 */
static void put_object(struct callgrind *it, const char *key, uint32_t function)
{
	const struct ctx_profile *profile = it->input->profile;
	uint32_t object = function < profile->n_functions ? profile->functions[function].object : CTX_NONE;
	size_t at = object != CTX_NONE ? (size_t)object + 1 : 0;

	ctx_buf_printf(&it->out, "%s=(%zu)", key, at + NO_OBJECT_NUMBER);
	if (!it->named_object[at]) {
		ctx_buf_put_u8(&it->out, ' ');
		put_path(&it->out, object != CTX_NONE ? profile->objects[object].path : "");
		it->named_object[at] = true;
	}
	ctx_buf_put_u8(&it->out, '\n');
}

static void put_function(struct callgrind *it, const char *key, uint32_t function)
{
	ctx_buf_printf(&it->out, "%s=(%" PRIu64 ")", key, (uint64_t)function + FUNCTION_NUMBERS);
	if (!it->named_function[function]) {
		ctx_buf_put_u8(&it->out, ' ');
		ctx_buf_put_text(&it->out, ctx_export_names_get(&it->names, function));
		it->named_function[function] = true;
	}
	ctx_buf_put_u8(&it->out, '\n');
}

static enum ctx_status flush(struct callgrind *it, FILE *out, struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(&it->out, err);

	if (status == CTX_OK && it->out.n != 0)
		fwrite(it->out.bytes, 1, it->out.n, out);
	ctx_buf_clear(&it->out);
	return status;
}

static void put_call(struct callgrind *it, const struct call *call)
{
	/* A call that began before the interval counts as one, although no sample shows it. */
	int64_t calls = call->calls > 0 ? call->calls : 1;

	put_object(it, "cob", call->callee);
	put_function(it, "cfn", call->callee);
	ctx_buf_printf(&it->out, "calls=%" PRId64 " 0\n0 %" PRIu64 "\n", calls, call->weight);
}

/* A function's own cost, and its calls, from list[*next] on. */
static enum ctx_status put_block(struct callgrind *it, uint32_t caller, size_t *next, FILE *out,
				 struct ctx_err *err)
{
	uint64_t self = caller != 0 ? it->self[caller - 1] : 0;

	if (self == 0 && (*next == it->n || it->list[*next].caller != caller))
		return CTX_OK;
	put_object(it, "ob", caller != 0 ? caller - 1 : it->input->profile->n_functions);
	ctx_buf_printf(&it->out, "fl=(1)%s\n", caller == 0 ? " ???" : ""); /* <Total> is the first */
	if (caller != 0)
		put_function(it, "fn", caller - 1);
	else
		ctx_buf_printf(&it->out, "fn=(%d) " CTX_EXPORT_TOTAL "\n", TOTAL_NUMBER);
	ctx_buf_printf(&it->out, "0 %" PRIu64 "\n", self);
	for (; *next < it->n && it->list[*next].caller == caller; ++*next)
		put_call(it, &it->list[*next]);
	ctx_buf_put_u8(&it->out, '\n');
	return flush(it, out, err);
}

/*
 * Names of events are letters and digits that begin with a letter: "cpu-clock:u" becomes cpuClockU.
 */
static void put_event(struct ctx_buf *out, const char *name)
{
	bool begins = true, upper = false;

	for (; *name != '\0'; name++) {
		char c = *name;
		bool lower_case = c >= 'a' && c <= 'z', letter = lower_case || (c >= 'A' && c <= 'Z');

		if (!letter && (c < '0' || c > '9')) {
			upper = !begins;
			continue;
		}
		if (begins && !letter)
			ctx_buf_put_text(out, "event");
		ctx_buf_put_u8(out, (uint8_t)(upper && lower_case ? c - 'a' + 'A' : c));
		begins = upper = false;
	}
	if (begins)
		ctx_buf_put_text(out, "event");
}

static void put_line(struct ctx_buf *out, const char *key, const char *value)
{
	ctx_buf_put_text(out, key);
	ctx_export_put_text(out, value);
	ctx_buf_put_u8(out, '\n');
}

static void put_header(struct callgrind *it)
{
	const struct ctx_export_input *input = it->input;
	const struct ctx_metric_info *metric = &input->profile->metrics[input->metric];
	const char *command = ctx_profile_property(input->profile, "command", "");
	struct ctx_buf *out = &it->out;

	ctx_buf_printf(out, "# callgrind format\nversion: 1\ncreator: ctxan " CTX_VERSION "\n");
	if (command[0] != '\0')
		put_line(out, "cmd: ", command);
	put_line(out, "desc: Recording: ", input->selection->path);
	for (size_t i = 0; i < input->selection->n_intervals; i++)
		ctx_buf_printf(out, "desc: Interval: %" PRIu64 "-%" PRIu64 " ns\n",
			       input->selection->intervals[i].begin_ns,
			       input->selection->intervals[i].end_ns);
	ctx_buf_printf(out, "positions: line\nevent: ");
	put_event(out, metric->name);
	ctx_buf_printf(out, " : ");
	ctx_export_put_text(out, metric->name);
	ctx_buf_printf(out, " (");
	ctx_export_put_text(out, ctx_unit_word(metric->unit));
	ctx_buf_printf(out, ")\nevents: ");
	put_event(out, metric->name);
	ctx_buf_printf(out, "\nsummary: %" PRIu64 "\n\n", it->whole->weight);
}

static enum ctx_status put_all(struct callgrind *it, FILE *out, struct ctx_err *err)
{
	uint32_t n_functions = it->input->profile->n_functions;
	size_t next = 0;
	enum ctx_status status;

	put_header(it);
	status = flush(it, out, err);
	for (uint32_t caller = 0; status == CTX_OK && caller <= n_functions + 1; caller++)
		status = put_block(it, caller, &next, out, err);
	ctx_buf_printf(&it->out, "totals: %" PRIu64 "\n", it->whole->weight);
	return status == CTX_OK ? flush(it, out, err) : status;
}

static void remark(const struct ctx_export_input *input)
{
	size_t n_threads =
		input->selection->threads != NULL ? input->selection->n_threads : input->profile->n_threads;

	input->remark(input->remark_context,
		      "this format has no time, no stacks and here no lines: only what each function cost "
		      "and whom it called");
	if (n_threads > 1)
		input->remark(input->remark_context,
			      "threads are added up: use --thread for a file of one of them");
}

static enum ctx_status count_calls(struct callgrind *it, struct ctx_err *err)
{
	const struct ctx_profile *profile = it->input->profile;
	size_t n = profile->cct.n, n_used = 0, n_functions = (size_t)profile->n_functions + 1;

	it->weight = ctx_calloc(n, sizeof(*it->weight));
	it->calls = ctx_calloc(n, sizeof(*it->calls));
	it->used = ctx_calloc(n, sizeof(*it->used));
	it->child = ctx_calloc(n, sizeof(*it->child));
	it->sibling = ctx_calloc(n, sizeof(*it->sibling));
	it->active = ctx_calloc(n_functions, sizeof(*it->active));
	it->self = ctx_calloc(n_functions, sizeof(*it->self));
	if (it->weight == NULL || it->calls == NULL || it->used == NULL || it->child == NULL ||
	    it->sibling == NULL || it->active == NULL || it->self == NULL)
		return ctx_err_nomem(err);
	add_up(it);
	for (size_t i = 0; i < n; i++)
		n_used += it->used[i];
	it->list = ctx_calloc(n_used + 1, sizeof(*it->list));
	if (it->list == NULL)
		return ctx_err_nomem(err);
	walk(it);
	if (it->self[profile->n_functions] != 0)
		it->list[it->n++] = (struct call){
			.callee = profile->n_functions,
			.weight = it->self[profile->n_functions],
		};
	merge_calls(it);
	return CTX_OK;
}

static enum ctx_status write_callgrind(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	const struct ctx_profile *profile = input->profile;
	struct callgrind it = {.input = input};
	struct ctx_report_parts whole;
	enum ctx_status status =
		input->source->parts(input->source, &(struct ctx_parts_query){.calls = true}, &whole, err);

	if (status != CTX_OK)
		return status;
	it.whole = whole.parts[0].histograms;
	status = ctx_export_names_init(&it.names, profile, err);

	it.named_function = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*it.named_function));
	it.named_object = ctx_calloc((size_t)profile->n_objects + 1, sizeof(*it.named_object));
	if (status == CTX_OK && (it.named_function == NULL || it.named_object == NULL))
		status = ctx_err_nomem(err);
	if (status == CTX_OK)
		status = count_calls(&it, err);
	if (status == CTX_OK)
		status = put_all(&it, out, err);
	if (status == CTX_OK)
		remark(input);
	ctx_export_names_deinit(&it.names);
	free(it.weight);
	free(it.calls);
	free(it.used);
	free(it.child);
	free(it.sibling);
	free(it.active);
	free(it.self);
	free(it.list);
	free(it.named_function);
	free(it.named_object);
	ctx_buf_deinit(&it.out);
	return status;
}

const struct ctx_export_kind ctx_export_callgrind = {
	.name = "callgrind",
	.suffix = ".callgrind",
	.write = write_callgrind,
};
