#include "store_places.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "store/block_codec.h"
#include "tests/unit/every.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- helpers ---- */

static int files_in_dir(void)
{
	DIR *stream = opendir(dir);
	int n = 0;

	assert_non_null(stream);
	for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
		n += entry->d_name[0] != '.';
	closedir(stream);
	return n;
}

/* ---- the codec ---- */

static void assert_same_sample(const struct ctx_sample *a, const struct ctx_sample *b)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->stack, b->stack);
	assert_int_equal(a->raw_stack, b->raw_stack);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->kept_depth, b->kept_depth);
	assert_int_equal(a->metric, b->metric);
}

static void test_store__codec_gives_back_any_samples(void **state)
{
	struct ctx_block_codec codec = {0};
	struct ctx_sample in[200], out[200];
	struct fixture random = {.seed = 7};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t n = 1 + fixture_random(&random, 200);
		uint32_t spread = round % 3 == 0 ? 2 : UINT32_MAX; /* few values: runs; one: constant */

		for (size_t i = 0; i < n; i++) {
			in[i] = (struct ctx_sample){
				.time_ns = (i != 0 ? in[i - 1].time_ns : 0) + fixture_random(&random, spread),
				.weight = (uint64_t)fixture_random(&random, spread) << (round % 33),
				.raw_stack = round % 5 == 0 ? 0 : fixture_random(&random, spread),
				.thread = fixture_random(&random, round % 2 != 0 ? spread : 1),
				.cpu = (int32_t)fixture_random(&random, 300) - 1,
				.kept_depth = fixture_random(&random, spread),
				.metric = (uint32_t)round,
			};
			in[i].stack = in[i].raw_stack == 0 ? fixture_random(&random, spread) : 0;
		}
		must(ctx_block_encode(&codec, in, n, err));
		must(ctx_block_decode(&codec, (struct ctx_bytes){codec.payload.bytes, codec.payload.n}, out,
				      n, err));
		for (size_t i = 0; i < n; i++)
			assert_same_sample(&in[i], &out[i]);
		if (n > 1)
			assert_int_equal(
				ctx_block_decode(&codec,
						 (struct ctx_bytes){codec.payload.bytes, codec.payload.n},
						 out, n - 1, NULL),
				CTX_E_FORMAT);
	}
	ctx_block_codec_deinit(&codec);
}

static void test_store__codec_refuses_samples_out_of_order(void **state)
{
	struct ctx_block_codec codec = {0};
	struct ctx_sample samples[] = {{.time_ns = 5}, {.time_ns = 4}};
	struct ctx_sample metrics[] = {{.metric = 0}, {.metric = 1}};

	(void)state;
	assert_int_equal(ctx_block_encode(&codec, samples, 2, NULL), CTX_E_ARG);
	assert_int_equal(ctx_block_encode(&codec, metrics, 2, NULL), CTX_E_ARG);
	assert_int_equal(ctx_block_encode(&codec, samples, 0, NULL), CTX_E_ARG);
	ctx_block_codec_deinit(&codec);
}

/* ---- round trip ---- */

static void assert_same_functions(const struct ctx_profile *a, const struct ctx_profile *b)
{
	assert_int_equal(a->n_functions, b->n_functions);
	for (uint32_t i = 0; i < a->n_functions; i++) {
		assert_string_equal(a->functions[i].name, b->functions[i].name);
		assert_string_equal(a->functions[i].linkage_name, b->functions[i].linkage_name);
		assert_string_equal(a->functions[i].aliases, b->functions[i].aliases);
		assert_int_equal(a->functions[i].object, b->functions[i].object);
		assert_int_equal(a->functions[i].offset, b->functions[i].offset);
		assert_int_equal(a->functions[i].size, b->functions[i].size);
		assert_int_equal(a->functions[i].kind, b->functions[i].kind);
		assert_int_equal(a->functions[i].inlined, b->functions[i].inlined);
		assert_string_equal(a->functions[i].parts != NULL ? a->functions[i].parts : "",
				    b->functions[i].parts);
	}
	assert_int_equal(a->n_objects, b->n_objects);
	for (uint32_t i = 0; i < a->n_objects; i++) {
		assert_string_equal(a->objects[i].path, b->objects[i].path);
		assert_string_equal(a->objects[i].build_id, b->objects[i].build_id);
		assert_string_equal(a->objects[i].symbols, b->objects[i].symbols);
	}
}

static void assert_same_threads(const struct ctx_profile *a, const struct ctx_profile *b)
{
	assert_int_equal(a->n_processes, b->n_processes);
	for (uint32_t i = 0; i < a->n_processes; i++) {
		const struct ctx_process_info *p = &a->processes[i], *q = &b->processes[i];

		assert_int_equal(p->parent, q->parent);
		assert_int_equal(p->pid, q->pid);
		assert_int_equal(p->has_exit_status, q->has_exit_status);
		assert_int_equal(p->exit_status, q->exit_status);
		assert_string_equal(p->command, q->command);
		assert_string_equal(p->lineage, q->lineage);
		assert_string_equal(p->cgroup != NULL ? p->cgroup : "", q->cgroup);
		assert_int_equal(p->inner_pid, q->inner_pid);
		assert_memory_equal(&p->life, &q->life, sizeof(p->life));
		assert_int_equal(p->samples, q->samples);
		assert_int_equal(p->weight, q->weight);
	}
	assert_int_equal(a->n_threads, b->n_threads);
	for (uint32_t i = 0; i < a->n_threads; i++) {
		const struct ctx_thread_info *p = &a->threads[i], *q = &b->threads[i];

		assert_int_equal(p->process, q->process);
		assert_int_equal(p->tid, q->tid);
		assert_int_equal(p->inner_tid, q->inner_tid);
		assert_string_equal(p->name, q->name);
		assert_memory_equal(&p->life, &q->life, sizeof(p->life));
		assert_int_equal(p->samples, q->samples);
		assert_int_equal(p->weight, q->weight);
	}
}

