#include "ctxan/opening.h"

#include "base/file_hash.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "ctxan/progress.h"
#include "formats/calltrace/calltrace.h"
#include "formats/experiment/exp_reader.h"
#include "formats/gprofng/gprofng.h"
#include "formats/jfr/jfr.h"
#include "formats/jsonprofile/jsonprofile.h"
#include "formats/packed/packed.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pprof/pprof_reader.h"
#include "formats/stacktext/stacktext.h"
#include "formats/traceevent/traceevent.h"
#include "formats/uftrace/uftrace.h"
#include "ingest/ingest.h"
#include "ingest/private_dir.h"
#include "ingest/symbol_caches.h"
#include "report/report.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A format that can be ingested, recognised by the file's contents. */
struct format {
	bool (*is)(const char *path);
	enum ctx_status (*open)(const char *path, struct ctx_event_source **ret, struct ctx_err *err);
	enum ctx_status (*fingerprint)(const char *path, char ret[17], struct ctx_err *err);
	bool database_inside; /* the database is in the directory; otherwise beside the file */
	bool is_perfs;	      /* its load objects are where perf keeps them */
};

/* Our experiments are tried after gprofng's, which begin with the same words; texts and traces, which have no magic number, last. */
static const struct format formats[] = {
	{ctx_gprofng_is_experiment, ctx_gprofng_open, ctx_gprofng_fingerprint, true, false},
	{ctx_gprofng_is_group, ctx_gprofng_open, ctx_gprofng_fingerprint, false, false},
	{ctx_exp_is_experiment, ctx_exp_open, ctx_exp_fingerprint, true, false},
	{ctx_perfdata_is, ctx_perfdata_open, ctx_perfdata_fingerprint, false, true},
	{ctx_uftrace_is, ctx_uftrace_open, ctx_uftrace_fingerprint, true, false},
	{ctx_traceevent_is, ctx_traceevent_open, ctx_file_fingerprint, false, false},
	{ctx_calltrace_is, ctx_calltrace_open, ctx_calltrace_fingerprint, false, false},
	{ctx_jfr_is, ctx_jfr_open, ctx_jfr_fingerprint, false, false},
	{ctx_pprof_is, ctx_pprof_open, ctx_file_fingerprint, false, true},
	{ctx_jsonprofile_is, ctx_jsonprofile_open, ctx_file_fingerprint, false, false},
	{ctx_stacktext_is, ctx_stacktext_open, ctx_file_fingerprint, false, false},
};

/* What a compressed file holds is known once it is unpacked, for the ingest. */
static const struct format packed = {ctx_packed_is, NULL, ctx_file_fingerprint, false, true};

#define OURS 2u /* of formats: the one that reports why an experiment is unusable */

static const struct format *format_of(const char *path)
{
	for (size_t i = 0; i < CTX_COUNT_OF(formats); i++) {
		if (formats[i].is(path))
			return &formats[i];
	}
	return packed.is(path) ? &packed : NULL;
}

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
	if (!ctx_exp_is_lineage(name) || format_of(directory) != &formats[OURS])
		return CTX_OK;
	*ret_lineage = strndup(name, strlen(name) - strlen(".er"));
	*ret_experiment = directory;
	directory = NULL;
	return *ret_lineage != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Default path of the database of a recording: "x.er/ctxan.db", "perf.data.ctxan.db". */
static char *usual_path(const char *input, const struct format *format)
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

