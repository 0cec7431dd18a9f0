#include "ctxan/opening.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "ctxan/input_format.h"
#include "ctxan/merging.h"
#include "ctxan/progress.h"
#include "formats/experiment/exp_reader.h"
#include "formats/perfdata/perfdata.h"
#include "ingest/ingest.h"
#include "ingest/symbol_caches.h"
#include "report/report.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum ctx_status ctx_opening_split(const char *input, char **ret_experiment, char **ret_lineage,
				  struct ctx_err *err)
{
	size_t n = strlen(input);
	char *path CTX_AUTO_FREE = NULL, *directory CTX_AUTO_FREE = NULL;
	const char *name;

	*ret_experiment = *ret_lineage = NULL;
	while (n > 1 && input[n - 1] == '/')
		n--;
	path = strndup(input, n);
	directory = path != NULL ? ctx_path_dir(path) : NULL;
	if (directory == NULL)
		return ctx_err_nomem(err);
	name = ctx_path_base(path);
	if (!ctx_exp_is_lineage(name) || ctx_input_format_of(directory) != ctx_input_format_ours())
		return CTX_OK;
	*ret_lineage = strndup(name, strlen(name) - strlen(".er"));
	*ret_experiment = directory;
	directory = NULL;
	return *ret_lineage != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Default path of the database of a recording: "x.er/ctxan.db", "perf.data.ctxan.db". */
static char *usual_path(const char *input, const struct ctx_input_format *format)
{
	size_t n = strlen(input);
	char *path;

	if (format->database_inside)
		return ctx_path_join(input, "ctxan.db");
	while (n > 1 && input[n - 1] == '/')
		n--;
	return asprintf(&path, "%.*s" CTX_OPENING_SUFFIX, (int)n, input) < 0 ? NULL : path;
}

/* Whether a file can be created beside `path` (or in it). */
static bool is_writable(const char *path)
{
	char *directory CTX_AUTO_FREE = ctx_path_dir(path);

	return directory != NULL && access(directory, W_OK) == 0;
}

/*
 * The file of a recording that is written during the run, malloc'ed: its time determines the newest
 * recording, not the one last analysed. NULL: not the name of a recording.
 */
static char *growing_file(const char *directory, const char *name)
{
	size_t n = strlen(name);
	char *path CTX_AUTO_FREE = ctx_path_join(directory, name);
	struct stat info;

	if (path == NULL)
		return NULL;
	if (strcmp(name, "perf.data") == 0 && ctx_perfdata_is(path))
		return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? ctx_path_join(path, "data")
								       : strdup(path);
	if (n > 3 && strcmp(name + n - 3, ".er") == 0 && ctx_exp_is_experiment(path))
		return ctx_exp_log_path(path);
	return NULL;
}

enum ctx_status ctx_opening_newest(const char *directory, char **ret, struct ctx_err *err)
{
	struct timespec newest = {0};
	char *found = NULL;
	struct dirent *entry;
	DIR *dir = opendir(directory);

	if (dir == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", directory);
	while ((entry = readdir(dir)) != NULL) {
		char *growing CTX_AUTO_FREE = growing_file(directory, entry->d_name);
		struct stat info;

		if (growing == NULL || stat(growing, &info) != 0)
			continue;
		if (found != NULL &&
		    (info.st_mtim.tv_sec < newest.tv_sec ||
		     (info.st_mtim.tv_sec == newest.tv_sec && info.st_mtim.tv_nsec <= newest.tv_nsec)))
			continue;
		newest = info.st_mtim;
		free(found);
		found = strdup(entry->d_name);
	}
	closedir(dir);
	if (found == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "no recording named, and neither *.er nor perf.data in this directory "
				   "(record one: ctxrec -- COMMAND)");
	*ret = found;
	return CTX_OK;
}

/* $XDG_CACHE_HOME/ctxan/<hash>.db. */
static enum ctx_status cache_path_of(const char *experiment, uint64_t hash, char **ret, struct ctx_err *err)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *directory CTX_AUTO_FREE = NULL;