static void assert_same_loss(const struct ctx_loss *a, const struct ctx_loss *b)
{
	assert_int_equal(a->time.begin_ns, b->time.begin_ns);
	assert_int_equal(a->time.end_ns, b->time.end_ns);
	assert_int_equal(a->located, b->located);
	assert_int_equal(a->has_kinds, b->has_kinds);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->has_thread, b->has_thread);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->kinds, b->kinds, sizeof(a->kinds));
}

static void assert_same_profile(const struct ctx_profile *a, const struct ctx_profile *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->notes, b->notes);
	assert_memory_equal(&a->run, &b->run, sizeof(a->run));
	assert_int_equal(a->closed, b->closed);
	assert_int_equal(a->losses.samples, b->losses.samples);
	assert_int_equal(a->losses.throttled, b->losses.throttled);
	assert_int_equal(a->losses.damaged, b->losses.damaged);
	assert_int_equal(a->losses.n_items, b->losses.n_items);
	for (size_t i = 0; i < a->losses.n_items; i++)
		assert_same_loss(&a->losses.items[i], &b->losses.items[i]);
	assert_int_equal(a->n_properties, b->n_properties);
	for (size_t i = 0; i < a->n_properties; i++) {
		assert_string_equal(a->properties[i].key, b->properties[i].key);
		assert_string_equal(a->properties[i].value, b->properties[i].value);
	}
	assert_int_equal(a->n_warnings, b->n_warnings);
	for (size_t i = 0; i < a->n_warnings; i++)
		assert_string_equal(a->warnings[i], b->warnings[i]);
	assert_int_equal(a->n_metrics, b->n_metrics);
	for (uint32_t i = 0; i < a->n_metrics; i++) {
		assert_string_equal(a->metrics[i].name, b->metrics[i].name);
		assert_int_equal(a->metrics[i].unit, b->metrics[i].unit);
		assert_int_equal(a->metrics[i].kind, b->metrics[i].kind);
		assert_int_equal(a->metrics[i].samples, b->metrics[i].samples);
		assert_int_equal(a->metrics[i].weight, b->metrics[i].weight);
	}
	assert_int_equal(a->n_usage, b->n_usage);
	for (size_t i = 0; i < a->n_usage; i++) {
		const size_t numbers = sizeof(a->usage[i]) - offsetof(struct ctx_usage_info, user_ns);

		assert_int_equal(a->usage[i].time_ns, b->usage[i].time_ns);
		assert_int_equal(a->usage[i].process, b->usage[i].process);
		assert_memory_equal(&a->usage[i].user_ns, &b->usage[i].user_ns, numbers);
	}
	assert_same_functions(a, b);
	assert_same_threads(a, b);
	assert_int_equal(a->cct.n, b->cct.n);
	assert_memory_equal(a->cct.parent, b->cct.parent, a->cct.n * sizeof(uint32_t));
	assert_memory_equal(a->cct.key, b->cct.key, a->cct.n * sizeof(uint32_t));
	assert_memory_equal(a->cct.depth, b->cct.depth, a->cct.n * sizeof(uint32_t));
}

struct scan_check {
	const struct fixture *fixture;
	uint32_t thread;
	struct ctx_interval window;
	size_t at, n;
};

static enum ctx_status check_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct scan_check *check = context;
	const struct ctx_sample *all = check->fixture->samples;

	(void)err;
	while (check->at < check->fixture->n_samples &&
	       (!ctx_interval_has(check->window, all[check->at].time_ns) ||
		(check->thread != CTX_NONE && all[check->at].thread != check->thread)))
		check->at++;
	assert_true(check->at < check->fixture->n_samples);
	assert_same_sample(sample, &all[check->at++]);
	check->n++;
	return CTX_OK;
}

static void assert_same_scans(struct ctx_store *store, struct fixture *fixture)
{
	for (int round = 0; round < 20; round++) {
		uint64_t a = fixture_random(fixture, FIXTURE_RUN_NS),
			 b = fixture_random(fixture, FIXTURE_RUN_NS);
		struct ctx_interval window = round == 0 ? CTX_INTERVAL_ALL : (struct ctx_interval){a, b};
		uint32_t thread = fixture_random(fixture, fixture->profile.n_threads + 1);
		struct scan_check check = {fixture, thread == fixture->profile.n_threads ? CTX_NONE : thread,
					   window, 0, 0};
		const struct ctx_tree_info *tree = ctx_store_find_tree(store, check.thread, 0);
		size_t want = 0;

		assert_non_null(tree);
		must(ctx_store_scan(store, tree->id, &(struct ctx_store_scan){window, check_sample, &check},
				    err));
		for (size_t i = 0; i < fixture->n_samples; i++)
			want += ctx_interval_has(window, fixture->samples[i].time_ns) &&
				(check.thread == CTX_NONE || fixture->samples[i].thread == check.thread);
		assert_int_equal(check.n, want);
	}
}

