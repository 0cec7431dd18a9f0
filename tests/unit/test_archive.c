/*
 * Archives: runs without samples answer as their databases do; what is damaged, foreign or there already is refused,
 * and a failure leaves the old file.
 */
#include "query_fixture.h"

#include "query/pruned_copy.h"
#include "store/archive.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ctx_store *make_store(struct fixture *fixture, uint64_t seed, uint32_t n_threads)
{
	struct ctx_store *store = NULL;

	fixture_init(fixture, seed, n_threads, 3000);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	put_trees(fixture, store);
	must(fixture_put_contents(fixture, store, err));
	must(ctx_store_commit(store, err));
	must(ctx_store_open(in_dir("a.db"), &store, err));
	return store;
}

static void add(struct ctx_archive *archive, const char *name, const char *fingerprint,
		const struct ctx_buf *image)
{
	const struct ctx_archive_run run = {
		.name = name, .fingerprint = fingerprint, .wall_ns = 7, .samples = 3000};

	must(ctx_archive_add(archive, &run, (struct ctx_bytes){image->bytes, image->n}, err));
}

/* An archive of one run, without samples; at most `levels` of its trees. */
static void write_archive(struct ctx_store *store, uint32_t levels, const char *path)
{
	struct ctx_kept_figure figures[] = {{"wait.mutex", 1.5}, {"heap.peak", 1e12}};
	const struct ctx_pruned_spec spec = {
		.store = store, .figures = figures, .n_figures = CTX_COUNT_OF(figures), .levels = levels};
	struct ctx_buf image CTX_AUTO_BUF = {0};
	struct ctx_archive *archive = NULL;

	must(ctx_pruned_copy(&spec, &image, err));
	must(ctx_archive_create(path, &archive, err));
	add(archive, "a\n'.er", "f1", &image);
	must(ctx_archive_write(archive, err));
	ctx_archive_close(archive);
}

static struct ctx_store *open_run(const char *path, size_t i)
{
	struct ctx_archive *archive = NULL;
	struct ctx_store *store = NULL;

	must(ctx_archive_open(path, &archive, err));
	must(ctx_archive_open_run(archive, i, &store, err));
	ctx_archive_close(archive);
	return store;
}

static void assert_same(const struct ctx_histogram *a, const struct ctx_histogram *b)
{
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->samples, b->samples);
	for (size_t i = 0; i < a->n; i++) {
		const struct ctx_hist_entry *other = ctx_histogram_get(b, a->entries[i].stack);

		if (a->entries[i].samples == 0 && a->entries[i].calls == 0)
			continue;
		assert_non_null(other);
		assert_int_equal(a->entries[i].weight, other->weight);
		assert_int_equal(a->entries[i].samples, other->samples);
		assert_int_equal(a->entries[i].calls, other->calls);
	}
}

/* What both say of an interval of a thread's metric, or of all threads'. False: the archived one needs samples. */
static bool compare(struct ctx_store *full, struct ctx_store *pruned, struct ctx_interval interval,
		    const struct ctx_query_scope *scope)
{
	uint32_t metrics[] = {scope->metric};
	struct ctx_selection selection = {
		.intervals = &interval, .n_intervals = 1, .metrics = metrics, .n_metrics = 1};
	struct ctx_query of_full = ask_of(full, &selection, 0), of_pruned = ask_of(pruned, &selection, 0);
	struct ctx_histogram want = {0}, got = {0};
	struct ctx_err pruned_err = {0};
	enum ctx_status status;

	must(ctx_query_histogram(&of_full, scope, &want, err));
	status = ctx_query_histogram(&of_pruned, scope, &got, &pruned_err);
	if (status == CTX_OK)
		assert_same(&want, &got);
	else if (status != CTX_E_NOTFOUND || strstr(pruned_err.msg, "archived without samples") == NULL)
		fail_msg("%s", pruned_err.msg);
	ctx_histogram_deinit(&want);
	ctx_histogram_deinit(&got);
	ctx_query_deinit(&of_full);
	ctx_query_deinit(&of_pruned);
	return status == CTX_OK;
}

/* Of whole nodes of a level, `n` in all: parts[0] counts those that are answered, parts[1] the others. */
static void compare_parts(struct ctx_store *full, struct ctx_store *pruned, uint64_t n,
			  const struct ctx_query_scope *scope, size_t parts[2])
{
	uint64_t length = FIXTURE_RUN_NS / n;

	for (uint64_t i = 0; i < n; i++) {
		struct ctx_interval part = {i * length, (i + 1) * length};

		parts[!compare(full, pruned, part, scope)]++;
	}
}