	if (cache == NULL || cache[0] != '/') {
		if (home == NULL || home[0] != '/')
			return ctx_err_set(err, CTX_E_PERM,
					   "%s is not writable, and HOME is not set: use --db FILE",
					   experiment);
		if (asprintf(&directory, "%s/.cache", home) < 0)
			directory = NULL;
	} else {
		directory = strdup(cache);
	}
	if (directory == NULL)
		return ctx_err_nomem(err);
	mkdir(directory, 0700);
	cache = directory;
	if (asprintf(ret, "%s/ctxan", cache) < 0)
		return ctx_err_nomem(err);
	mkdir(*ret, 0700);
	if (access(*ret, W_OK) != 0) {
		enum ctx_status status =
			ctx_err_set(err, CTX_E_PERM, "neither %s nor the cache %s is writable: use --db FILE",
				    experiment, *ret);

		free(*ret);
		*ret = NULL;
		return status;
	}
	free(*ret);
	if (asprintf(ret, "%s/ctxan/%016llx.db", cache, (unsigned long long)hash) < 0)
		return ctx_err_nomem(err);
	return CTX_OK;
}

/* By the real path, for recordings in read-only directories. */
static enum ctx_status cache_path(const char *experiment, char **ret, struct ctx_err *err)
{
	char real[PATH_MAX];

	if (realpath(experiment, real) == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", experiment);
	return cache_path_of(experiment, ctx_xxh3(real, strlen(real)), ret, err);
}

/* --db FILE, in an existing directory. */
static enum ctx_status given_path(const char *file, char **ret, struct ctx_err *err)
{
	char *directory CTX_AUTO_FREE = ctx_path_dir(file);