static void test_store__contents_round_trip(void **state)
{
	static const size_t sizes[] = {0, 1, 49, 50, 1000, 5000};

	(void)state;
	for (uint64_t seed = 0; seed < 18; seed++) {
		struct fixture fixture;
		struct ctx_store *store;

		fixture_init(&fixture, seed, seed % 3 == 0 ? 1 : 1 + (uint32_t)seed,
			     sizes[seed % CTX_COUNT_OF(sizes)]);
		store = write_and_open(&fixture, in_dir("a.db"));
		assert_string_equal(ctx_store_fingerprint(store), "print");
		assert_same_profile(&fixture.profile, ctx_store_profile(store));
		assert_same_scans(store, &fixture);
		assert_null(ctx_store_find_tree(store, CTX_NONE, 1));
		ctx_store_close(store);
		fixture_deinit(&fixture);
	}
}

static void test_store__a_store_in_memory_is_read_as_a_file_is(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct ctx_store_contents contents;
		struct fixture fixture;
		struct ctx_store *store;
		const struct ctx_code *code;

		fixture_init(&fixture, seed, 1 + (uint32_t)seed, 1000);
		contents = fixture_contents(&fixture);
		for (uint32_t i = 0; i < fixture.profile.n_functions; i++)
			fixture.profile.functions[i].parts = "";
		for (uint32_t i = 0; i < fixture.profile.n_processes; i++) {
			if (fixture.profile.processes[i].cgroup == NULL)
				fixture.profile.processes[i].cgroup = "";
		}
		must(ctx_store_create_in_memory(&store, err));
		must(fixture_put_trees(&fixture, store, err));
		must(ctx_store_lend(store, &contents, err));
		assert_string_equal(ctx_store_fingerprint(store), "print");
		assert_same_profile(&fixture.profile, ctx_store_profile(store));
		assert_same_scans(store, &fixture);
		must(ctx_store_code(store, &code, err));
		assert_ptr_equal(code->locations, fixture.locations);
		ctx_store_close(store);
		/* Ids out of range, and what is no store in memory. */
		must(ctx_store_create_in_memory(&store, err));
		assert_int_equal(ctx_store_commit(store, NULL), CTX_E_ARG);
		must(ctx_store_create_in_memory(&store, err));
		contents.n_sites = 0;
		assert_int_equal(ctx_store_lend(store, &contents, NULL), CTX_E_ARG);
		ctx_store_close(store);
		must(ctx_store_create(in_dir("a.db"), &store, err));
		assert_int_equal(ctx_store_lend(store, &contents, NULL), CTX_E_ARG);
		ctx_store_close(store);
		assert_int_equal(files_in_dir(), 0);
		fixture_deinit(&fixture);
	}
}

/* ---- files ---- */

static void test_store__the_same_calls_give_the_same_bytes(void **state)
{
	struct ctx_buf bytes[2] = {{0}, {0}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fixture fixture;
		const char *path = in_dir(i == 0 ? "a.db" : "b.db");

		fixture_init(&fixture, 3, 4, 3000);
		must(fixture_write(&fixture, path, err));
		must(ctx_file_read(path, 1 << 24, &bytes[i], err));
		fixture_deinit(&fixture);
	}
	assert_int_equal(bytes[0].n, bytes[1].n);
	assert_memory_equal(bytes[0].bytes, bytes[1].bytes, bytes[0].n);
	ctx_buf_deinit(&bytes[0]);
	ctx_buf_deinit(&bytes[1]);
}

static void test_store__an_uncommitted_one_leaves_no_files(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;

	(void)state;
	fixture_init(&fixture, 1, 2, 500);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	must(fixture_put(&fixture, store, err));
	assert_int_equal(files_in_dir(), 1);
	ctx_store_close(store);
	assert_int_equal(files_in_dir(), 0);

	must(ctx_store_create(in_dir("a.db"), &store, err));
	assert_int_equal(ctx_store_commit(store, NULL), CTX_E_ARG);
	assert_int_equal(files_in_dir(), 0);
	fixture_deinit(&fixture);
}

static void test_store__a_killed_writer_leaves_no_file_at_the_path(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;
	struct ctx_err err;
	int status;
	pid_t pid;

	(void)state;
	fixture_init(&fixture, 1, 2, 5000);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (ctx_store_create(in_dir("a.db"), &store, NULL) == CTX_OK &&
		    fixture_put(&fixture, store, NULL) == CTX_OK)
			_exit(17);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 17);
	assert_int_equal(ctx_store_open(in_dir("a.db"), &store, &err), CTX_E_NOTFOUND);
	/* The next writer removes leftover files, and works. */
	store = write_and_open(&fixture, in_dir("a.db"));
	ctx_store_close(store);
	assert_int_equal(files_in_dir(), 1);
	fixture_deinit(&fixture);
}