/* $XDG_CACHE_HOME/ctxan/<hash of the real path>.db, for recordings in read-only directories. */
static enum ctx_status cache_path(const char *experiment, char **ret, struct ctx_err *err)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *directory CTX_AUTO_FREE = NULL;
	char real[PATH_MAX];

	if (realpath(experiment, real) == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", experiment);
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
	if (asprintf(ret, "%s/ctxan/%016llx.db", cache, (unsigned long long)ctx_xxh3(real, strlen(real))) < 0)
		return ctx_err_nomem(err);
	return CTX_OK;
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
static enum ctx_status database_path(const char *input, const struct format *format,
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
static enum ctx_status find_caches(const char *input, const struct format *format,
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
	enum ctx_status status = find_caches(experiment, &formats[OURS], options, caches, err);

	if (status == CTX_OK)
		status = set_ingest_options(experiment, options, caches, ret, err);
	if (status == CTX_OK)
		ret->fingerprint = "";
	return status;
}

/* What is ingested, and how. */
struct recording {
	const char *input;
	const struct format *format;
	const struct ctx_opening_options *options;
	struct ctx_symbol_caches *caches;
};

/* "perf.data" of "dir/perf.data.gz"; malloc'ed. */
static char *unpacked_name(const char *input)
{
	const char *base = ctx_path_base(input), *dot = strrchr(base, '.');

	return dot != NULL && dot != base ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

/*
 * Opens a compressed recording: unpacked in a directory that is removed once it is read. What is in
 * it must not be compressed again.
 */
static enum ctx_status open_packed(const char *input, struct ctx_private_dir *dir, char **ret_path,
				   struct ctx_event_source **ret, struct ctx_err *err)
{
	char *name CTX_AUTO_FREE = unpacked_name(input), *path;
	enum ctx_status status = ctx_private_dir_create(dir, err);
	const struct format *format;
	struct ctx_err why = {0};

	if (status != CTX_OK)
		return status;
	*ret_path = path = name != NULL ? ctx_path_join(dir->path, name) : NULL; /* sources borrow its name */
	if (path == NULL)
		return ctx_err_nomem(err);
	status = ctx_packed_unpack(input, path, &why);
	format = format_of(path);
	if (status == CTX_E_FORMAT && format != NULL && format->open != NULL)
		fprintf(stderr, "ctxan: %s: what comes before is read\n", why.msg);
	else if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", why.msg);
	if (format == NULL || format->open == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: holds no recording that ctxan reads", input);
	return format->open(path, ret, err);
}

/* Ingests into the database `path`, which stores the fingerprint. */
static enum ctx_status ingest(const struct recording *recording, const char *path, const char *fingerprint,
			      struct ctx_err *err)
{
	const struct ctx_opening_options *options = recording->options;
	struct ctx_symbol_caches *caches = recording->caches;
	const char *input = recording->input;
	struct ctx_ingest_options ingest_options;
	struct ctx_progress progress = ctx_progress_start(input, options->quiet);
	struct ctx_private_dir unpacked CTX_CLEANUP(ctx_private_dir_remove) = {.fd = -1};
	char *path_of_it CTX_AUTO_FREE = NULL;
	struct ctx_event_source *source;
	mode_t mask;
	enum ctx_status status = set_ingest_options(input, options, caches, &ingest_options, err);

	if (status == CTX_OK)
		status = recording->format == &packed
				 ? open_packed(input, &unpacked, &path_of_it, &source, err)
				 : recording->format->open(input, &source, err);
	if (status != CTX_OK)
		return status;
	ingest_options.fingerprint = fingerprint;
	ingest_options.progress = ctx_progress_update;
	ingest_options.progress_context = &progress;
	mask = hide_as(input);
	status = ctx_ingest(source, path, &ingest_options, NULL, err);
	umask(mask);
	ctx_progress_end(&progress);
	source->close(source);
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

static enum ctx_status open_recording(const char *input, const struct format *format,
				      const struct ctx_opening_options *options, struct ctx_store **ret,
				      struct ctx_err *err)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
	struct recording recording = {input, format, options, &caches};
	char *path CTX_AUTO_FREE = NULL;
	struct wanted wanted;
	char fingerprint[17];
	enum ctx_status status;

	if (format->open == ctx_exp_open)
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
	if (options->db != NULL && access(path, F_OK) == 0 && !ctx_store_is_database(path))
		return ctx_err_set(err, CTX_E_ARG,
				   "%s exists and is not a database of ctxan: not overwritten", path);
	status = ingest(&recording, path, wanted.fingerprint, err);
	return status == CTX_OK ? ctx_store_open(path, ret, err) : status;
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
		return open_recording(input, &formats[OURS], options, ret, err);
	return ctx_err_set(err, CTX_E_FORMAT,
			   "%s: contains neither an experiment (log.xml) nor perf.data (a file named data) "
			   "nor uftrace's "
			   "data (a file named info)",
			   input);
}

enum ctx_status ctx_opening_open(const char *input, const struct ctx_opening_options *options,
				 struct ctx_store **ret, struct ctx_err *err)
{
	const struct format *format;
	struct stat info;

	if (stat(input, &info) != 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", input);
	format = format_of(input);
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