/* Of the whole run, of each thread and metric; of the levels that are kept, whole nodes too. */
static void test_archive__a_run_without_samples_answers_as_its_database(void **state)
{
	static const uint32_t levels[] = {0, 1, 2, 100};

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct fixture fixture;
		uint32_t n_threads = 1 + (uint32_t)seed % 3;
		struct ctx_store *full = make_store(&fixture, seed, n_threads), *pruned;
		size_t parts[2] = {0};

		write_archive(full, levels[seed % 4], in_dir("base.db"));
		pruned = open_run(in_dir("base.db"), 0);
		for (uint32_t metric = 0; metric < fixture.profile.n_metrics; metric++) {
			for (uint32_t thread = 0; thread <= n_threads; thread++) {
				struct ctx_query_scope scope = {
					.metric = metric, .thread = thread == n_threads ? CTX_NONE : thread};

				assert_true(compare(full, pruned, fixture.profile.run, &scope));
				for (uint64_t n = 4; n <= 64; n *= 4)
					compare_parts(full, pruned, n, &scope, parts);
				(void)compare(full, pruned, (struct ctx_interval){3, FIXTURE_RUN_NS / 2 + 1},
					      &scope);
			}
		}
		/* A tree cut at its root has no parts. */
		if (levels[seed % 4] != 0)
			assert_true(parts[0] > 0);
		else
			assert_true(parts[1] > 0);
		ctx_store_close(pruned);
		ctx_store_close(full);
		fixture_deinit(&fixture);
	}
}

static enum ctx_status never_traced(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	(void)context;
	(void)operation;
	return ctx_err_set(err, CTX_E_INTERNAL, "an operation");
}

static void test_archive__says_what_needs_samples(void **state)
{
	struct fixture fixture;
	struct ctx_store *full = make_store(&fixture, 5, 2), *pruned;
	const struct ctx_store_traced_scan traced = {
		.kind = CTX_TRACED_N, .window = fixture.profile.run, .each = never_traced};
	const struct ctx_profile *profile;
	const struct ctx_sample *samples;
	struct ctx_err why = {0};
	size_t n;

	(void)state;
	write_archive(full, 2, in_dir("base.db"));
	pruned = open_run(in_dir("base.db"), 0);
	profile = ctx_store_profile(pruned);
	assert_true(profile->losses.sample_blocks);
	assert_false(ctx_store_profile(full)->losses.sample_blocks);
	assert_int_equal(profile->losses.n_figures, 2);
	assert_string_equal(profile->losses.figures[0].name, "heap.peak");
	assert_true(profile->losses.figures[0].value == 1e12);
	assert_true(profile->losses.figures[1].value == 1.5);
	assert_string_equal(ctx_store_fingerprint(pruned), ctx_store_fingerprint(full));
	assert_int_equal(ctx_store_get_leaf(pruned, (struct ctx_store_node){0, 1}, &samples, &n, &why),
			 CTX_E_NOTFOUND);
	assert_non_null(strstr(why.msg, "base.db:1 was archived without samples"));
	assert_int_equal(ctx_store_scan_traced(pruned, &traced, &why), CTX_E_NOTFOUND);
	assert_int_equal(ctx_store_scan_wakeups(pruned, fixture.profile.run, NULL, NULL, &why),
			 CTX_E_NOTFOUND);
	ctx_store_close(pruned);
	ctx_store_close(full);
	fixture_deinit(&fixture);
}

/* ---- several runs ---- */

static struct ctx_buf image_of(struct ctx_store *store)
{
	struct ctx_buf image = {0};

	must(ctx_store_image(store, &image, err));
	return image;
}

static void test_archive__keeps_runs_with_samples_as_they_are(void **state)
{
	struct fixture fixture;
	struct ctx_store *full = make_store(&fixture, 3, 2), *kept;
	struct ctx_buf image CTX_AUTO_BUF = image_of(full);
	struct ctx_archive *archive = NULL;
	struct ctx_err why = {0};

	(void)state;
	write_archive(full, 2, in_dir("base.db"));
	must(ctx_archive_open(in_dir("base.db"), &archive, err));
	add(archive, "b.er", "f2", &image);
	assert_int_equal(ctx_archive_add(archive,
					 &(struct ctx_archive_run){.name = "c.er", .fingerprint = "f2"},
					 (struct ctx_bytes){image.bytes, image.n}, &why),
			 CTX_E_ARG);
	assert_non_null(strstr(why.msg, "run 2 (b.er) is the same recording as c.er"));
	must(ctx_archive_write(archive, err));
	ctx_archive_close(archive);
	must(ctx_archive_open(in_dir("base.db"), &archive, err));
	assert_int_equal(ctx_archive_n(archive), 2);
	assert_string_equal(ctx_archive_run(archive, 0)->name, "a\n'.er");
	assert_string_equal(ctx_archive_run(archive, 1)->name, "b.er");
	assert_int_equal(ctx_archive_run(archive, 1)->wall_ns, 7);
	assert_int_equal(ctx_archive_run(archive, 1)->raw_bytes, image.n);
	ctx_archive_close(archive);
	kept = open_run(in_dir("base.db"), 1);
	assert_false(ctx_store_profile(kept)->losses.sample_blocks);
	assert_true(compare(full, kept, (struct ctx_interval){3, FIXTURE_RUN_NS / 2 + 1},
			    &(struct ctx_query_scope){.metric = 0, .thread = CTX_NONE}));
	ctx_store_close(kept);
	ctx_store_close(full);
	fixture_deinit(&fixture);
}

/* ---- bad input ---- */