static void test_store__one_writer_at_a_time(void **state)
{
	struct ctx_store *a, *b;

	(void)state;
	must(ctx_store_create(in_dir("a.db"), &a, err));
	assert_int_equal(ctx_store_create(in_dir("a.db"), &b, NULL), CTX_E_IO);
	assert_int_equal(files_in_dir(), 1);
	ctx_store_close(a);
	assert_int_equal(files_in_dir(), 0);
}

/* ---- nodes ---- */

static void assert_same_node(const struct ctx_timenode *a, const struct ctx_timenode *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->parent, b->parent);
	assert_int_equal(a->level, b->level);
	assert_int_equal(a->first_child, b->first_child);
	assert_int_equal(a->n_children, b->n_children);
	assert_int_equal(a->interval.begin_ns, b->interval.begin_ns);
	assert_int_equal(a->interval.end_ns, b->interval.end_ns);
	assert_int_equal(a->samples, b->samples);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->tail_weight, b->tail_weight);
	assert_int_equal(a->tail_samples, b->tail_samples);
	assert_int_equal(a->tail_largest, b->tail_largest);
}

static void test_store__gives_back_nodes_with_their_lists(void **state)
{
	static const uint8_t top[] = "the top", tail[] = "tail", calls[] = "c";
	struct ctx_timenode inner = {.n_children = 3,
				     .first_child = 1,
				     .interval = {0, UINT64_MAX},
				     .samples = 10,
				     .weight = UINT64_MAX,
				     .tail_weight = 4,
				     .tail_samples = 3,
				     .tail_largest = 2,
				     .top = top,
				     .tail = tail,
				     .calls = calls,
				     .top_bytes = 7,
				     .tail_bytes = 4,
				     .calls_bytes = 1};
	struct ctx_timenode leaf = {.id = 3, .level = 1, .interval = {5, 9}, .samples = 1}, got;
	struct ctx_tree_info info = {.id = 0, .thread = CTX_NONE, .same_as = CTX_NONE, .fanout = 3};
	struct fixture fixture;
	struct ctx_store *store;

	(void)state;
	fixture_init(&fixture, 1, 1, 0);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	must(ctx_store_put_node(store, 0, &inner, err));
	must(ctx_store_put_node(store, 0, &leaf, err));
	must(ctx_store_put_tree(store, &info, err));
	must(fixture_put_contents(&fixture, store, err));
	must(ctx_store_commit(store, err));
	must(ctx_store_open(in_dir("a.db"), &store, err));

	must(ctx_store_get_node(store, (struct ctx_store_node){0, 0}, true, &got, err));
	assert_int_equal(got.top_bytes, 7);
	assert_memory_equal(got.top, top, 7);
	assert_int_equal(got.tail_bytes, 4);
	assert_memory_equal(got.tail, tail, 4);
	assert_int_equal(got.calls_bytes, 1);
	assert_memory_equal(got.calls, calls, 1);
	assert_same_node(&got, &inner);
	must(ctx_store_get_node(store, (struct ctx_store_node){0, 0}, false, &got, err));
	assert_null(got.top);
	assert_int_equal(got.top_bytes + got.tail_bytes + got.calls_bytes, 0);
	must(ctx_store_get_node(store, (struct ctx_store_node){0, 3}, true, &got, err));
	assert_same_node(&got, &leaf);
	assert_int_equal(ctx_store_get_node(store, (struct ctx_store_node){0, 2}, true, &got, NULL),
			 CTX_E_FORMAT);
	assert_int_equal(ctx_store_get_node(store, (struct ctx_store_node){1, 0}, true, &got, NULL),
			 CTX_E_ARG);
	assert_true(ctx_store_cost(store).rows == 3 && ctx_store_cost(store).bytes == 12);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store__put_contents_refuses_ids_out_of_range(void **state)
{
	struct fixture fixture;

	(void)state;
	for (int i = 0; i < 7; i++) {
		fixture_init(&fixture, 5, 3, 10);
		if (i == 0)
			fixture.profile.functions[0].object = 2;
		else if (i == 1)
			fixture.profile.threads[0].process = CTX_NONE;
		else if (i == 2)
			fixture.profile.processes[0].parent = 1;
		else if (i == 3)
			fixture.raw_to_stack[1] = fixture.profile.cct.n;
		else if (i == 4)
			fixture.locations[0].function = fixture.profile.n_functions;
		else if (i == 5)
			fixture.mappings[0].object = 9;
		else
			fixture.profile.cct.key[1] = fixture.profile.n_functions;
		assert_int_equal(fixture_write(&fixture, in_dir("a.db"), NULL), CTX_E_ARG);
		assert_int_equal(files_in_dir(), 0);
		fixture_deinit(&fixture);
	}
}

/* ---- damage ---- */

static enum ctx_status ignore_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	(void)context;
	(void)sample;
	(void)err;
	return CTX_OK;
}

