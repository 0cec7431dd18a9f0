/*
 * ctxan: reads the command line, opens each input, prints its reports.
 */
#include "base/buf.h"
#include "base/fileio.h"
#include "base/manual.h"
#include "base/mem.h"
#include "browse/browse.h"
#include "ctxan/answer.h"
#include "ctxan/archiving.h"
#include "ctxan/checking.h"
#include "ctxan/comparing.h"
#include "ctxan/comparing_browse.h"
#include "ctxan/fleet_command.h"
#include "ctxan/following.h"
#include "ctxan/judging.h"
#include "ctxan/opening.h"
#include "ctxan/options.h"
#include "ctxan/output.h"
#include "ctxan/page_opening.h"
#include "ctxan/pager.h"
#include "ctxan/standard_input.h"
#include "ctxan/terminal.h"
#include "query/filters.h"
#include "query/index_key.h"
#include "report/html_tables.h"

#include <libxml/xmlversion.h>
#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define EXIT_RULE_FAILED 3

static int exit_status(enum ctx_status status)
{
	switch (status) {
	case CTX_OK:
	case CTX_END:
		return 0;
	case CTX_E_ARG:
	case CTX_E_NOTFOUND:
	case CTX_E_FORMAT:
	case CTX_E_VERSION:
	case CTX_E_LIMIT:
		return 1;
	case CTX_E_NOMEM:
	case CTX_E_IO:
	case CTX_E_PERM:
	case CTX_E_INTERNAL:
		break;
	}
	return 2;
}

static int complain(enum ctx_status status, const struct ctx_err *err)
{
	fputs("ctxan: ", stderr);
	ctx_report_put_name(stderr, err->msg);
	fputc('\n', stderr);
	return exit_status(status);
}

static void print_version(void)
{
	printf("ctxan %s (SQLite %s, zstd %s, libxml2 %s)\n", CTX_VERSION, sqlite3_libversion(),
	       ZSTD_versionString(), LIBXML_DOTTED_VERSION);
}

static enum ctx_status answer_input(const char *path, const char *name, const struct ctx_options *given,
				    struct ctx_err *err)
{
	char *experiment CTX_AUTO_FREE = NULL, *lineage CTX_AUTO_FREE = NULL;
	struct ctx_options options = *given;
	struct ctx_store *store;
	enum ctx_status status = ctx_opening_split(path, &experiment, &lineage, err);

	if (status == CTX_OK)
		status = ctx_opening_open(experiment != NULL ? experiment : path, &options.opening, &store,
					  err);
	if (status != CTX_OK)
		return status;
	options.selection.lineage = lineage;
	status = ctx_answer(store, name, &options, err);
	ctx_store_close(store);
	return status;
}

static enum ctx_status answer_standard_input(const struct ctx_options *given, struct ctx_err *err)
{
	struct ctx_options options = *given;
	struct ctx_standard_input input;
	enum ctx_status status = ctx_standard_input_take(&input, err);

	if (status != CTX_OK)
		return status;
	if (options.opening.db == NULL)
		options.opening.db = input.database;
	status = answer_input(input.recording, CTX_STANDARD_INPUT_NAME, &options, err);
	ctx_standard_input_remove(&input);
	return status;
}

/*
 * "perf.data*" matches perf.data.ctxan.db from the second run on: databases of other inputs are
 * skipped.
 */
static bool is_database_of_another(const char *const *inputs, size_t n, size_t at)
{
	size_t length = strlen(inputs[at]), suffix = strlen(CTX_OPENING_SUFFIX);

	if (length <= suffix || strcmp(inputs[at] + length - suffix, CTX_OPENING_SUFFIX) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (strlen(inputs[i]) == length - suffix &&
		    strncmp(inputs[i], inputs[at], length - suffix) == 0)
			return true;
	}
	return false;
}

