#include "ctxan/archiving.h"

#include "base/mem.h"
#include "query/pruned_copy.h"
#include "query/store_source.h"
#include "report/rule_figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of time trees: 256 parts of a run with the default fanout, beyond which lists are no smaller than samples. */
#define LEVELS 4u
#define FIGURES_MAX (2 * CTX_RULE_MEASURES_MAX)

/* A run before it is in the archive. */
struct image {
	struct ctx_buf bytes;
	struct ctx_archive_run run; /* its texts are owned */
};

struct images {
	struct image *items;
	size_t n, cap;
	bool with_samples;
};

static void images_deinit(struct images *images)
{
	for (size_t i = 0; i < images->n; i++) {
		ctx_buf_deinit(&images->items[i].bytes);
		free((char *)(uintptr_t)images->items[i].run.name);
		free((char *)(uintptr_t)images->items[i].run.fingerprint);
	}
	free(images->items);
}

/* ---- a run ---- */

/* What rules ask of waits and the heap: it is not in time trees. */
struct kept {
	struct ctx_kept_figure figures[FIGURES_MAX];
	size_t n;
	struct ctx_arena names;
};

static enum ctx_status keep(struct kept *kept, const struct ctx_rule_figures *figures,
			    enum ctx_rule_kind kind, struct ctx_err *err)
{
	struct ctx_buf name CTX_AUTO_BUF = {0};

	for (size_t i = 0; i < ctx_rule_n_measures(kind); i++) {
		struct ctx_kept_figure *figure = &kept->figures[kept->n++];

		ctx_buf_clear(&name);
		ctx_rule_put_figure_name(&name, kind, i);
		if (ctx_buf_check(&name, err) != CTX_OK)
			return CTX_E_NOMEM;
		figure->name = ctx_arena_strndup(&kept->names, (const char *)name.bytes, name.n);
		figure->value = figures->values[kind - CTX_RULE_STATE][i];
		if (figure->name == NULL)
			return ctx_err_nomem(err);
	}
	return CTX_OK;
}

static enum ctx_status read_figures(struct ctx_report_source *source, struct kept *kept, struct ctx_err *err)
{
	static const enum ctx_rule_kind kinds[] = {CTX_RULE_WAIT, CTX_RULE_HEAP};
	struct ctx_rule_figures figures;
	enum ctx_status status =
		ctx_rule_figures_read(source, 1u << CTX_RULE_WAIT | 1u << CTX_RULE_HEAP, &figures, err);

	for (size_t i = 0; i < CTX_COUNT_OF(kinds) && status == CTX_OK; i++) {
		if (figures.missing[kinds[i] - CTX_RULE_STATE] == NULL)
			status = keep(kept, &figures, kinds[i], err);
	}
	return status;
}

/* Of the whole run, whatever the command line selects. */
static enum ctx_status take_figures(struct ctx_store *store, struct kept *kept, struct ctx_err *err)
{
	const struct ctx_selection_spec words = {0};
	struct ctx_selection selection;
	struct ctx_report_source *source;
	struct ctx_query_source_spec spec = {
		.store = store, .selection = &selection, .words = &words, .path = "", .options = ""};
	enum ctx_status status = ctx_selection_make(&words, ctx_store_profile(store), &selection, err);

	if (status != CTX_OK)
		return status;
	status = ctx_query_source_open(&spec, &source, err);
	if (status == CTX_OK) {
		status = read_figures(source, kept, err);
		ctx_query_source_close(source);
	}
	ctx_selection_deinit(&selection);
	return status;
}

static enum ctx_status prune(struct ctx_store *store, struct ctx_buf *image, struct ctx_err *err)
{
	struct kept kept = {.n = 0};
	struct ctx_pruned_spec spec = {.store = store, .figures = kept.figures, .levels = LEVELS};
	enum ctx_status status = take_figures(store, &kept, err);

	spec.n_figures = kept.n;
	if (status == CTX_OK)
		status = ctx_pruned_copy(&spec, image, err);
	ctx_arena_deinit(&kept.names);
	return status;
}

static enum ctx_status add_store(struct images *images, struct ctx_store *store, const char *name,
				 struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(store);
	struct image *image;
	enum ctx_status status = ctx_grow(&images->items, &images->cap, images->n + 1, err);

	if (status != CTX_OK)
		return status;
	image = &images->items[images->n++];
	*image =
		(struct image){.run = {.name = strdup(name),
				       .fingerprint = strdup(ctx_store_fingerprint(store)),
				       .has_samples = images->with_samples && !profile->losses.sample_blocks,
				       .wall_ns = profile->run.end_ns - profile->run.begin_ns,
				       .samples = profile->n_metrics != 0 ? profile->metrics[0].samples : 0}};
	if (image->run.name == NULL || image->run.fingerprint == NULL)
		return ctx_err_nomem(err);
	if (image->run.has_samples || profile->losses.sample_blocks)
		return ctx_store_image(store, &image->bytes, err);
	return prune(store, &image->bytes, err);
}

/* ---- inputs ---- */

static enum ctx_status add_archive(struct images *images, const char *path, uint32_t run, struct ctx_err *err)
{
	struct ctx_archive *archive;
	size_t only = 0;
	enum ctx_status status = ctx_archive_open(path, &archive, err);

