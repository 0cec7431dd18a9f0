#include "report/html_profile.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "report/html_states.h"
#include "report/html_waits.h"

#include <string.h>

#define UNUSED UINT32_MAX
#define OTHER_NAME "<Other>"

/* The ids of the profile that are in the page, and their numbers there. */
struct choice {
	uint32_t *nodes, *functions,
		*objects; /* owned; by id of the profile: number in the page, or UNUSED */
	uint32_t n_nodes, n_functions, n_objects;
	bool other; /* one more function and node, the last of each: <Other> */
	struct ctx_strtab strings;
};

static void choice_cleanup(struct choice *choice)
{
	free(choice->nodes);
	free(choice->functions);
	free(choice->objects);
	ctx_strtab_deinit(&choice->strings);
}

static uint32_t *new_numbers(uint32_t n)
{
	uint32_t *numbers = ctx_calloc(n, sizeof(*numbers));

	if (numbers != NULL)
		memset(numbers, 0xff, n * sizeof(*numbers));
	return numbers;
}

static uint32_t number_used(uint32_t *numbers, uint32_t n, uint32_t first)
{
	for (uint32_t i = 0; i < n; i++) {
		if (numbers[i] != UNUSED)
			numbers[i] = first++;
	}
	return first;
}

static void mark_node(const struct ctx_trie *cct, uint32_t node, struct choice *choice)
{
	for (; choice->nodes[node] == UNUSED; node = cct->parent[node])
		choice->nodes[node] = 0;
}

/* A node is used if a cell or a call refers to it or to a descendant. */
static void mark_nodes(const struct ctx_trie *cct, const struct ctx_cells *cells, struct choice *choice)
{
	for (uint32_t i = 0; i < cells->n_threads; i++) {
		const struct ctx_thread_cells *thread = &cells->threads[i];

		for (size_t k = 0; k < thread->n; k++) {
			uint32_t node = thread->entries[k].stack;

			if (node == CTX_CELLS_OTHER)
				choice->other = true;
			else
				mark_node(cct, node, choice);
		}
	}
}

static enum ctx_status mark_calls(const struct ctx_trie *cct, const struct ctx_html_calls *calls,
				  struct choice *choice, struct ctx_err *err)
{
	bool *used CTX_AUTO_FREE = ctx_calloc(cct->n, sizeof(*used));

	if (used == NULL)
		return ctx_err_nomem(err);
	ctx_html_calls_mark(calls, used);
	for (uint32_t node = 0; node < cct->n; node++) {
		if (used[node])
			mark_node(cct, node, choice);
	}
	return CTX_OK;
}

static enum ctx_status choose(const struct ctx_html_profile *page, struct choice *choice, struct ctx_err *err)
{
	const struct ctx_html_metrics *metrics = page->metrics;
	const struct ctx_profile *profile = metrics->input->profile;
	const struct ctx_trie *cct = &profile->cct;
	enum ctx_status status = CTX_OK;

	choice->nodes = new_numbers(cct->n);
	choice->functions = new_numbers(profile->n_functions);
	choice->objects = new_numbers(profile->n_objects);
	if (choice->nodes == NULL || choice->functions == NULL || choice->objects == NULL)
		return ctx_err_nomem(err);
	choice->nodes[CTX_TRIE_ROOT] = 0;
	for (size_t i = 0; i < metrics->n_bases; i++)
		mark_nodes(cct, &metrics->bases[i].cells, choice);
	if (page->calls != NULL)
		status = mark_calls(cct, page->calls, choice, err);
	if (status != CTX_OK)
		return status;
	for (uint32_t node = 1; node < cct->n; node++) {
		if (choice->nodes[node] != UNUSED)
			choice->functions[cct->key[node]] = 0;
	}
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (choice->functions[i] != UNUSED && profile->functions[i].object != CTX_NONE)
			choice->objects[profile->functions[i].object] = 0;
	}
	choice->n_nodes = number_used(choice->nodes, cct->n, 0);
	choice->n_functions = number_used(choice->functions, profile->n_functions, 0);
	choice->n_objects = number_used(choice->objects, profile->n_objects, 0);
	return CTX_OK;
}

/* Interns a text as valid UTF-8; what is not UTF-8 becomes U+FFFD. */
static enum ctx_status put_string(struct choice *choice, struct ctx_buf *column, const char *text,
				  struct ctx_err *err)
{
	struct ctx_buf valid = {0};
	uint32_t id = 0;
	enum ctx_status status;