	if (directory == NULL)
		return ctx_err_nomem(err);
	if (access(directory, F_OK) != 0)
		return ctx_err_errno(err, CTX_E_ARG, "--db %s", file);
	*ret = strdup(file);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Path of the existing database, or of the one to be created. */
static enum ctx_status database_path(const char *input, const struct ctx_input_format *format,
				     const struct ctx_opening_options *options, char **ret,
				     struct ctx_err *err)
{
	if (options->db != NULL)
		return given_path(options->db, ret, err);
	*ret = usual_path(input, format);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* "<experiment>/<tree>": the second part counts only if the user requested tree parameters. */
static void full_fingerprint(const char *experiment, const struct ctx_opening_options *options,
			     const struct ctx_symbol_caches *caches, char *out, size_t size)
{
	const struct ctx_timetree_params *tree = &options->tree;
	uint64_t places = ctx_xxh3(options->symfs, strlen(options->symfs)) ^
			  ctx_xxh3(options->debug_root, strlen(options->debug_root)) * 3 ^
			  ctx_symbol_caches_hash(caches) * 5 ^ (options->no_inlines ? 7 : 0);

	snprintf(out, size, "%s/%016llx/M%u,N%u,P%u,%s,%s", experiment, (unsigned long long)places,
		 tree->leaf_samples, tree->fanout, tree->percent,
		 tree->mode == CTX_TIMETREE_CASCADE ? "cascade" : "residual",
		 tree->keep_tail ? "tail" : "no-tail");
}

static bool is_current(const char *have, const char *wanted, bool tree_given)
{
	const char *tree = strrchr(wanted, '/');

	if (tree_given)
		return strcmp(have, wanted) == 0;
	return strncmp(have, wanted, (size_t)(tree - wanted) + 1) == 0;
}

/* Further places of load objects: those given by the user come first. */
static enum ctx_status find_caches(const char *input, const struct ctx_input_format *format,
				   const struct ctx_opening_options *options,
				   struct ctx_symbol_caches *caches, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < options->n_caches && status == CTX_OK; i++)
		status = ctx_symbol_caches_add(caches, options->caches[i], err);
	if (status == CTX_OK && format->is_perfs)
		status = ctx_symbol_caches_add_beside(caches, input, err);
	if (status == CTX_OK && format->is_perfs)
		status = ctx_symbol_caches_add_perf(caches, err);
	return status;
}

static enum ctx_status open_caches(struct ctx_symbol_caches *caches,
				   const struct ctx_opening_options *options, struct ctx_err *err)
{
	struct ctx_err left_out = {0};
	enum ctx_status status = ctx_symbol_caches_open(caches, &left_out, err);

	if (left_out.status != CTX_OK && !options->quiet) {
		fputs("ctxan: not or only partly used for symbols: ", stderr);
		ctx_report_put_name(stderr, left_out.msg);
		fputc('\n', stderr);
	}
	return status;
}

/*
 * Sets the umask so that users who cannot read the recording cannot read its database. Returns the
 * old mask.
 */
static mode_t hide_as(const char *input)
{
	mode_t mask = umask(077);
	struct stat info;

	if (stat(input, &info) == 0)
		umask(mask | (~info.st_mode & 0066));
	return mask;
}

/*
 * Time of the last write to the recording, in seconds since 1970; 0 unknown. An experiment's log is
 * written last.
 */
static int64_t recorded_at(const char *input)
{
	char *log CTX_AUTO_FREE = ctx_exp_log_path(input);
	struct stat info;

	if (log != NULL && stat(log, &info) == 0)
		return (int64_t)info.st_mtime;
	return stat(input, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_mtime : 0;
}

/* Opens the caches that were found. */
static enum ctx_status set_ingest_options(const char *input, const struct ctx_opening_options *options,
					  struct ctx_symbol_caches *caches, struct ctx_ingest_options *ret,
					  struct ctx_err *err)
{
	enum ctx_status status = open_caches(caches, options, err);

	if (status == CTX_OK)
		*ret = (struct ctx_ingest_options){
			.tree = options->tree,
			.symfs = options->symfs,
			.debug_root = options->debug_root,
			.no_inlines = options->no_inlines,
			.recorded_s = recorded_at(input),
			.caches = caches->directories,
			.cache_names = caches->names,
		};
	return status;
}

enum ctx_status ctx_opening_ingest_options(const char *experiment, const struct ctx_opening_options *options,
					   struct ctx_symbol_caches *caches, struct ctx_ingest_options *ret,
					   struct ctx_err *err)
{
	enum ctx_status status = find_caches(experiment, ctx_input_format_ours(), options, caches, err);

	if (status == CTX_OK)
		status = set_ingest_options(experiment, options, caches, ret, err);
	if (status == CTX_OK)
		ret->fingerprint = "";
	return status;
}

/* What is ingested, and how: a recording, or several as one. */
struct recording {
	const struct ctx_merging_part *parts;
	size_t n;
	const struct ctx_opening_options *options;
	struct ctx_symbol_caches *caches;
};

/* The umask under which nobody can read the database who cannot read all of the recordings. */
static mode_t hide_as_all(const struct recording *recording)
{
	mode_t mask = hide_as(recording->parts[0].path);

	for (size_t i = 1; i < recording->n; i++) {
		mode_t strictest = umask(0);

		(void)hide_as(recording->parts[i].path);
		umask(umask(0) | strictest);
	}
	return mask;
}

/* Ingests into the database `path`, which stores the fingerprint. */
static enum ctx_status ingest(const struct recording *recording, const char *path, const char *fingerprint,
			      struct ctx_err *err)
{
	const struct ctx_opening_options *options = recording->options;
	const char *input = recording->parts[0].path;
	struct ctx_ingest_options ingest_options;
	struct ctx_progress progress = ctx_progress_start(input, options->quiet);
	struct ctx_merging merging CTX_CLEANUP(ctx_merging_close) = {0};
	mode_t mask;
	enum ctx_status status = set_ingest_options(input, options, recording->caches, &ingest_options, err);

	if (status == CTX_OK)
		status = ctx_merging_open(&merging, recording->parts, recording->n,
					  &(struct ctx_merging_offsets){options->offsets, options->n_offsets},
					  err);
	if (status != CTX_OK)
		return status;
	ingest_options.fingerprint = fingerprint;
	ingest_options.progress = ctx_progress_update;
	ingest_options.progress_context = &progress;
	mask = hide_as_all(recording);
	status = ctx_ingest(merging.source, path, &ingest_options, NULL, err);
	umask(mask);
	ctx_progress_end(&progress);
	return status;
}

/* An experiment that was not closed may lack load objects of this host. */
static void complete_archives(const char *input, const struct ctx_opening_options *options)
{
	uint32_t copied;

	if (ctx_exp_archive_late(input, &copied, NULL) == CTX_OK && copied != 0 && !options->quiet)
		fprintf(stderr,
			"ctxan: %s was not closed: added %u load objects of this host to its archives\n",
			input, copied);
}

/* What is wanted of a database. */
struct wanted {
	const struct ctx_opening_options *options;
	char fingerprint[128];
	char with_other_inlines[128]; /* the same, but for --no-inlines */
};

static void say_other_inlines(const char *path, const struct ctx_opening_options *options)
{
	fprintf(stderr, "ctxan: %s was made %s inlined functions and is made anew; --db FILE keeps both\n",
		path, options->no_inlines ? "with" : "without");
}

static bool open_current(const char *path, const struct wanted *wanted, struct ctx_store **ret)
{
	const struct ctx_opening_options *options = wanted->options;

	if (options->reingest || access(path, R_OK) != 0 || ctx_store_open(path, ret, NULL) != CTX_OK)
		return false;
	if (is_current(ctx_store_fingerprint(*ret), wanted->fingerprint, options->tree_given))
		return true;
	if (!options->quiet &&
	    is_current(ctx_store_fingerprint(*ret), wanted->with_other_inlines, options->tree_given))
		say_other_inlines(path, options);
	ctx_store_close(*ret);
	return false;
}

static void set_wanted(struct wanted *wanted, const char *experiment,
		       const struct ctx_opening_options *options, const struct ctx_symbol_caches *caches)
{
	struct ctx_opening_options other = *options;

	other.no_inlines = !options->no_inlines;
	wanted->options = options;
	full_fingerprint(experiment, options, caches, wanted->fingerprint, sizeof(wanted->fingerprint));
	full_fingerprint(experiment, &other, caches, wanted->with_other_inlines,
			 sizeof(wanted->with_other_inlines));
}

/* Ingests into `path`, and opens that. */
static enum ctx_status open_anew(const struct recording *recording, const char *path,
				 const struct wanted *wanted, struct ctx_store **ret, struct ctx_err *err)
{
	enum ctx_status status;

	if (wanted->options->db != NULL && access(path, F_OK) == 0 && !ctx_store_is_database(path))
		return ctx_err_set(err, CTX_E_ARG,
				   "%s exists and is not a database of ctxan: not overwritten", path);
	status = ingest(recording, path, wanted->fingerprint, err);
	return status == CTX_OK ? ctx_store_open(path, ret, err) : status;
}

static enum ctx_status open_recording(const char *input, const struct ctx_input_format *format,
				      const struct ctx_opening_options *options, struct ctx_store **ret,
				      struct ctx_err *err)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
	struct ctx_merging_part part = {input, format};
	struct recording recording = {&part, 1, options, &caches};
	char *path CTX_AUTO_FREE = NULL;
	struct wanted wanted;
	char fingerprint[17];
	enum ctx_status status;

	if (format == ctx_input_format_ours())
		complete_archives(input, options);
	status = format->fingerprint(input, fingerprint, err);
	if (status == CTX_OK)
		status = database_path(input, format, options, &path, err);
	if (status == CTX_OK)
		status = find_caches(input, format, options, &caches, err);
	if (status != CTX_OK)
		return status;
	set_wanted(&wanted, fingerprint, options, &caches);
	if (open_current(path, &wanted, ret))
		return CTX_OK;
	if (options->db == NULL && !is_writable(path)) {
		free(path);
		path = NULL;
		status = cache_path(input, &path, err);
		if (status != CTX_OK || open_current(path, &wanted, ret))
			return status;
		if (!options->quiet)
			fprintf(stderr, "ctxan: %s is not writable; its database is %s\n", input, path);
	}
	return open_anew(&recording, path, &wanted, ret, err);
}

/* ---- several as one ---- */

static enum ctx_status find_part(const char *input, struct ctx_merging_part *ret, struct ctx_err *err)
{
	if (access(input, R_OK) != 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", input);
	*ret = (struct ctx_merging_part){input, ctx_input_format_of(input)};
	if (ret->format == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: --merge requires recordings, and this is none%s",
				   input, ctx_store_is_database(input) ? ", but a database" : "");
	return CTX_OK;
}

/* Adds what a part holds, and where it is, to the hashes of all. */
static enum ctx_status add_fingerprint(const struct ctx_merging_part *part, uint64_t *contents,
				       uint64_t *places, struct ctx_err *err)
{
	char fingerprint[17], real[PATH_MAX];
	enum ctx_status status = part->format->fingerprint(part->path, fingerprint, err);

	if (status != CTX_OK)
		return status;
	if (realpath(part->path, real) == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", part->path);
	*contents = *contents * 3 ^ ctx_xxh3(fingerprint, strlen(fingerprint)) ^
		    ctx_xxh3(part->path, strlen(part->path)) * 5; /* names are in the database */
	*places = *places * 3 ^ ctx_xxh3(real, strlen(real));
	return CTX_OK;
}

enum ctx_status ctx_opening_merge(const char *const *inputs, size_t n,
				  const struct ctx_opening_options *options, struct ctx_store **ret,
				  struct ctx_err *err)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
	struct ctx_merging_part *parts CTX_AUTO_FREE = ctx_calloc(n, sizeof(*parts));
	struct recording recording = {parts, n, options, &caches};
	char *path CTX_AUTO_FREE = NULL;
	uint64_t contents = n, places = n;
	struct wanted wanted;
	char fingerprint[17];
	enum ctx_status status = parts != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		status = find_part(inputs[i], &parts[i], err);
		if (status == CTX_OK && parts[i].format == ctx_input_format_ours())
			complete_archives(inputs[i], options);
		if (status == CTX_OK)
			status = add_fingerprint(&parts[i], &contents, &places, err);
		if (status == CTX_OK)
			status = find_caches(inputs[i], parts[i].format, options, &caches, err);
	}
	for (size_t i = 0; i < options->n_offsets && status == CTX_OK; i++)
		contents = contents * 3 ^ ctx_xxh3(options->offsets[i], strlen(options->offsets[i]));
	if (status == CTX_OK && options->db != NULL)
		status = given_path(options->db, &path, err);
	else if (status == CTX_OK)
		status = cache_path_of(inputs[0], places, &path, err);
	if (status != CTX_OK)
		return status;
	snprintf(fingerprint, sizeof(fingerprint), "%016llx", (unsigned long long)contents);
	set_wanted(&wanted, fingerprint, options, &caches);
	return open_current(path, &wanted, ret) ? CTX_OK : open_anew(&recording, path, &wanted, ret, err);
}

/* The error for a directory that is not a recording. */
static enum ctx_status open_directory(const char *input, const struct ctx_opening_options *options,
				      struct ctx_store **ret, struct ctx_err *err)
{
	char *log CTX_AUTO_FREE = ctx_exp_log_path(input);

