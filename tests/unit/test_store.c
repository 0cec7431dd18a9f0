#include "store_fixture.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "store/block_codec.h"

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

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_store.XXXXXX");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return ctx_dir_remove(dir, NULL) == CTX_OK ? 0 : -1;
}

static const char *in_dir(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

#define must(call)                                                                                           \
	do {                                                                                                 \
		struct ctx_err must_err = {0};                                                               \
		struct ctx_err *err = &must_err;                                                             \
		if ((call) != CTX_OK)                                                                        \
			fail_msg("%s", must_err.msg);                                                        \
	} while (0)

static struct ctx_store *write_and_open(struct fixture *fixture, const char *path)
{
	struct ctx_store *store = NULL;

	must(fixture_write(fixture, path, err));
	must(ctx_store_open(path, &store, err));
	return store;
}

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
		must(ctx_block_decode(&codec, codec.payload.bytes, codec.payload.n, out, n, err));
		for (size_t i = 0; i < n; i++)
			assert_same_sample(&in[i], &out[i]);
		if (n > 1)
			assert_int_equal(ctx_block_decode(&codec, codec.payload.bytes, codec.payload.n, out,
							  n - 1, NULL),
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
		assert_memory_equal(&p->life, &q->life, sizeof(p->life));
		assert_int_equal(p->samples, q->samples);
		assert_int_equal(p->weight, q->weight);
	}
	assert_int_equal(a->n_threads, b->n_threads);
	for (uint32_t i = 0; i < a->n_threads; i++) {
		const struct ctx_thread_info *p = &a->threads[i], *q = &b->threads[i];

		assert_int_equal(p->process, q->process);
		assert_int_equal(p->tid, q->tid);
		assert_string_equal(p->name, q->name);
		assert_memory_equal(&p->life, &q->life, sizeof(p->life));
		assert_int_equal(p->samples, q->samples);
		assert_int_equal(p->weight, q->weight);
	}
}

static void assert_same_profile(const struct ctx_profile *a, const struct ctx_profile *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->notes, b->notes);
	assert_memory_equal(&a->run, &b->run, sizeof(a->run));
	assert_int_equal(a->closed, b->closed);
	assert_int_equal(a->lost_samples, b->lost_samples);
	assert_int_equal(a->throttled, b->throttled);
	assert_int_equal(a->damaged, b->damaged);
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
		assert_string_equal(a->metrics[i].unit, b->metrics[i].unit);
		assert_int_equal(a->metrics[i].samples, b->metrics[i].samples);
		assert_int_equal(a->metrics[i].weight, b->metrics[i].weight);
	}
	assert_int_equal(a->n_usage, b->n_usage);
	for (size_t i = 0; i < a->n_usage; i++)
		assert_memory_equal(&a->usage[i], &b->usage[i], sizeof(a->usage[i]));
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
		must(ctx_store_scan(store, tree->id, window, check_sample, &check, err));
		for (size_t i = 0; i < fixture->n_samples; i++)
			want += ctx_interval_has(window, fixture->samples[i].time_ns) &&
				(check.thread == CTX_NONE || fixture->samples[i].thread == check.thread);
		assert_int_equal(check.n, want);
	}
}

static void test_store__gives_back_what_was_put(void **state)
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

static void test_store__an_uncommitted_one_leaves_nothing(void **state)
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

static void test_store__a_killed_writer_leaves_nothing_at_the_path(void **state)
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
	/* The next writer clears away what was left, and works. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store__codec_gives_back_any_samples),
		cmocka_unit_test(test_store__codec_refuses_samples_out_of_order),
		cmocka_unit_test_setup_teardown(test_store__gives_back_what_was_put, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_store__the_same_calls_give_the_same_bytes, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(test_store__an_uncommitted_one_leaves_nothing, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(test_store__a_killed_writer_leaves_nothing_at_the_path,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_store__one_writer_at_a_time, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