	if (status != CTX_OK)
		return status;
	if (run != 0)
		status = ctx_archiving_choose(archive, path, run, &only, err);
	for (size_t i = 0; i < ctx_archive_n(archive) && status == CTX_OK; i++) {
		struct ctx_store *store;

		if (run != 0 && i != only)
			continue;
		status = ctx_archive_open_run(archive, i, &store, err);
		if (status != CTX_OK)
			break;
		status = add_store(images, store, ctx_archive_run(archive, i)->name, err);
		ctx_store_close(store);
	}
	ctx_archive_close(archive);
	return status;
}

static enum ctx_status add_input(struct images *images, const char *input, const struct ctx_options *options,
				 struct ctx_err *err)
{
	struct ctx_store *store;
	enum ctx_status status;

	if (ctx_archive_is(input))
		return add_archive(images, input, options->opening.run, err);
	status = ctx_opening_open(input, &options->opening, &store, err);
	if (status != CTX_OK)
		return status;
	status = add_store(images, store, input, err);
	ctx_store_close(store);
	return status;
}

/* ---- the archive ---- */

static enum ctx_status add_images(struct ctx_archive *archive, const struct images *images,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < images->n && status == CTX_OK; i++) {
		const struct image *image = &images->items[i];

		status = ctx_archive_add(archive, &image->run,
					 (struct ctx_bytes){image->bytes.bytes, image->bytes.n}, err);
	}
	return status == CTX_OK ? ctx_archive_write(archive, err) : status;
}

static enum ctx_status write_archive(const char *path, bool append, const struct images *images,
				     struct ctx_err *err)
{
	struct ctx_archive *archive;
	bool exists = access(path, F_OK) == 0;
	enum ctx_status status;

	if (exists && !ctx_archive_is(path))
		return ctx_err_set(err, CTX_E_ARG,
				   "--archive: %s exists and is not an archive of ctxan: not overwritten",
				   path);
	status = append && exists ? ctx_archive_open(path, &archive, err)
				  : ctx_archive_create(path, &archive, err);
	if (status != CTX_OK)
		return status;
	status = add_images(archive, images, err);
	ctx_archive_close(archive);
	return status;
}

enum ctx_status ctx_archiving_write(const struct ctx_options *options, struct ctx_err *err)
{
	const char *path = options->baseline.archive;
	struct images images = {.with_samples = options->baseline.with_samples};
	int lock = -1;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < options->n_inputs && status == CTX_OK; i++)
		status = add_input(&images, options->inputs[i], options, err);
	if (status == CTX_OK)
		status = ctx_archive_lock(path, &lock, err);
	if (status == CTX_OK) {
		status = write_archive(path, options->baseline.append, &images, err);
		close(lock);
	}
	images_deinit(&images);
	return status;
}

/* ---- what it says of itself ---- */

enum ctx_status ctx_archiving_choose(const struct ctx_archive *archive, const char *path, uint32_t run,
				     size_t *ret, struct ctx_err *err)
{
	if (run == 0 || run > ctx_archive_n(archive))
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s has no run %u: it has %zu", path, run,
				   ctx_archive_n(archive));
	*ret = run - 1;
	return CTX_OK;
}

static void list_text(const struct ctx_archive *archive, const char *path, FILE *out)
{
	size_t n = ctx_archive_n(archive);

	ctx_report_put_name(out, path);
	fprintf(out,
		": %zu run%s; -r REPORT shows all, --run N chooses one, --diff compares them with others\n\n",
		n, n == 1 ? "" : "s");
	fprintf(out, "%5s %12s %10s %10s  %-7s  %s\n", "Run", "Length s", "Samples", "KiB", "Kept", "Name");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_archive_run *run = ctx_archive_run(archive, i);

		fprintf(out, "%5zu %12.3f %10" PRIu64 " %10" PRIu64 "  %-7s  ", i + 1,
			(double)run->wall_ns / 1e9, run->samples, (run->packed_bytes + 1023) / 1024,
			run->has_samples ? "samples" : "trees");
		ctx_report_put_name(out, run->name);
		fputc('\n', out);
	}
}

static void list_json(const struct ctx_archive *archive, const char *path, FILE *out)
{
	fputs("{\"report\":\"archive\",\"archive\":", out);
	ctx_report_put_json_string(out, path);
	fputs(",\"rows\":[", out);
	for (size_t i = 0; i < ctx_archive_n(archive); i++) {
		const struct ctx_archive_run *run = ctx_archive_run(archive, i);

		fprintf(out, "%s\n{\"run\":%zu,\"name\":", i != 0 ? "," : "", i + 1);
		ctx_report_put_json_string(out, run->name);
		fprintf(out,
			",\"length_ns\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"bytes\":%" PRIu64
			",\"with_samples\":%s}",
			run->wall_ns, run->samples, run->packed_bytes, run->has_samples ? "true" : "false");
	}
	fputs("]}\n", out);
}

enum ctx_status ctx_archiving_list(const struct ctx_archive *archive, const char *path,
				   const struct ctx_options *options, struct ctx_err *err)
{
	if (options->report.format == CTX_REPORT_TEXT)
		list_text(archive, path, options->report.out);
	else if (options->report.format == CTX_REPORT_JSON)
		list_json(archive, path, options->report.out);
	else
		return ctx_err_set(err, CTX_E_ARG,
				   "%s is an archive, whose list is text or JSON: --run N, or --report",
				   path);
	return CTX_OK;
}
