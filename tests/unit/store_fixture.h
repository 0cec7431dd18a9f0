/*
 * A seeded experiment for the tests of the store: entities, call stacks, samples, and time trees
 * made the plain way. Everything is kept in memory, so that what is read back, and what SQL says,
 * can be compared with it.
 */
#ifndef CTX_TESTS_STORE_FIXTURE_H
#define CTX_TESTS_STORE_FIXTURE_H

#include "base/mem.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#define FIXTURE_RUN_NS 1000000u
#define FIXTURE_NODES_MAX 4096u
#define FIXTURE_FILES 6u
#define FIXTURE_TEXT_MAX 5000u
#define FIXTURE_PARTS_MAX 3u
#define FIXTURE_CODE_MAX 300u

struct fixture {
	uint64_t seed;
	struct ctx_profile profile;
	struct ctx_location *locations;
	size_t n_locations;
	struct ctx_trie raw;
	uint32_t *raw_to_stack;
	struct ctx_mapping_info mappings[3];
	struct ctx_site *sites;
	size_t n_sites;
	struct ctx_source_file files[FIXTURE_FILES];
	struct ctx_sample *samples; /* of metric 0, all threads, in time order */
	size_t n_samples;
	size_t leaf_samples; /* a node with fewer is a leaf */
};

static inline uint32_t fixture_random(struct fixture *fixture, uint32_t below)
{
	fixture->seed = fixture->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((fixture->seed >> 33) % below);
}

static inline const char *fixture_name(struct fixture *fixture, const char *stem, uint32_t i)
{
	char text[64];

	/* Names are any bytes: some with quotes, some that are no UTF-8. */
	snprintf(text, sizeof(text), "%s'%u%s", stem, i, i % 5 == 3 ? "\xff\xfe" : "");
	return ctx_arena_strdup(&fixture->profile.arena, text);
}