/* The first screen needs samples: a run without them begins with its functions. */
static enum ctx_status answer_run(struct ctx_archive *archive, size_t run, const char *path,
				  const struct ctx_options *given, struct ctx_err *err)
{
	struct ctx_option_report functions = {.kind = ctx_report_find("functions")};
	struct ctx_options options = *given;
	struct ctx_store *store;
	enum ctx_status status = ctx_archive_open_run(archive, run, &store, err);

	if (status != CTX_OK)
		return status;
	if (options.n_reports == 0 && options.output.sql == NULL && options.output.export == NULL &&
	    !options.browse && ctx_store_profile(store)->losses.sample_blocks) {
		options.reports = &functions;
		options.n_reports = 1;
	}
	options.opening.run = (uint32_t)run + 1;
	status = ctx_answer(store, path, &options, err);
	ctx_store_close(store);
	return status;
}

/* Of an archive: its list, its runs one after another, or one of them. */
static enum ctx_status answer_runs(struct ctx_archive *archive, const char *path,
				   const struct ctx_options *options, struct ctx_err *err)
{
	bool lists = options->n_reports == 0 && options->output.sql == NULL &&
		     options->output.export == NULL && !options->browse;
	size_t n = ctx_archive_n(archive), only = 0;
	enum ctx_status status = CTX_OK;

	if (options->opening.run != 0) {
		status = ctx_archiving_choose(archive, path, options->opening.run, &only, err);
		return status == CTX_OK ? answer_run(archive, only, path, options, err) : status;
	}
	if (lists)
		return ctx_archiving_list(archive, path, options, err);
	if (n > 1 && options->n_reports == 0)
		return ctx_err_set(err, CTX_E_ARG, "%s has %zu runs: --run chooses one", path, n);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (i != 0 && options->report.format == CTX_REPORT_TEXT)
			fputc('\n', options->report.out);
		status = answer_run(archive, i, path, options, err);
	}
	return status;
}

static enum ctx_status answer_archive(const char *path, const struct ctx_options *options,
				      struct ctx_err *err)
{
	struct ctx_archive *archive;
	enum ctx_status status = ctx_archive_open(path, &archive, err);

	if (status != CTX_OK)
		return status;
	status = answer_runs(archive, path, options, err);
	ctx_archive_close(archive);
	return status;
}

static enum ctx_status answer_input_of(const char *input, const struct ctx_options *options,
				       struct ctx_err *err)
{
	if (strcmp(input, "-") == 0)
		return answer_standard_input(options, err);
	if (ctx_archive_is(input))
		return answer_archive(input, options, err);
	if (options->opening.run != 0)
		return ctx_err_set(err, CTX_E_ARG, "--run requires an archive: %s is none", input);
	return answer_input(input, input, options, err);
}

/* Those of the command line but databases beside others; `ret` has room for all. */
static size_t choose_inputs(const char *const *inputs, size_t n, const char **ret)
{
	size_t chosen = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_database_of_another(inputs, n, i))
			ret[chosen++] = inputs[i];
	}
	return chosen;
}

/* All recordings as one. */
static enum ctx_status answer_merged(const struct ctx_options *options, struct ctx_err *err)
{
	const char **inputs CTX_AUTO_FREE = ctx_calloc(options->n_inputs, sizeof(*inputs));
	struct ctx_buf name CTX_AUTO_BUF = {0};
	struct ctx_store *store;
	enum ctx_status status;
	size_t n;

	if (inputs == NULL)
		return ctx_err_nomem(err);
	n = choose_inputs(options->inputs, options->n_inputs, inputs);
	for (size_t i = 0; i < n; i++)
		ctx_buf_printf(&name, "%s%s", i != 0 ? " + " : "", inputs[i]);
	ctx_buf_put_u8(&name, 0);
	status = ctx_buf_check(&name, err);
	if (status == CTX_OK)
		status = ctx_opening_merge(inputs, n, &options->opening, &store, err);
	if (status != CTX_OK)
		return status;
	status = ctx_answer(store, (const char *)name.bytes, options, err);
	ctx_store_close(store);
	return status;
}

