#include "formats/gprofng/gp_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/gprofng/gp_labels.h"

#include <stdio.h>
#include <string.h>

#define NOTES_BYTES_MAX ((size_t)1 << 20)
#define SAMPLES_MAX 100u /* with a name of their own, in the header */

/* Notes */

/* Notes of several experiments follow one another, each after the experiment's name. */
static enum ctx_status add_notes(const struct ctx_gp_experiment *experiment, bool with_name,
				 struct ctx_buf *out, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "notes");
	struct ctx_buf text = {0};
	enum ctx_status status;

	if (path == NULL)
		return ctx_err_nomem(err);
	status = ctx_file_read(path, NOTES_BYTES_MAX, &text, NULL);
	if (status == CTX_OK && text.n != 0) {
		if (with_name)
			ctx_buf_printf(out, "%s%s:\n", out->n != 0 ? "\n" : "",
				       ctx_path_base(experiment->path));
		ctx_buf_put(out, text.bytes, text.n);
	}
	ctx_buf_deinit(&text);
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
}

static enum ctx_status read_notes(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	const struct ctx_gp_experiments *experiments = &reader->experiments;
	struct ctx_buf all = {0};
	size_t n_root_processes = 0;
	enum ctx_status status = CTX_OK;

	reader->source.info.notes = "";
	for (size_t i = 0; i < experiments->n; i++)
		n_root_processes += experiments->items[i]->root_process == i;
	for (size_t i = 0; i < experiments->n && status == CTX_OK && all.n < NOTES_BYTES_MAX; i++) {
		if (experiments->items[i]->root_process == i)
			status = add_notes(experiments->items[i], n_root_processes > 1, &all, err);
	}
	if (status == CTX_OK)
		status = ctx_buf_check(&all, err);
	if (status == CTX_OK && all.n != 0) {
		const char *notes = ctx_arena_strndup(&reader->arena, (const char *)all.bytes, all.n);

		if (notes == NULL)
			status = ctx_err_nomem(err);
		else
			reader->source.info.notes = notes;
	}
	ctx_buf_deinit(&all);
	return status;
}

/* Labels */

/*
 * "name: 100.000:200.000 ms, comment"; the times are those of the recording, as --interval takes
 * them.
 */
static enum ctx_status interval_property(struct ctx_gp_reader *reader,
					 const struct ctx_gp_experiment *experiment,
					 const struct ctx_gp_interval *interval, struct ctx_err *err)
{
	char times[80] = "";
	double begin_ms = (double)(experiment->shift_ns + interval->begin_ns) / 1e6;

	if (interval->has_end)
		snprintf(times, sizeof(times), " %.3f:%.3f ms", begin_ms,
			 (double)(experiment->shift_ns + interval->end_ns) / 1e6);
	else if (interval->has_begin)
		snprintf(times, sizeof(times), " %.3f: ms", begin_ms);
	return ctx_gp_property(reader, err, "label", "%.400s:%s%s%.1000s", interval->name, times,
			       interval->comment[0] == '\0' ? ""
			       : times[0] != '\0'	    ? ", "
							    : " ",
			       interval->comment);
}

static enum ctx_status read_labels(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				   struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "labels.xml");
	struct ctx_gp_intervals intervals = {0};
	struct ctx_gp_xml xml = {0};
	char prefix[256];
	struct ctx_err why = {0};
	enum ctx_status status = path != NULL ? ctx_gp_xml_open(&xml, path, &why) : CTX_E_NOMEM;

	if (status == CTX_E_NOTFOUND)
		return CTX_OK;
	if (status == CTX_OK)
		status = ctx_gp_intervals_parse(&intervals, &xml, &experiment->log, &why);
	ctx_gp_xml_deinit(&xml);
	for (size_t i = 0; i < intervals.n && status == CTX_OK; i++)
		status = interval_property(reader, experiment, &intervals.items[i], &why);
	if (status == CTX_OK && intervals.damaged != 0)
		status = ctx_err_set(&why, CTX_E_FORMAT, "labels.xml: %llu labels that make no sense",
				     (unsigned long long)intervals.damaged);
	ctx_gp_intervals_deinit(&intervals);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	return status == CTX_OK
		       ? CTX_OK
		       : ctx_gp_experiments_damage(&reader->experiments, err, "%s%s",
						   ctx_gp_experiment_prefix(experiment, prefix), why.msg);
}

/* Samples taken by the program or the user; the collector's own are recognised by their names. */
static bool is_own(const char *label)
{
	return label[0] == '\0' || strcmp(label, "periodic") == 0 || strncmp(label, "collector_", 10) == 0;
}

static enum ctx_status name_samples(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				    struct ctx_err *err)
{
	const struct ctx_gp_log *log = &experiment->log;
	size_t listed = 0;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < log->n_labels && listed < SAMPLES_MAX && status == CTX_OK; i++) {
		const struct ctx_gp_label *label = &log->labels[i];

		if (is_own(label->label))
			continue;
		listed++;
		status = ctx_gp_property(reader, err, "sample", "%llu ends at %.3f ms: %.400s",
					 (unsigned long long)label->id,
					 (double)(experiment->shift_ns + label->time_ns) / 1e6, label->label);
	}
	return status;
}

enum ctx_status ctx_gp_notes_read(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	const struct ctx_gp_experiments *experiments = &reader->experiments;
	enum ctx_status status = read_notes(reader, err);

	for (size_t i = 0; i < experiments->n && status == CTX_OK; i++) {
		const struct ctx_gp_experiment *item = experiments->items[i];

		if (item->root_process == i)
			status = read_labels(reader, item, err);
		if (status == CTX_OK && item->root_process == i)
			status = name_samples(reader, item, err);
	}
	return status;
}