static inline void fixture_make_entities(struct fixture *fixture, uint32_t n_threads, uint32_t n_functions)
{
	struct ctx_profile *p = &fixture->profile;

	p->name = "test.1.er";
	p->run = (struct ctx_interval){0, FIXTURE_RUN_NS};
	p->closed = fixture_random(fixture, 2) != 0;
	p->losses.samples = fixture_random(fixture, 100);
	p->losses.throttled = fixture_random(fixture, 100);
	p->losses.damaged = fixture_random(fixture, 100);
	p->losses.n_items = 3;
	p->losses.items = ctx_calloc(p->losses.n_items, sizeof(*p->losses.items));
	p->losses.items[0].count = UINT64_MAX;
	p->losses.items[0].cpu = -1;
	for (uint64_t i = 1; i < p->losses.n_items; i++) {
		struct ctx_loss *loss = &p->losses.items[i];

		loss->located = true;
		loss->time = (struct ctx_interval){10 * i, 10 * i + 5};
		loss->count = i;
		loss->cpu = (int32_t)i - 1;
		loss->has_thread = i == 1;
		loss->has_kinds = i == 2;
		loss->kinds[CTX_LOSS_CHANGES] = i == 2 ? 2 : 0;
	}
	p->notes = "a note\nof two lines";
	p->n_properties = 2;
	p->properties = ctx_calloc(p->n_properties, sizeof(*p->properties));
	p->properties[0] = (struct ctx_property){"host", "target1"};
	p->properties[1] = (struct ctx_property){"command", "./app \"x\""};
	p->n_warnings = 1;
	p->warnings = ctx_calloc(1, sizeof(*p->warnings));
	p->warnings[0] = "few samples";
	p->n_objects = 2;
	p->objects = ctx_calloc(2, sizeof(*p->objects));
	p->objects[0] = (struct ctx_object_info){"/usr/bin/app", "00ff", "archive"};
	p->objects[1] = (struct ctx_object_info){"[kernel]", "", "none: no permission"};
	p->n_functions = n_functions;
	p->functions = ctx_calloc(n_functions, sizeof(*p->functions));
	for (uint32_t i = 0; i < n_functions; i++) {
		const char *name = fixture_name(fixture, "f", i);

		p->functions[i] = (struct ctx_function_info){
			.name = name,
			.linkage_name = i % 3 == 0 ? fixture_name(fixture, "_Z", i) : name,
			.aliases = i % 7 == 0 ? "other names" : "",
			.object = i % 4 == 3 ? CTX_NONE : i % 2,
			.offset = i % 2 != 0 ? 0xffffffff81000000u + i : i * 16,
			.size = i * 4,
			.kind = i % 4 == 3 ? CTX_FUNCTION_UNKNOWN : CTX_FUNCTION_ORDINARY,
			.inlined = i % 6 == 1,
			.parts = i % 3 == 0   ? NULL
				 : i % 3 == 1 ? ""
					      : "f.cold f.part.0",
		};
	}
	p->n_metrics = 2;
	p->metrics = ctx_calloc(2, sizeof(*p->metrics));
	p->metrics[0] = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	p->metrics[1] = (struct ctx_metric_info){
		.name = "page-faults", .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS};
	p->n_processes = 2;
	p->processes = ctx_calloc(2, sizeof(*p->processes));
	p->processes[0] = (struct ctx_process_info){.parent = CTX_NONE,
						    .pid = 100,
						    .command = "./app",
						    .lineage = "",
						    .life = {0, FIXTURE_RUN_NS}};
	p->processes[1] = (struct ctx_process_info){.parent = 0,
						    .pid = 101,
						    .exit_status = -3,
						    .has_exit_status = true,
						    .command = "sh",
						    .lineage = "_f1",
						    .cgroup = "/docker/1",
						    .inner_pid = 7,
						    .life = {5, UINT64_MAX}};
	p->n_threads = n_threads;
	p->threads = ctx_calloc(n_threads, sizeof(*p->threads));
	for (uint32_t i = 0; i < n_threads; i++)
		p->threads[i] = (struct ctx_thread_info){.process = i % 2,
							 .tid = 100 + i,
							 .inner_tid = i % 3,
							 .name = fixture_name(fixture, "t", i),
							 .life = {i, FIXTURE_RUN_NS}};
	p->n_usage = 2;
	p->usage = ctx_calloc(2, sizeof(*p->usage));
	p->usage[0] = (struct ctx_usage_info){
		.time_ns = 1, .user_ns = 2, .system_ns = 3, .rss_bytes = 4, .threads = 5};
	p->usage[1] = (struct ctx_usage_info){
		.time_ns = 9, .process = 1, .vsize_bytes = 6, .write_bytes = UINT64_MAX};
	for (uint32_t i = 0; i < 3; i++)
		fixture->mappings[i] =
			(struct ctx_mapping_info){i % 2, i % 2, 0x400000u + i, 4096, i, {i, 100 + i}};
}

/* Chains of inlined calls, each a few deep. */
static inline void fixture_make_sites(struct fixture *fixture)
{
	for (uint32_t i = 0; i < FIXTURE_FILES; i++)
		fixture->files[i] = (struct ctx_source_file){fixture_name(fixture, "/src/", i),
							     i % 2 != 0 ? "archive" : ""};
	fixture->n_sites = fixture_random(fixture, 200);
	fixture->sites = ctx_calloc(fixture->n_sites + 1, sizeof(*fixture->sites));
	for (uint32_t i = 0; i < fixture->n_sites; i++) {
		bool known = fixture_random(fixture, 4) != 0;

		fixture->sites[i] = (struct ctx_site){
			.function = fixture_random(fixture, fixture->profile.n_functions),
			.file = known ? fixture_random(fixture, FIXTURE_FILES) : CTX_NONE,
			.line = known ? fixture_random(fixture, 100000) : 0,
			.caller = i % 5 != 0 ? i - 1 - fixture_random(fixture, i % 5) : CTX_NONE,
		};
	}
}

/* The last location is no code: it joins two stacks. */
static inline void fixture_make_locations(struct fixture *fixture)
{
	struct ctx_profile *p = &fixture->profile;

	fixture->n_locations = p->n_functions * 3 + 1;
	fixture->locations = ctx_calloc(fixture->n_locations, sizeof(*fixture->locations));
	for (uint32_t i = 0; i < fixture->n_locations - 1; i++) {
		uint32_t function = i / 3;

		fixture->locations[i] = (struct ctx_location){
			.object = p->functions[function].object,
			.function = function,
			.address = p->functions[function].offset + i % 3,
			.site = i < fixture->n_sites && i % 4 != 0 ? i : CTX_NONE,
		};
	}
	fixture->locations[fixture->n_locations - 1] = (struct ctx_location){
		.object = CTX_NONE, .function = CTX_NONE, .site = CTX_NONE, .joins = true};
}