	ctx_html_put_valid(&valid, text, strlen(text));
	status = ctx_buf_check(&valid, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&choice->strings, valid.n != 0 ? (const char *)valid.bytes : "",
					valid.n, &id, err);
	ctx_buf_deinit(&valid);
	ctx_buf_put_varint(column, id);
	return status;
}

static enum ctx_status put_functions(const struct ctx_profile *profile, struct choice *choice,
				     struct ctx_buf *out, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	ctx_buf_put_varint(out, choice->n_objects);
	for (uint32_t i = 0; i < profile->n_objects && status == CTX_OK; i++) {
		if (choice->objects[i] != UNUSED)
			status = put_string(choice, out, profile->objects[i].path, err);
	}
	ctx_buf_put_varint(out, choice->n_functions + choice->other);
	for (uint32_t i = 0; i < profile->n_functions && status == CTX_OK; i++) {
		if (choice->functions[i] != UNUSED)
			status = put_string(choice, out, profile->functions[i].name, err);
	}
	if (status == CTX_OK && choice->other)
		status = put_string(choice, out, OTHER_NAME, err);
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		uint32_t object = profile->functions[i].object;

		if (choice->functions[i] != UNUSED)
			ctx_buf_put_varint(out, object != CTX_NONE ? choice->objects[object] + 1u : 0);
	}
	if (choice->other)
		ctx_buf_put_varint(out, 0);
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (choice->functions[i] != UNUSED)
			ctx_buf_put_varint(out, profile->functions[i].kind);
	}
	if (choice->other)
		ctx_buf_put_varint(out, CTX_FUNCTION_ARTIFICIAL);
	return status;
}

static void put_cct(const struct ctx_trie *cct, const struct choice *choice, struct ctx_buf *out)
{
	ctx_buf_put_varint(out, choice->n_nodes + choice->other);
	for (uint32_t node = 1; node < cct->n; node++) {
		if (choice->nodes[node] != UNUSED)
			ctx_buf_put_varint(out, choice->nodes[node] - choice->nodes[cct->parent[node]]);
	}
	if (choice->other)
		ctx_buf_put_varint(out, choice->n_nodes); /* below the root */
	for (uint32_t node = 1; node < cct->n; node++) {
		if (choice->nodes[node] != UNUSED)
			ctx_buf_put_varint(out, choice->functions[cct->key[node]]);
	}
	if (choice->other)
		ctx_buf_put_varint(out, choice->n_functions);
}

static enum ctx_status put_threads(const struct ctx_profile *profile, struct choice *choice,
				   struct ctx_buf *out, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	ctx_buf_put_varint(out, profile->n_processes);
	for (uint32_t i = 0; i < profile->n_processes && status == CTX_OK; i++)
		status = put_string(choice, out, profile->processes[i].command, err);
	for (uint32_t i = 0; i < profile->n_processes; i++)
		ctx_buf_put_zigzag(out, profile->processes[i].pid);
	ctx_buf_put_varint(out, profile->n_threads);
	for (uint32_t i = 0; i < profile->n_threads; i++)
		ctx_buf_put_varint(out, profile->threads[i].process);
	for (uint32_t i = 0; i < profile->n_threads; i++)
		ctx_buf_put_zigzag(out, profile->threads[i].tid);
	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++)
		status = put_string(choice, out, profile->threads[i].name, err);
	return status;
}

static uint32_t node_of(const struct choice *choice, uint32_t stack)
{
	return stack == CTX_CELLS_OTHER ? choice->n_nodes : choice->nodes[stack];
}

/* The number of the first entry after the cell that begins at `at`. */
static size_t cell_end(const struct ctx_thread_cells *thread, size_t at)
{
	size_t end = at + 1;

	while (end < thread->n && thread->entries[end].bucket == thread->entries[at].bucket)
		end++;
	return end;
}

/*
 * What the weights of a thread's entries are less than: of samples as many times the unit, of spans
 * what the bucket has left, so that of a span that fills its bucket 0 is left.
 */
static void put_weights(const struct ctx_cells *cells, const struct ctx_thread_cells *thread, uint64_t end_ns,
			struct ctx_buf *out)
{
	uint64_t rest = 0;