static enum ctx_status answer_inputs(struct ctx_options *options, struct ctx_err *err)
{
	char *newest CTX_AUTO_FREE = NULL;
	const char *const *inputs = options->inputs;
	size_t n = options->n_inputs;
	enum ctx_status status = CTX_OK;

	if (options->fleet.command != CTX_FLEET_NONE)
		return ctx_fleet_command(options, err);
	if (options->baseline.archive != NULL)
		return ctx_archiving_write(options, err);
	if (options->baseline.rules != NULL && options->diff.wanted)
		return ctx_judging_answer(options, NULL, err);
	if (options->diff.wanted)
		return options->browse ? ctx_comparing_browse(options, err)
				       : ctx_comparing_answer(options, err);
	if (options->opening.merge)
		return answer_merged(options, err);
	if (n == 0) {
		status = ctx_opening_newest(".", &newest, err);
		inputs = (const char *const *)&newest;
		n = 1;
		if (status == CTX_OK && !options->quiet) {
			fputs("ctxan: the newest recording here is ", stderr);
			ctx_report_put_name(stderr, newest);
			fputc('\n', stderr);
		}
	}
	if (status == CTX_OK && options->baseline.rules != NULL)
		return ctx_judging_answer(options, inputs[0], err);
	for (size_t i = 0; status == CTX_OK && i < n; i++) {
		if (is_database_of_another(inputs, n, i))
			continue;
		if (i != 0 && options->report.format == CTX_REPORT_TEXT)
			fputc('\n', options->report.out);
		status = answer_input_of(inputs[i], options, err);
	}
	return status;
}

/* In HTML the reports of all recordings form one page. */
static enum ctx_status answer_all(struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status;

	if (options->report.format != CTX_REPORT_HTML)
		return answer_inputs(options, err);
	status = ctx_html_tables_create(&options->report.page, err);
	if (status == CTX_OK)
		status = answer_inputs(options, err);
	if (status == CTX_OK)
		status = ctx_html_tables_write(options->report.page, options->report.out, err);
	ctx_html_tables_destroy(options->report.page);
	options->report.page = NULL;
	return status;
}

static enum ctx_status print_all(void *context, struct ctx_options *options, struct ctx_err *err)
{
	(void)context;
	return answer_all(options, err);
}

/* Buffers the whole output: a failed command prints nothing. */
static enum ctx_status answer_whole(struct ctx_options *options, struct ctx_err *err)
{
	const char *pager = ctx_pager_command(options);
	char *text = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&text, &n);
	enum ctx_status status;

	if (memory == NULL)
		return ctx_err_nomem(err);
	options->report.out = memory;
	status = answer_all(options, err);
	if (fclose(memory) != 0 && status == CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK)
		status = pager != NULL ? ctx_pager_print(pager, text, n, err)
				       : ctx_file_write(STDOUT_FILENO, "standard output", text, n, err);
	free(text);
	return status;
}

/* A dump that nobody reads page by page. Mistakes of options are found before its first row. */
static bool is_dump(const struct ctx_options *options)
{
	return options->n_reports == 1 && options->reports[0].kind->is_dump &&
	       options->report.format != CTX_REPORT_HTML && ctx_pager_command(options) == NULL;
}

/* Results of SQL, exports and dumps may exceed memory: they are printed unbuffered. */
static enum ctx_status answer_as_it_comes(struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status;

	options->report.out = stdout;
	status = answer_all(options, err);
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == CTX_OK)
		status = ctx_err_errno(err, CTX_E_IO, "standard output");
	return status;
}