static bool read_code(struct ctx_store *store)
{
	struct ctx_code_reader reader = ctx_store_code_reader(store);
	const struct ctx_function_code *parts;
	const struct ctx_code *code;
	const char *text;
	bool sound = ctx_store_code(store, &code, NULL) == CTX_OK;
	size_t n;

	for (uint32_t i = 0; i < ctx_store_profile(store)->n_functions; i++)
		sound &= reader.code(reader.context, i, &parts, &n, NULL) == CTX_OK;
	for (uint32_t i = 0; sound && i < code->n_files; i++) {
		enum ctx_status status = reader.text(reader.context, i, &text, &n, NULL);

		sound = (status == CTX_OK && text[n] == '\0') || status == CTX_E_NOTFOUND;
	}
	return sound;
}

/*
 * Opens and reads everything. Returns whether the database is sound; a failure has a message.
 */
static bool read_everything(const char *path)
{
	static const char *const queries[] = {
		"SELECT * FROM samples",
		"SELECT * FROM call_tree",
		"SELECT * FROM functions(10, 500000)",
		"SELECT * FROM stack",
		"SELECT * FROM raw_stack",
		"SELECT * FROM location",
		"SELECT * FROM site",
		"SELECT * FROM source_file",
		"SELECT * FROM mapping",
		"SELECT count(*) FROM time_node",
		"SELECT * FROM sample_names LIMIT 10",
	};
	struct ctx_store *store = NULL;
	struct ctx_err err = {0};
	bool sound = ctx_store_open(path, &store, &err) == CTX_OK;

	if (!sound) {
		assert_true(err.msg[0] != '\0');
		return false;
	}
	for (uint32_t i = 0;; i++) {
		const struct ctx_store_scan scan = {CTX_INTERVAL_ALL, ignore_sample, NULL};
		enum ctx_status status = ctx_store_scan(store, i, &scan, &err);
		struct ctx_timenode node;

		if (status == CTX_E_ARG) /* behind the last tree */
			break;
		sound &= status == CTX_OK;
		for (uint32_t k = 0; k < 8; k++)
			sound &= ctx_store_get_node(store, (struct ctx_store_node){i, k}, true, &node,
						    &err) == CTX_OK;
	}
	for (size_t i = 0; i < CTX_COUNT_OF(queries); i++)
		sound &= ctx_store_sql(store, queries[i], ignore_row, NULL, &err) == CTX_OK;
	sound &= read_code(store);
	ctx_store_close(store);
	return sound;
}