	for (size_t i = 0; i < thread->n; i++) {
		const struct ctx_cell_entry *entry = &thread->entries[i];

		if (!cells->spans) {
			ctx_buf_put_zigzag(out,
					   (int64_t)(entry->weight - entry->samples * cells->unit_weight));
			continue;
		}
		if (i == 0 || entry[-1].bucket != entry->bucket)
			rest = ctx_cells_border(entry->bucket + 1, end_ns, cells->buckets) -
			       ctx_cells_border(entry->bucket, end_ns, cells->buckets);
		rest -= entry->weight;
		ctx_buf_put_zigzag(out, (int64_t)rest);
	}
}

static void put_thread_cells(const struct ctx_cells *cells, uint32_t number, const struct choice *choice,
			     uint64_t end_ns, struct ctx_buf *out)
{
	const struct ctx_thread_cells *thread = &cells->threads[number];
	size_t n_cells = 0;
	uint32_t before = 0;

	for (size_t at = 0; at < thread->n; at = cell_end(thread, at))
		n_cells++;
	ctx_buf_put_varint(out, n_cells);
	for (size_t at = 0; at < thread->n; at = cell_end(thread, at)) {
		ctx_buf_put_varint(out, thread->entries[at].bucket - before);
		before = thread->entries[at].bucket;
	}
	for (size_t at = 0; at < thread->n; at = cell_end(thread, at))
		ctx_buf_put_varint(out, cell_end(thread, at) - at);
	for (size_t i = 0; i < thread->n; i++) {
		uint32_t node = node_of(choice, thread->entries[i].stack);
		bool first = i == 0 || thread->entries[i - 1].bucket != thread->entries[i].bucket;

		ctx_buf_put_varint(out, first ? node : node - node_of(choice, thread->entries[i - 1].stack));
	}
	for (size_t i = 0; i < thread->n; i++)
		ctx_buf_put_varint(out, thread->entries[i].samples);
	put_weights(cells, thread, end_ns, out);
}

/* The cells of a base stand behind their length: the page reads them when they are needed. */
static enum ctx_status put_base(const struct ctx_cells *cells, const struct choice *choice, uint64_t end_ns,
				struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_buf bytes = {0};
	enum ctx_status status;

	for (uint32_t i = 0; i < cells->n_threads; i++)
		put_thread_cells(cells, i, choice, end_ns, &bytes);
	status = ctx_buf_check(&bytes, err);
	ctx_buf_put_u8(out, cells->spans ? 1 : 0);
	ctx_buf_put_varint(out, cells->unit_weight);
	ctx_buf_put_varint(out, bytes.n);
	ctx_buf_put(out, bytes.bytes, bytes.n);
	ctx_buf_deinit(&bytes);
	return status;
}

static enum ctx_status put_bases(const struct ctx_html_metrics *metrics, const struct choice *choice,
				 struct ctx_buf *out, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	ctx_buf_put_varint(out, metrics->n_bases);
	for (size_t i = 0; i < metrics->n_bases && status == CTX_OK; i++)
		status = put_base(&metrics->bases[i].cells, choice, metrics->input->profile->run.end_ns, out,
				  err);
	return status;
}

static void put_sources(const struct ctx_profile *profile, const struct ctx_html_sources *sources,
			const struct choice *choice, struct ctx_buf *out)
{
	ctx_buf_put_varint(out, sources->unit_weight);
	ctx_buf_put_varint(out, sources->weight);
	ctx_buf_put_varint(out, sources->samples);
	ctx_buf_put_varint(out, sources->n_groups);
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (choice->functions[i] != UNUSED)
			ctx_buf_put_varint(out, sources->of_function != NULL ? sources->of_function[i]
									     : CTX_HTML_SOURCE_NONE);
	}
	if (choice->other)
		ctx_buf_put_varint(out, CTX_HTML_SOURCE_NONE);
	ctx_buf_put(out, sources->groups.bytes, sources->groups.n);
}

static enum ctx_status put_places(const struct ctx_html_waits *waits, struct choice *choice,
				  struct ctx_buf *out, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	ctx_buf_put_varint(out, waits->n_places);
	for (size_t i = 0; i < waits->n_places; i++) {
		uint32_t caller = waits->places[i].place.caller;

		ctx_buf_put_varint(out, caller != CTX_NONE ? choice->functions[caller] + 1u : 0);
	}
	for (size_t i = 0; i < waits->n_places && status == CTX_OK; i++)
		status = put_string(choice, out, ctx_wait_kind_text(waits->places[i].place.kind), err);
	for (size_t i = 0; i < waits->n_places; i++)
		ctx_buf_put_varint(out, waits->places[i].state);
	for (size_t i = 0; i < waits->n_places; i++)
		ctx_buf_put_varint(out, waits->places[i].longest_ns);
	return status;
}