static enum ctx_status answer(struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status = options->open ? ctx_page_opening_place(options, err) : CTX_OK;

	/* Before a long ingest. */
	if (status == CTX_OK && options->browse)
		status = ctx_browse_check(err);
	if (status != CTX_OK)
		return status;
	if (options->follow.wanted)
		return ctx_following(options, err);
	ctx_terminal_choose(options);
	options->report.out = stdout;
	if (options->output.export != NULL && options->output.export->write_directory != NULL)
		return ctx_output_write(options, &(struct ctx_output_answer){print_all, NULL}, err);
	if (options->output.path != NULL) {
		status = ctx_output_check(options, options->output.path, err);
		if (status == CTX_OK)
			status = ctx_output_write(options, &(struct ctx_output_answer){print_all, NULL}, err);
	} else if (options->output.sql != NULL || options->output.export != NULL || options->browse ||
		   is_dump(options))
		status = answer_as_it_comes(options, err);
	else
		status = answer_whole(options, err);
	if (status == CTX_OK && options->open)
		ctx_page_opening_show(options->output.path);
	return status;
}

/* Of --diff those of either side. */
static enum ctx_status check_filters(const struct ctx_options *options, struct ctx_wrong_place *ret_place,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (!options->diff.wanted)
		return ctx_filters_check(&options->selection, ret_place, err);
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES && status == CTX_OK;
	     side++) {
		struct ctx_selection_spec words;

		status = ctx_side_words_make(&options->selection, &options->diff.alone[side], side, &words,
					     err);
		if (status != CTX_OK)
			return status;
		status = ctx_filters_check(&words, ret_place, err);
		ctx_side_words_deinit(&words);
	}
	return status;
}

static enum ctx_status check_expressions(struct ctx_options *options, struct ctx_wrong_place *ret_place,
					 struct ctx_err *err)
{
	const struct ctx_selection_spec *selection = &options->selection;
	enum ctx_status status;

	/* A fleet takes no expressions, and has keys of its own. */
	if (options->fleet.command != CTX_FLEET_NONE)
		return CTX_OK;
	status = check_filters(options, ret_place, err);

	for (size_t i = 0; i < options->n_reports && status == CTX_OK; i++) {
		if (options->reports[i].by != NULL)
			status = ctx_index_keys_check(selection, options->reports[i].by, ret_place, err);
	}
	if (status == CTX_OK && selection->n_indexes != 0 && !ctx_options_has_report(options, "index"))
		return ctx_err_set(err, CTX_E_ARG, "--index requires --by");
	if (status == CTX_OK && options->baseline.rules != NULL)
		status = ctx_judging_load(&options->baseline, ret_place, err);
	return status;
}

int main(int argc, char **argv)
{
	struct ctx_options options;
	struct ctx_wrong_place wrong = {0};
	struct ctx_err err = {0};
	bool failed;
	enum ctx_status status = ctx_options_parse(argc, argv, &options, &err);

	if (status != CTX_OK)
		return complain(status, &err);
	/*
	 * One heap for all threads: glibc lets that of a second thread grow by single pages, each
	 * with a system call.
	 */
	(void)mallopt(M_ARENA_MAX, 1);
	status = check_expressions(&options, &wrong, &err);
	if (status != CTX_OK) {
		int code = complain(status, &err);

		ctx_wrong_place_print(&wrong, stderr);
		ctx_options_deinit(&options);
		return code;
	}
	if (options.help || options.version) {
		if (options.help)
			ctx_manual_print_help(ctx_options_table.manual, stdout);
		else
			print_version();
		ctx_options_deinit(&options);
		if (fflush(stdout) == 0 && !ferror(stdout))
			return 0;
		return complain(ctx_err_errno(&err, CTX_E_IO, "standard output"), &err);
	}
	status = options.output.check_indicators != NULL ? ctx_checking_indicators(&options, &err)
							 : answer(&options, &err);
	failed = options.baseline.failed;
	ctx_options_deinit(&options);
	if (status != CTX_OK)
		return complain(status, &err);
	return failed ? EXIT_RULE_FAILED : 0;
}