/* The node of the CCT that a raw stack has below its parent's: a join adds none. */
static inline enum ctx_status fixture_child(struct fixture *fixture, uint32_t parent, uint32_t location,
					    uint32_t *ret, struct ctx_err *err)
{
	*ret = parent;
	if (fixture->locations[location].joins)
		return CTX_OK;
	return ctx_trie_child(&fixture->profile.cct, parent, fixture->locations[location].function, ret, err);
}

static inline void fixture_make_stacks(struct fixture *fixture, uint32_t n_raw)
{
	struct ctx_profile *p = &fixture->profile;
	uint32_t node;

	fixture_make_sites(fixture);
	fixture_make_locations(fixture);
	if (ctx_trie_init(&p->cct, NULL) != CTX_OK || ctx_trie_init(&fixture->raw, NULL) != CTX_OK)
		abort();
	fixture->raw_to_stack = ctx_calloc((size_t)n_raw + 1, sizeof(uint32_t));
	while (fixture->raw.n < n_raw) {
		uint32_t back = fixture_random(fixture, fixture->raw.n < 20 ? fixture->raw.n : 20);
		uint32_t parent = fixture->raw.n - 1 - back;
		uint32_t location = fixture_random(fixture, (uint32_t)fixture->n_locations);
		uint32_t stack;

		if (ctx_trie_child(&fixture->raw, parent, location, &node, NULL) != CTX_OK ||
		    fixture_child(fixture, fixture->raw_to_stack[parent], location, &stack, NULL) != CTX_OK)
			abort();
		fixture->raw_to_stack[node] = stack;
	}
	ctx_trie_freeze(&p->cct);
	ctx_trie_freeze(&fixture->raw);
}

static inline void fixture_make_samples(struct fixture *fixture, size_t n)
{
	struct ctx_profile *p = &fixture->profile;
	uint64_t time_ns = 0;
	uint32_t *last = ctx_calloc(p->n_threads, sizeof(*last));

	fixture->samples = ctx_calloc(n + 1, sizeof(*fixture->samples));
	fixture->n_samples = n;
	for (size_t i = 0; i < n; i++) {
		struct ctx_sample *sample = &fixture->samples[i];
		uint32_t raw = fixture_random(fixture, fixture->raw.n);
		uint32_t common;

		time_ns += fixture_random(fixture, (uint32_t)(FIXTURE_RUN_NS * 2 / (n + 1)));
		sample->time_ns = time_ns < FIXTURE_RUN_NS ? time_ns : FIXTURE_RUN_NS - 1;
		sample->raw_stack = raw;
		sample->stack = fixture->raw_to_stack[raw];
		sample->thread = fixture_random(fixture, p->n_threads);
		sample->cpu = (int32_t)fixture_random(fixture, 5) - 1;
		sample->weight = fixture_random(fixture, 4) == 0 ? fixture_random(fixture, 2000000) : 1000000;
		common = ctx_trie_common_ancestor(&p->cct, last[sample->thread], sample->stack);
		sample->kept_depth = p->cct.depth[common];
		last[sample->thread] = sample->stack;
		p->metrics[0].samples++;
		p->metrics[0].weight += sample->weight;
		p->threads[sample->thread].samples++;
		p->threads[sample->thread].weight += sample->weight;
		p->processes[p->threads[sample->thread].process].samples++;
		p->processes[p->threads[sample->thread].process].weight += sample->weight;
	}
	free(last);
}

static inline void fixture_init(struct fixture *fixture, uint64_t seed, uint32_t n_threads, size_t n_samples)
{
	*fixture = (struct fixture){.seed = seed * 2 + 1, .leaf_samples = 50};
	fixture_make_entities(fixture, n_threads, 5 + fixture_random(fixture, 30));
	fixture_make_stacks(fixture, 2 + fixture_random(fixture, 300));
	fixture_make_samples(fixture, n_samples);
}

static inline void fixture_deinit(struct fixture *fixture)
{
	ctx_trie_deinit(&fixture->raw);
	ctx_profile_deinit(&fixture->profile);
	free(fixture->locations);
	free(fixture->sites);
	free(fixture->raw_to_stack);
	free(fixture->samples);
}