static void test_store__damaged_files_are_refused_or_read_never_fatal(void **state)
{
	const char *path = in_dir("a.db");
	struct ctx_buf good = {0};
	struct fixture fixture;
	int refused = 0;

	(void)state;
	fixture_init(&fixture, 11, 2, 100);
	must(fixture_write(&fixture, path, err));
	must(ctx_file_read(path, 1 << 24, &good, err));
	for (int round = 0; round < 2000 / EVERY; round++) {
		size_t n = round % 4 == 0 ? fixture_random(&fixture, (uint32_t)good.n) : good.n;
		uint8_t *bad = (uint8_t *)ctx_memdup0(good.bytes, good.n);
		uint32_t flips = 1 + fixture_random(&fixture, 20);
		FILE *file;

		for (uint32_t i = 0; i < flips && round % 4 != 0; i++)
			bad[fixture_random(&fixture, (uint32_t)good.n)] =
				(uint8_t)fixture_random(&fixture, 256);
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(bad, 1, n, file), n);
		assert_int_equal(fclose(file), 0);
		refused += !read_everything(path);
		free(bad);
	}
	assert_true(refused > 700 / EVERY);
	ctx_buf_deinit(&good);
	fixture_deinit(&fixture);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_store__distinguishes_other_files_and_other_versions(void **state)
{
	static const uint8_t versions[][4] = {{0, 0, 0, 255}, {0, 0, 0, 1}};
	const char *path = in_dir("a.db");
	struct fixture fixture;
	struct ctx_store *store;
	int fd;

	(void)state;
	assert_int_equal(ctx_store_open(path, &store, NULL), CTX_E_NOTFOUND);
	assert_false(ctx_store_is_database(path));
	write_file(path, "SQLite format 3, but not really");
	assert_int_equal(ctx_store_open(path, &store, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_store_open(dir, &store, NULL), CTX_E_FORMAT);
	assert_false(ctx_store_is_database(path));
	fixture_init(&fixture, 1, 1, 10);
	must(fixture_write(&fixture, path, err));
	assert_true(ctx_store_is_database(path));
	fd = open(path, O_WRONLY);
	for (size_t i = 0; i < CTX_COUNT_OF(versions); i++) {
		assert_int_equal(pwrite(fd, versions[i], 4, 60), 4);
		assert_int_equal(ctx_store_open(path, &store, NULL), CTX_E_VERSION);
		assert_true(ctx_store_is_database(path));
	}
	close(fd);
	fixture_deinit(&fixture);
}

static void test_store__opens_paths_with_any_characters(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;

	(void)state;
	fixture_init(&fixture, 1, 1, 10);
	store = write_and_open(&fixture, in_dir("a%20?mode=memory#x&\xc3\xa4 .db"));
	ctx_store_close(store);
	assert_int_equal(chdir(dir), 0);
	store = write_and_open(&fixture, "file:b.db");
	ctx_store_close(store);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(files_in_dir(), 2);
	fixture_deinit(&fixture);
}

static void test_store__a_full_disk_is_an_error_and_leaves_no_files(void **state)
{
	struct fixture fixture;
	int failures = 0;

	(void)state;
	fixture_init(&fixture, 2, 30, 20000);
	for (rlim_t limit = 0; limit < 240000; limit += 8000) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0) {
			struct rlimit rlimit = {limit, limit};
			struct ctx_err err = {0};
			enum ctx_status got;

			signal(SIGXFSZ, SIG_IGN);
			if (setrlimit(RLIMIT_FSIZE, &rlimit) != 0)
				_exit(3);
			got = fixture_write(&fixture, in_dir("a.db"), &err);
			_exit(got == CTX_OK ? 0 : got == CTX_E_IO && strstr(err.msg, "a.db") != NULL ? 1 : 2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
		failures += WEXITSTATUS(status);
		assert_int_equal(files_in_dir(), WEXITSTATUS(status) == 0);
		if (WEXITSTATUS(status) == 0)
			assert_int_equal(unlink(in_dir("a.db")), 0);
	}
	assert_true(failures > 5);
	fixture_deinit(&fixture);
}

/* ---- SQL ---- */

struct table { /* results of a query: numbers, text as NULL-able copies */
	char *cells[4000][16];
	int n_rows, n_columns;
};

static enum ctx_status add_row(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct table *table = context;

	(void)err;
	assert_true(table->n_rows < 4000 && row->n <= 16);
	for (int i = 0; i < row->n; i++)
		table->cells[table->n_rows][i] = row->values[i] != NULL ? strdup(row->values[i]) : NULL;
	table->n_columns = row->n;
	table->n_rows++;
	return CTX_OK;
}

static struct table *query(struct ctx_store *store, const char *sql)
{
	struct table *table = ctx_calloc(1, sizeof(*table));

	assert_non_null(table);
	must(ctx_store_sql(store, sql, add_row, table, err));
	return table;
}

static void table_free(struct table *table)
{
	for (int i = 0; i < table->n_rows; i++) {
		for (int k = 0; k < table->n_columns; k++)
			free(table->cells[i][k]);
	}
	free(table);
}

static uint64_t number(const struct table *table, int row, int column)
{
	assert_true(row < table->n_rows && table->cells[row][column] != NULL);
	return strtoull(table->cells[row][column], NULL, 10);
}

/* The obvious way: for each sample, each function on its stack once. */
struct brute {
	uint64_t exclusive[64], inclusive[64], exclusive_samples[64], inclusive_samples[64];
	uint64_t total, samples;
};

static bool is_selected(const uint32_t *threads, size_t n, uint32_t thread)
{
	for (size_t i = 0; threads != NULL && i < n; i++) {
		if (threads[i] == thread)
			return true;
	}
	return threads == NULL;
}

static struct brute brute_functions(const struct fixture *fixture, struct ctx_interval window,
				    const uint32_t *threads, size_t n_threads)
{
	const struct ctx_trie *cct = &fixture->profile.cct;
	struct brute brute = {0};

	for (size_t i = 0; i < fixture->n_samples; i++) {
		const struct ctx_sample *sample = &fixture->samples[i];
		bool seen[64] = {false};

		if (!ctx_interval_has(window, sample->time_ns) ||
		    !is_selected(threads, n_threads, sample->thread))
			continue;
		brute.total += sample->weight;
		brute.samples++;
		for (uint32_t at = sample->stack; at != 0; at = cct->parent[at]) {
			uint32_t function = cct->key[at];

			brute.exclusive[function] += at == sample->stack ? sample->weight : 0;
			brute.exclusive_samples[function] += at == sample->stack;
			brute.inclusive[function] += seen[function] ? 0 : sample->weight;
			brute.inclusive_samples[function] += !seen[function];
			seen[function] = true;
		}
	}
	return brute;
}

static void test_store__functions_in_sql_are_those_of_brute_force(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;

	(void)state;
	fixture_init(&fixture, 21, 5, 2000);
	store = write_and_open(&fixture, in_dir("a.db"));
	for (int round = 0; round < 40; round++) {
		uint64_t a = fixture_random(&fixture, FIXTURE_RUN_NS),
			 b = fixture_random(&fixture, FIXTURE_RUN_NS);
		struct ctx_interval window =
			round == 0 ? (struct ctx_interval){0, FIXTURE_RUN_NS} : (struct ctx_interval){a, b};
		static const uint32_t selected[] = {1, 4};
		const uint32_t *threads = round % 3 == 0 ? NULL : selected;
		struct brute brute = brute_functions(&fixture, window, threads, 2);
		char *sql = ctx_store_show_sql(
			"functions",
			&(struct ctx_sql_arguments){{window.begin_ns, window.end_ns}, 0, threads, 2});
		struct table *table;
		int row = 1;

		assert_non_null(sql);
		table = query(store, sql);
		assert_int_equal(number(table, 0, 2), brute.total);
		assert_int_equal(number(table, 0, 5), brute.samples);
		free(sql);
		table_free(table);

		sql = NULL;
		assert_true(asprintf(&sql,
				     "SELECT id, exclusive, inclusive, exclusive_samples, inclusive_samples "
				     "FROM functions(%llu, %llu, 0, %s) ORDER BY id",
				     (unsigned long long)window.begin_ns, (unsigned long long)window.end_ns,
				     threads == NULL ? "NULL" : "'1,4'") > 0);
		table = query(store, sql);
		row = 0;
		for (uint32_t i = 0; i < fixture.profile.n_functions; i++) {
			if (brute.inclusive_samples[i] == 0)
				continue;
			assert_int_equal(number(table, row, 0), i);
			assert_int_equal(number(table, row, 1), brute.exclusive[i]);
			assert_int_equal(number(table, row, 2), brute.inclusive[i]);
			assert_int_equal(number(table, row, 3), brute.exclusive_samples[i]);
			assert_int_equal(number(table, row, 4), brute.inclusive_samples[i]);
			row++;
		}
		assert_int_equal(table->n_rows, row);
		table_free(table);
		free(sql);
	}
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store__samples_in_sql_are_all_that_were_put(void **state)
{
	static const char *const clauses[] = {"time_ns >= 1000 AND time_ns < 400000",
					      "thread = 2",
					      "thread IN (0, 3)",
					      "time_ns > 70000 AND time_ns <= 80000 AND thread = 1",
					      "cpu = -1",
					      "metric = 1",
					      "thread = 99",
					      "thread = NULL",
					      "time_ns BETWEEN 5 AND 500000.5"};
	struct fixture fixture;
	struct ctx_store *store;

	(void)state;
	fixture_init(&fixture, 8, 4, 3000);
	store = write_and_open(&fixture, in_dir("a.db"));
	for (size_t c = 0; c < CTX_COUNT_OF(clauses); c++) {
		uint64_t n = 0, weight = 0;
		struct table *table;
		char sql[200];

		for (size_t i = 0; i < fixture.n_samples; i++) {
			const struct ctx_sample *s = &fixture.samples[i];
			const bool in[] = {s->time_ns >= 1000 && s->time_ns < 400000,
					   s->thread == 2,
					   s->thread == 0 || s->thread == 3,
					   s->time_ns > 70000 && s->time_ns <= 80000 && s->thread == 1,
					   s->cpu == -1,
					   false,
					   false,
					   false,
					   s->time_ns >= 5 && s->time_ns <= 500000};

			n += in[c];
			weight += in[c] ? s->weight : 0;
		}
		snprintf(sql, sizeof(sql), "SELECT count(*), coalesce(sum(weight), 0) FROM samples WHERE %s",
			 clauses[c]);
		table = query(store, sql);
		assert_int_equal(number(table, 0, 0), n);
		assert_int_equal(number(table, 0, 1), weight);
		table_free(table);
	}
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store__every_report_in_sql_runs_and_adds_up(void **state)
{
	static const struct {
		const char *report;
		int column; /* whose sum is the whole weight; -1: none */
	} reports[] = {{"tree", 5},	 {"stacks", 0},	   {"threads", 6},
		       {"processes", 7}, {"overview", -1}, {"header", -1}};
	struct fixture fixture;
	struct ctx_store *store;

	(void)state;
	fixture_init(&fixture, 31, 6, 1500);
	store = write_and_open(&fixture, in_dir("a.db"));
	for (size_t r = 0; r < CTX_COUNT_OF(reports); r++) {
		for (int some = 0; some < 2; some++) {
			static const uint32_t selected[] = {0, 5};
			struct brute brute = brute_functions(&fixture, (struct ctx_interval){7, 600000},
							     some ? selected : NULL, 2);
			char *sql = ctx_store_show_sql(
				reports[r].report,
				&(struct ctx_sql_arguments){{7, 600000}, 0, some ? selected : NULL, 2});
			struct table *table;
			uint64_t sum = 0;

			assert_non_null(sql);
			table = query(store, sql);
			assert_true(table->n_rows > 0 || reports[r].column < 0);
			for (int i = 0; i < table->n_rows && reports[r].column >= 0; i++)
				sum += number(table, i, reports[r].column);
			if (reports[r].column >= 0)
				assert_int_equal(sum, brute.total);
			table_free(table);
			free(sql);
		}
	}
	assert_null(ctx_store_show_sql("timeline", &(struct ctx_sql_arguments){.interval = {0, 1}}));
	assert_null(ctx_store_show_sql("nonsense", &(struct ctx_sql_arguments){.interval = {0, 1}}));
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

/* Level, recursion, cum and calls of every row of the tree, against the samples one by one. */
static void test_store__call_tree_in_sql_is_that_of_brute_force(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;
	struct table *table;
	const struct ctx_trie *cct;

	(void)state;
	fixture_init(&fixture, 41, 3, 800);
	store = write_and_open(&fixture, in_dir("a.db"));
	cct = &fixture.profile.cct;
	table = query(store, "SELECT id, level, recursion_level, calls, base, cum, cum_samples FROM "
			     "call_tree ORDER BY rowid");
	for (int row = 0; row < table->n_rows; row++) {
		uint32_t node = (uint32_t)number(table, row, 0), recursion = 0;
		uint64_t base = 0, cum = 0, n = 0, calls = 0;

		for (uint32_t at = node; at != 0 && cct->parent[at] != 0; at = cct->parent[at])
			recursion += cct->key[cct->parent[at]] == cct->key[node];
		for (size_t i = 0; i < fixture.n_samples; i++) {
			const struct ctx_sample *s = &fixture.samples[i];

			if (cct->depth[s->stack] < cct->depth[node] ||
			    ctx_trie_ancestor(cct, s->stack, cct->depth[node]) != node)
				continue;
			base += s->stack == node ? s->weight : 0;
			cum += s->weight;
			calls += s->kept_depth < cct->depth[node];
			n++;
		}
		assert_int_equal(number(table, row, 1), cct->depth[node]);
		assert_int_equal(number(table, row, 2), recursion);
		assert_int_equal(number(table, row, 3), calls);
		assert_int_equal(number(table, row, 4), base);
		assert_int_equal(number(table, row, 5), cum);
		assert_int_equal(number(table, row, 6), n);
		/* Depth first: each row is at most one deeper than the one before. */
		assert_true(row == 0 ? node == 0 : number(table, row, 1) <= number(table, row - 1, 1) + 1);
	}
	table_free(table);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store__sql_that_is_more_than_reading_is_refused(void **state)
{
	static const char *const refused[] = {
		"DELETE FROM function",
		"UPDATE thread SET name = 'x'",
		"INSERT INTO warning VALUES (9, 'x')",
		"CREATE TABLE t(x)",
		"CREATE TEMP TABLE t(x)",
		"DROP TABLE function",
		"ATTACH '/tmp/x' AS y",
		"PRAGMA query_only = OFF",
		"PRAGMA journal_mode = WAL",
		"PRAGMA writable_schema = ON",
		"VACUUM",
		"VACUUM INTO '/tmp/test_store.vacuum'",
		"BEGIN",
		"SAVEPOINT x",
		"REINDEX",
		"ANALYZE",
		"SELECT load_extension('x')",
		"SELECT 1; DELETE FROM function",
		"SELEC 1",
		"SELECT * FROM nothing",
		"SELECT * FROM functions('x')",
		"SELECT * FROM functions(0, 1, 0, '1;2')",
		"SELECT * FROM functions(0, 1, 0, '77')",
		"CREATE VIRTUAL TABLE t USING fts5(x)",
		"ALTER TABLE function ADD COLUMN x",
		"DETACH main",
		"INSERT INTO samples VALUES (1,1,1,1,1,1,1,1)",
	};
	struct fixture fixture;
	struct ctx_store *store;
	struct ctx_err err;
	struct table *table;

	(void)state;
	fixture_init(&fixture, 1, 2, 100);
	store = write_and_open(&fixture, in_dir("a.db"));
	for (size_t i = 0; i < CTX_COUNT_OF(refused); i++) {
		err.msg[0] = '\0';
		if (ctx_store_sql(store, refused[i], ignore_row, NULL, &err) != CTX_E_ARG ||
		    err.msg[0] == '\0')
			fail_msg("'%s' gave '%s'", refused[i], err.msg);
	}
	table = query(store, "PRAGMA table_info(function); EXPLAIN SELECT 1; -- nothing\n;  ");
	assert_true(table->n_rows > 8);
	table_free(table);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static enum ctx_status refuse_row(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	(void)context;
	(void)row;
	return ctx_err_set(err, CTX_E_LIMIT, "enough");
}

static void test_store__a_failing_row_callback_ends_the_query(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;

	(void)state;
	fixture_init(&fixture, 1, 2, 100);
	store = write_and_open(&fixture, in_dir("a.db"));
	assert_int_equal(ctx_store_sql(store, "SELECT * FROM samples", refuse_row, NULL, NULL), CTX_E_LIMIT);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_own_dir(test_store__codec_gives_back_any_samples),
		in_own_dir(test_store__codec_refuses_samples_out_of_order),
		in_own_dir(test_store__contents_round_trip),
		in_own_dir(test_store__a_store_in_memory_is_read_as_a_file_is),
		in_own_dir(test_store__the_same_calls_give_the_same_bytes),
		in_own_dir(test_store__an_uncommitted_one_leaves_no_files),
		in_own_dir(test_store__a_killed_writer_leaves_no_file_at_the_path),
		in_own_dir(test_store__one_writer_at_a_time),
		in_own_dir(test_store__gives_back_nodes_with_their_lists),
		in_own_dir(test_store__put_contents_refuses_ids_out_of_range),
		in_own_dir(test_store__damaged_files_are_refused_or_read_never_fatal),
		in_own_dir(test_store__distinguishes_other_files_and_other_versions),
		in_own_dir(test_store__opens_paths_with_any_characters),
		in_own_dir(test_store__a_full_disk_is_an_error_and_leaves_no_files),
		in_own_dir(test_store__functions_in_sql_are_those_of_brute_force),
		in_own_dir(test_store__samples_in_sql_are_all_that_were_put),
		in_own_dir(test_store__every_report_in_sql_runs_and_adds_up),
		in_own_dir(test_store__call_tree_in_sql_is_that_of_brute_force),
		in_own_dir(test_store__sql_that_is_more_than_reading_is_refused),
		in_own_dir(test_store__a_failing_row_callback_ends_the_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
