#include "formats/perfdata/pd_opening.h"

#include "formats/perfdata/pd_scan.h"

/* Copies the damage of the features, from the header or from records. */
static enum ctx_status take_damage(struct ctx_pd_file *file, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < file->facts.damage.n && status == CTX_OK; i++)
		status = ctx_pd_file_damage(file, file->facts.damage.lines[i], err);
	return status;
}

static enum ctx_status take_times(struct ctx_pd_file *file, struct ctx_err *err)
{
	const struct ctx_pd_facts *facts = &file->facts;
	enum ctx_status status;

	for (size_t i = 0; i < file->n_parts; i++)
		file->bytes += file->parts[i].end - file->parts[i].begin;
	status = ctx_pd_events_settle(&file->events, err);
	if (status != CTX_OK)
		return status;
	file->first_sample = facts->clock.first_sample_ns;
	file->last_sample = facts->clock.last_sample_ns;
	if (file->pipe || file->last_sample == 0 || file->last_sample == UINT64_MAX)
		status = ctx_pd_scan(file, err);
	return status;
}

enum ctx_status ctx_pd_file_open(struct ctx_pd_file *file, const char *path, struct ctx_err *err)
{
	enum ctx_status status = ctx_pd_file_list(file, path, err);

	if (status == CTX_OK)
		status = ctx_pd_file_read(file, err);
	if (status == CTX_OK)
		status = take_times(file, err);
	if (status == CTX_OK)
		status = take_damage(file, err);
	if (status == CTX_OK && file->events.n == 0)
		status = ctx_err_set(err, CTX_E_FORMAT, "%s: no event is described in it", path);
	return status;
}