static void assert_refused(const char *path, enum ctx_status status, const char *part)
{
	struct ctx_archive *archive = NULL;
	struct ctx_err why = {0};

	if (ctx_archive_open(path, &archive, &why) != status || strstr(why.msg, part) == NULL)
		fail_msg("%s: %s", path, why.msg);
	assert_null(archive);
}

static void put_file(const char *path, const uint8_t *bytes, size_t n)
{
	must(ctx_file_replace(path, bytes, n, err));
}

/* Each byte of the file in turn is another, and then the file ends there: an archive or an error, and its runs too. */
static void test_archive__damage_is_an_error(void **state)
{
	struct fixture fixture;
	struct ctx_store *full = make_store(&fixture, 4, 1);
	struct ctx_buf file CTX_AUTO_BUF = {0};
	size_t good = 0, bad = 0;

	(void)state;
	write_archive(full, 1, in_dir("base.db"));
	must(ctx_file_read(in_dir("base.db"), CTX_ARCHIVE_BYTES_MAX, &file, err));
	for (size_t i = 0; i < 2 * file.n; i += 61) {
		size_t at = i % file.n;
		struct ctx_archive *archive;
		struct ctx_err why = {0};

		file.bytes[at] ^= 0x55;
		put_file(in_dir("bad.db"), file.bytes, i < file.n ? file.n : at);
		file.bytes[at] ^= 0x55;
		if (ctx_archive_open(in_dir("bad.db"), &archive, &why) != CTX_OK) {
			assert_true(why.msg[0] != '\0');
			bad++;
			continue;
		}
		for (size_t run = 0; run < ctx_archive_n(archive); run++) {
			struct ctx_store *store;

			if (ctx_archive_open_run(archive, run, &store, &why) == CTX_OK) {
				ctx_store_close(store);
				good++;
			} else {
				assert_non_null(strstr(why.msg, "damaged"));
				bad++;
			}
		}
		ctx_archive_close(archive);
	}
	/* Bytes that nothing uses may be anything. */
	assert_true(bad > good);
	ctx_store_close(full);
	fixture_deinit(&fixture);
}

static void test_archive__foreign_files_are_refused(void **state)
{
	struct fixture fixture;
	struct ctx_store *full = make_store(&fixture, 4, 1);
	struct ctx_buf file CTX_AUTO_BUF = {0};

	(void)state;
	assert_refused(in_dir("missing.db"), CTX_E_NOTFOUND, "missing.db");
	assert_refused(dir, CTX_E_FORMAT, "not a regular file");
	assert_refused(in_dir("a.db"), CTX_E_FORMAT, "not an archive");
	assert_false(ctx_archive_is(in_dir("a.db")));
	put_file(in_dir("text"), (const uint8_t *)"text", 4);
	assert_refused(in_dir("text"), CTX_E_FORMAT, "not a ctxan database");
	write_archive(full, 1, in_dir("base.db"));
	assert_true(ctx_archive_is(in_dir("base.db")));
	assert_false(ctx_store_is_database(in_dir("base.db")));
	must(ctx_file_read(in_dir("base.db"), CTX_ARCHIVE_BYTES_MAX, &file, err));
	file.bytes[63] = 99; /* the version */
	put_file(in_dir("newer.db"), file.bytes, file.n);
	assert_refused(in_dir("newer.db"), CTX_E_VERSION, "version 99");
	ctx_store_close(full);
	fixture_deinit(&fixture);
}

/* A file may not grow beyond a few bytes, as on a full disk. */
static void test_archive__a_full_disk_leaves_the_old_one(void **state)
{
	const struct rlimit none = {4096, RLIM_INFINITY};
	struct fixture fixture;
	struct ctx_store *full = make_store(&fixture, 4, 1);
	struct ctx_buf before CTX_AUTO_BUF = {0}, after CTX_AUTO_BUF = {0},
			      image CTX_AUTO_BUF = image_of(full);
	struct ctx_archive *archive = NULL;
	struct rlimit limit;
	struct ctx_err why = {0};

	(void)state;
	write_archive(full, 1, in_dir("base.db"));
	must(ctx_file_read(in_dir("base.db"), CTX_ARCHIVE_BYTES_MAX, &before, err));
	must(ctx_archive_open(in_dir("base.db"), &archive, err));
	add(archive, "b.er", "f2", &image);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(ctx_archive_write(archive, &why), CTX_E_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit.rlim_cur, limit.rlim_max}), 0);
	ctx_archive_close(archive);
	must(ctx_file_read(in_dir("base.db"), CTX_ARCHIVE_BYTES_MAX, &after, err));
	assert_int_equal(after.n, before.n);
	assert_memory_equal(after.bytes, before.bytes, before.n);
	ctx_store_close(full);
	fixture_deinit(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_archive__a_run_without_samples_answers_as_its_database,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_archive__says_what_needs_samples, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_archive__keeps_runs_with_samples_as_they_are, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(test_archive__damage_is_an_error, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_archive__foreign_files_are_refused, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(test_archive__a_full_disk_leaves_the_old_one, make_dir,
						remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