/* ---- time trees, the plain way: halves, until few samples are left ---- */

struct fixture_tree {
	struct ctx_store *store;
	uint32_t tree, next_id;
	size_t leaf_samples;
	const struct ctx_sample *samples;
};

static inline enum ctx_status fixture_put_node(struct fixture_tree *tree, struct ctx_timenode node,
					       size_t first, size_t n, struct ctx_err *err)
{
	uint64_t middle = node.interval.begin_ns + (node.interval.end_ns - node.interval.begin_ns) / 2;
	enum ctx_status status = CTX_OK;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		node.weight += tree->samples[first + i].weight;
		left += tree->samples[first + i].time_ns < middle;
	}
	node.samples = n;
	if (n < tree->leaf_samples || middle == node.interval.begin_ns) {
		if (n != 0)
			status = ctx_store_put_leaf(tree->store, (struct ctx_store_node){tree->tree, node.id},
						    tree->samples + first, n, err);
		return status == CTX_OK ? ctx_store_put_node(tree->store, tree->tree, &node, err) : status;
	}
	node.n_children = 2;
	node.first_child = tree->next_id;
	tree->next_id += 2;
	for (uint32_t i = 0; i < 2 && status == CTX_OK; i++) {
		struct ctx_timenode child = {
			.id = node.first_child + i, .parent = node.id, .level = node.level + 1};

		child.interval.begin_ns = i == 0 ? node.interval.begin_ns : middle;
		child.interval.end_ns = i == 0 ? middle : node.interval.end_ns;
		status = fixture_put_node(tree, child, i == 0 ? first : first + left,
					  i == 0 ? left : n - left, err);
	}
	node.top = (const uint8_t *)"top of the list";
	node.top_bytes = 1 + n % 15;
	node.tail = (const uint8_t *)"tail";
	node.tail_bytes = n % 5;
	node.calls = (const uint8_t *)"calls";
	node.calls_bytes = n % 6;
	node.tail_weight = n;
	node.tail_samples = n * 2;
	node.tail_largest = n * 3;
	return status == CTX_OK ? ctx_store_put_node(tree->store, tree->tree, &node, err) : status;
}

static inline enum ctx_status fixture_put_tree(struct fixture *fixture, struct ctx_store *store, uint32_t id,
					       uint32_t thread, struct ctx_err *err)
{
	struct ctx_sample *mine = ctx_calloc(fixture->n_samples + 1, sizeof(*mine));
	struct ctx_tree_info info = {.id = id,
				     .thread = thread,
				     .leaf_samples = (uint32_t)fixture->leaf_samples,
				     .fanout = 2,
				     .percent = 95,
				     .keep_tail = true,
				     .same_as = CTX_NONE};
	struct fixture_tree tree = {store, id, 1, fixture->leaf_samples, mine};
	struct ctx_timenode root = {.interval = {0, FIXTURE_RUN_NS}};
	enum ctx_status status;
	size_t n = 0;

	if (mine == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < fixture->n_samples; i++) {
		if (thread == CTX_NONE || fixture->samples[i].thread == thread)
			mine[n++] = fixture->samples[i];
	}
	if (thread != CTX_NONE && n == fixture->n_samples && n != 0)
		info.same_as = 0;
	status = ctx_store_put_tree(store, &info, err);
	if (status == CTX_OK && info.same_as == CTX_NONE)
		status = fixture_put_node(&tree, root, 0, n, err);
	free(mine);
	return status;
}

/* ---- texts and code: from the number alone, so that they need not be kept ---- */

/*
 * False: this file has no text. Some are empty, some have zero bytes. `text` has room for
 * FIXTURE_TEXT_MAX.
 */
static inline bool fixture_text(uint32_t file, char *text, size_t *ret_n)
{
	size_t n = file * 1000 % FIXTURE_TEXT_MAX;

	for (size_t i = 0; i < n; i++)
		text[i] = (char)(i * i / 7 % (file + 10));
	*ret_n = n;
	return file % 3 != 2;
}

struct fixture_code {
	struct ctx_function_code parts[FIXTURE_PARTS_MAX];
	uint8_t bytes[FIXTURE_PARTS_MAX][FIXTURE_CODE_MAX];
	struct ctx_line_row lines[FIXTURE_PARTS_MAX][FIXTURE_CODE_MAX];
};