/* For each base: its stacks, and their places. */
static void put_wait_stacks(const struct ctx_html_waits *waits, size_t n_bases, const struct choice *choice,
			    struct ctx_buf *out)
{
	const struct ctx_html_wait_stack *stacks = waits->stacks;
	size_t first = 0, end;

	for (size_t base = 0; base < n_bases; base++, first = end) {
		for (end = first; end < waits->n_stacks && stacks[end].base == base;)
			end++;
		ctx_buf_put_varint(out, end - first);
		for (size_t i = first; i < end; i++)
			ctx_buf_put_varint(out,
					   choice->nodes[stacks[i].stack] -
						   (i != first ? choice->nodes[stacks[i - 1].stack] : 0));
		for (size_t i = first; i < end; i++)
			ctx_buf_put_varint(out, stacks[i].place);
	}
}

static enum ctx_status put_waits(const struct ctx_html_metrics *metrics, struct choice *choice,
				 struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_html_waits waits;
	enum ctx_status status = ctx_html_waits_make(&waits, metrics, err);

	if (status == CTX_OK)
		status = put_places(&waits, choice, out, err);
	if (status == CTX_OK)
		put_wait_stacks(&waits, metrics->n_bases, choice, out);
	ctx_html_waits_deinit(&waits);
	return status;
}

static void put_strings(const struct ctx_strtab *strings, struct ctx_buf *out)
{
	ctx_buf_put_varint(out, strings->n);
	for (size_t i = 0; i < strings->n; i++) {
		ctx_buf_put_varint(out, strings->lengths[i]);
		ctx_buf_put(out, strings->strings[i], strings->lengths[i]);
	}
}

/* Behind their length: the page reads them when they are needed. */
static void put_calls(const struct ctx_html_calls *calls, const struct choice *choice, struct ctx_buf *out)
{
	struct ctx_buf bytes CTX_AUTO_BUF = {0};

	if (calls != NULL)
		ctx_html_calls_put(calls, choice->nodes, &bytes);
	ctx_buf_put_varint(out, bytes.n);
	ctx_buf_put(out, bytes.bytes, bytes.n);
	out->failed |= bytes.failed;
}

enum ctx_status ctx_html_profile_encode(const struct ctx_html_profile *page, struct ctx_buf *out,
					struct ctx_err *err)
{
	const struct ctx_html_metrics *metrics = page->metrics;
	const struct ctx_profile *profile = metrics->input->profile;
	struct choice choice __attribute__((cleanup(choice_cleanup))) = {0};
	struct ctx_buf rest = {0}; /* after the strings, which are complete last */
	enum ctx_status status = choose(page, &choice, err);
	uint32_t empty;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&choice.strings, "", &empty, err);
	if (status == CTX_OK)
		status = put_functions(profile, &choice, &rest, err);
	if (status == CTX_OK) {
		put_cct(&profile->cct, &choice, &rest);
		status = put_threads(profile, &choice, &rest, err);
	}
	if (status == CTX_OK) {
		ctx_buf_put_varint(&rest, profile->run.end_ns);
		ctx_buf_put_varint(&rest, metrics->buckets);
		status = put_bases(metrics, &choice, &rest, err);
	}
	if (status == CTX_OK) {
		put_sources(profile, page->sources, &choice, &rest);
		status = put_waits(metrics, &choice, &rest, err);
	}
	if (status == CTX_OK) {
		if (page->states != NULL)
			ctx_html_states_put(page->states, profile->run.end_ns, &rest);
		else
			ctx_buf_put_varint(&rest, 0);
		put_calls(page->calls, &choice, &rest);
		status = ctx_buf_check(&rest, err);
	}
	if (status == CTX_OK) {
		ctx_buf_put(out, "CTXP\5", 5);
		put_strings(&choice.strings, out);
		ctx_buf_put(out, rest.bytes, rest.n);
		status = ctx_buf_check(out, err);
	}
	ctx_buf_deinit(&rest);
	return status;
}