	if (log == NULL)
		return ctx_err_nomem(err);
	if (access(input, R_OK | X_OK) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", input);
	if (access(log, F_OK) == 0) /* reports why the experiment is unusable */
		return open_recording(input, ctx_input_format_ours(), options, ret, err);
	return ctx_err_set(err, CTX_E_FORMAT,
			   "%s: contains neither an experiment (log.xml) nor perf.data (a file named data) "
			   "nor uftrace's "
			   "data (a file named info)",
			   input);
}

enum ctx_status ctx_opening_open(const char *input, const struct ctx_opening_options *options,
				 struct ctx_store **ret, struct ctx_err *err)
{
	const struct ctx_input_format *format;
	struct stat info;

	if (stat(input, &info) != 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", input);
	format = ctx_input_format_of(input);
	if (format != NULL)
		return open_recording(input, format, options, ret, err);
	if (S_ISDIR(info.st_mode))
		return open_directory(input, options, ret, err);
	if (ctx_store_is_database(input)) {
		if (options->reingest || options->db != NULL)
			return ctx_err_set(err, CTX_E_ARG,
					   "%s is a database: --reingest and --db require a recording",
					   input);
		return ctx_store_open(input, ret, err);
	}
	if (access(input, R_OK) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", input);
	return ctx_err_set(
		err, CTX_E_FORMAT,
		"%s: neither an experiment nor a database of ctxan, nor perf.data, nor stacks as text, "
		"JSON or pprof, nor a trace of calls",
		input);
}