/* The parts of a function; the third has no lines. Returns how many. */
static inline size_t fixture_code(const struct fixture *fixture, uint32_t function, struct fixture_code *ret)
{
	size_t n = function % (FIXTURE_PARTS_MAX + 1);

	for (uint32_t p = 0; p < n; p++) {
		struct ctx_function_code *part = &ret->parts[p];

		*part = (struct ctx_function_code){
			.function = function,
			.address =
				fixture->profile.functions[function].offset + (uint64_t)p * FIXTURE_CODE_MAX,
			.bytes = ret->bytes[p],
			.n_bytes =
				p == 1 ? FIXTURE_CODE_MAX : 1 + (function * 37 + p * 101) % FIXTURE_CODE_MAX,
			.lines = ret->lines[p],
			.n_lines = 0,
			.machine = (uint16_t)(62 + function),
		};
		for (uint32_t i = 0; i < part->n_bytes; i++) {
			ret->bytes[p][i] = (uint8_t)(i * (function + 3));
			if (p == 2 || i % 3 != 0)
				continue;
			ret->lines[p][part->n_lines++] = (struct ctx_line_row){
				.address = part->address + i + (i + 1 < part->n_bytes ? i % 2 : 0),
				.file = i % 7 == 0 ? CTX_NONE : i % FIXTURE_FILES,
				.line = i % 7 == 0 ? 0 : (i * 7919u) % 1000,
			};
		}
	}
	return n;
}

static inline enum ctx_status fixture_put_code(struct fixture *fixture, struct ctx_store *store,
					       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < FIXTURE_FILES && status == CTX_OK; i++) {
		char text[FIXTURE_TEXT_MAX];
		size_t n;

		if (fixture_text(i, text, &n))
			status = ctx_store_put_source_text(store, i, text, n, err);
	}
	for (uint32_t i = 0; i < fixture->profile.n_functions && status == CTX_OK; i++) {
		struct fixture_code code;
		size_t n = fixture_code(fixture, i, &code);

		for (size_t p = 0; p < n && status == CTX_OK; p++)
			status = ctx_store_put_code(store, &code.parts[p], err);
	}
	return status;
}

static inline struct ctx_store_contents fixture_contents(const struct fixture *fixture)
{
	return (struct ctx_store_contents){
		.profile = &fixture->profile,
		.locations = fixture->locations,
		.n_locations = fixture->n_locations,
		.raw_stacks = &fixture->raw,
		.raw_to_stack = fixture->raw_to_stack,
		.mappings = fixture->mappings,
		.n_mappings = 3,
		.sites = fixture->sites,
		.n_sites = fixture->n_sites,
		.files = fixture->files,
		.n_files = FIXTURE_FILES,
		.fingerprint = "print",
	};
}

static inline enum ctx_status fixture_put_contents(struct fixture *fixture, struct ctx_store *store,
						   struct ctx_err *err)
{
	struct ctx_store_contents contents = fixture_contents(fixture);

	return ctx_store_put_contents(store, &contents, err);
}

/* Tree 0 has all threads, tree 1 + t thread t. */
static inline enum ctx_status fixture_put_trees(struct fixture *fixture, struct ctx_store *store,
						struct ctx_err *err)
{
	enum ctx_status status = fixture_put_tree(fixture, store, 0, CTX_NONE, err);

	for (uint32_t i = 0; i < fixture->profile.n_threads && status == CTX_OK; i++)
		status = fixture_put_tree(fixture, store, 1 + i, i, err);
	return status;
}

static inline enum ctx_status fixture_put(struct fixture *fixture, struct ctx_store *store,
					  struct ctx_err *err)
{
	enum ctx_status status = fixture_put_trees(fixture, store, err);

	if (status == CTX_OK)
		status = fixture_put_contents(fixture, store, err);
	return status == CTX_OK ? fixture_put_code(fixture, store, err) : status;
}

static inline enum ctx_status fixture_write(struct fixture *fixture, const char *path, struct ctx_err *err)
{
	struct ctx_store *store = NULL;
	enum ctx_status status = ctx_store_create(path, &store, err);

	if (status != CTX_OK)
		return status;
	status = fixture_put(fixture, store, err);
	if (status != CTX_OK) {
		ctx_store_close(store);
		return status;
	}
	return ctx_store_commit(store, err);
}

#endif
