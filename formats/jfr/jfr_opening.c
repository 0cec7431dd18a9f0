/* The first pass over the chunks: what they say of themselves, before their events are handed out. */
#include "formats/jfr/jfr_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/utc.h"
#include "model/traced_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 64u
#define LANE_LIFE 0xffffffu /* no thread of Java has this number */

/* --- chunks --- */

/* A line about a chunk, with its file and offset. */
static enum ctx_status note(struct ctx_jfr_reader *reader, size_t place, uint64_t offset, const char *text,
			    struct ctx_err *err)
{
	const struct ctx_jfr_place *at = &reader->files.places[place];
	struct ctx_buf *notes = &reader->files.notes;
	unsigned long long from = at->offset + offset;

	if (reader->note_at++ >= NOTES_MAX)
		return CTX_OK;
	ctx_buf_printf(notes, "%s: offset %llu: %s", ctx_path_base(reader->files.paths[at->file]), from,
		       text);
	ctx_buf_put_u8(notes, 0);
	return ctx_buf_check(notes, err);
}

/* One line for the first damage of a chunk, which explains the rest. */
static enum ctx_status note_damage(struct ctx_jfr_reader *reader, size_t place,
				   const struct ctx_jfr_chunk *chunk, struct ctx_err *err)
{
	const struct ctx_jfr_header *header = &chunk->header;
	uint64_t n_damaged = chunk->damaged + reader->parts[place].facts.damaged;
	char text[160];

	if (header->size > chunk->n)
		snprintf(text, sizeof(text),
			 "chunk of %llu bytes is cut after %llu: its whole events are read",
			 (unsigned long long)header->size, (unsigned long long)chunk->n);
	else if (chunk->end < chunk->n)
		snprintf(text, sizeof(text),
			 "chunk is damaged there, or was not finished: what comes before is read");
	else if (n_damaged != 0)
		snprintf(text, sizeof(text), "%llu events of the chunk cannot be read",
			 (unsigned long long)n_damaged);
	else
		return CTX_OK;
	return note(reader, place, header->size > chunk->n || chunk->end == chunk->n ? 0 : chunk->end, text,
		    err);
}

static enum ctx_status scan_chunk(struct ctx_jfr_reader *reader, size_t place, struct ctx_buf *bytes,
				  struct ctx_err *err)
{
	struct ctx_jfr_part *part = &reader->parts[place];
	struct ctx_jfr_chunk chunk CTX_CLEANUP(ctx_jfr_chunk_deinit) = {
		.header = reader->files.places[place].header};
	enum ctx_status status = ctx_jfr_files_read(&reader->files, place, bytes, err);
	struct ctx_err why = {0};
	char text[160];

	if (status != CTX_OK)
		return status;
	chunk.bytes = bytes->bytes;
	chunk.n = bytes->n;
	status = bytes->n >= CTX_JFR_HEADER_BYTES ? ctx_jfr_chunk_open(&chunk, &why)
						  : ctx_err_set(&why, CTX_E_FORMAT, "no header");
	if (status == CTX_E_FORMAT) {
		snprintf(text, sizeof(text), "nothing of the chunk can be read: %.100s", why.msg);
		return note(reader, place, 0, text, err);
	}
	if (status == CTX_OK)
		status = ctx_jfr_facts_read(&part->facts, &chunk, &why);
	if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", why.msg);
	part->is_used = true;
	return note_damage(reader, place, &chunk, err);
}

/* --- virtual machines --- */

static enum ctx_status set_command(struct ctx_jfr_vm *vm, const struct ctx_jfr_facts *facts,
				   struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const char *parts[] = {facts->vm_arguments, facts->java_arguments};

	ctx_buf_put_text(&text, "java");
	for (size_t i = 0; i < CTX_COUNT_OF(parts); i++) {
		if (parts[i] != NULL && parts[i][0] != '\0')
			ctx_buf_printf(&text, " %s", parts[i]);
	}
	ctx_buf_put_u8(&text, 0);
	vm->command = ctx_memdup0(text.bytes, text.n);
	return vm->command != NULL && !text.failed ? CTX_OK : ctx_err_nomem(err);
}

/* The VM of a pid and a start; a new one has a lane for what its events say of the whole VM. */
static enum ctx_status find_vm(struct ctx_jfr_reader *reader, const struct ctx_jfr_facts *facts,
			       uint32_t *ret, struct ctx_err *err)
{
	struct ctx_jfr_thread lane = {.life = LANE_LIFE, .tid = facts->pid, .name = "<JVM>"};
	uint64_t key[] = {(uint64_t)facts->pid, facts->vm_start_ms};
	enum ctx_status status = ctx_strtab_add(&reader->vm_keys, (const char *)key, sizeof(key), ret, err);

	if (status != CTX_OK || *ret < reader->n_vms)
		return status;
	status = ctx_grow(&reader->vms, &reader->vms_cap, reader->n_vms + 1, err);
	if (status != CTX_OK)
		return status;
	reader->vms[reader->n_vms] =
		(struct ctx_jfr_vm){.pid = facts->pid, .info = ctx_vm_info_make(CTX_NONE, 0)};
	lane.vm = (uint32_t)reader->n_vms++;
	status = set_command(&reader->vms[lane.vm], facts, err);
	return status == CTX_OK
		       ? ctx_jfr_names_add_thread(&reader->names, &lane, &reader->vms[lane.vm].lane, err)
		       : status;
}

/* What the last chunks say counts. */
static void update_vm(struct ctx_vm_info *info, const struct ctx_jfr_facts *facts)
{
	struct ctx_vm_info more = ctx_vm_info_make(CTX_NONE, 0);

	if (facts->has_vm) {
		more.name = facts->vm_name;
		more.version = facts->vm_version;
		more.command = facts->java_arguments;
	}
	if (facts->gc != NULL)
		more.collector = facts->gc;
	for (size_t i = 0; i < CTX_VM_FIGURE_N; i++) {
		if (facts->figures[i] != 0)
			more.figures[i] = facts->figures[i];
	}
	ctx_vm_info_update(info, &more);
}

/*
 * A chunk that does not tell its VM is of the one of the chunk before it in its file, else of one of its own; and what
 * it does not tell of sampling is as before.
 */
static enum ctx_status assign_vms(struct ctx_jfr_reader *reader, struct ctx_err *err)
{
	const struct ctx_jfr_place *places = reader->files.places;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->files.n_places && status == CTX_OK; i++) {
		struct ctx_jfr_part *part = &reader->parts[i];
		size_t before = i;

		while (before-- > 0 && places[before].file != places[i].file)
			;
		if (before == SIZE_MAX || part->facts.has_vm) {
			status = find_vm(reader, &part->facts, &part->vm, err);
			if (before == SIZE_MAX || reader->parts[before].vm != part->vm)
				continue;
		}
		part->vm = reader->parts[before].vm;
		for (size_t j = 0; j < CTX_JFR_METRIC_N; j++) {
			if (part->facts.period_ns[j] == 0)
				part->facts.period_ns[j] = reader->parts[before].facts.period_ns[j];
		}
	}
	return status;
}

/* --- what the source says of itself --- */

static bool is_periodic(enum ctx_jfr_metric metric)
{
	return metric == CTX_JFR_METRIC_JAVA || metric == CTX_JFR_METRIC_NATIVE ||
	       metric == CTX_JFR_METRIC_WALL;
}

/* Whether the periods of all samples of a metric are known; where they are not, samples are counted. */
static bool has_periods(struct ctx_jfr_reader *reader, enum ctx_jfr_metric metric)
{
	bool all = true;

	for (size_t i = 0; i < reader->files.n_places; i++) {
		const struct ctx_jfr_facts *facts = &reader->parts[i].facts;

		all &= !facts->has[metric] || (facts->period_ns[metric] != 0 && !facts->is_counting);
	}
	for (size_t i = 0; i < reader->files.n_places && !all; i++)
		reader->parts[i].facts.period_ns[metric] = 0;
	return all;
}

static bool has(const struct ctx_jfr_reader *reader, size_t metric)
{
	bool any = false;

	for (size_t i = 0; i < reader->files.n_places; i++)
		any |= reader->parts[i].facts.has[metric];
	return any;
}

static bool has_traced(const struct ctx_jfr_reader *reader, size_t kind)
{
	bool any = false;

	for (size_t i = 0; i < reader->files.n_places; i++)
		any |= reader->parts[i].facts.has_traced[kind];
	return any;
}

static enum ctx_status add_metrics(struct ctx_jfr_reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->named.source.info;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_JFR_METRIC_N && status == CTX_OK; i++) {
		const struct ctx_jfr_metric_type *type = &ctx_jfr_metric_types[i];
		bool is_counted =
			is_periodic((enum ctx_jfr_metric)i) && !has_periods(reader, (enum ctx_jfr_metric)i);

		if (!has(reader, i))
			continue;
		status =
			ctx_named_metric(&reader->named, type->name,
					 is_counted ? CTX_UNIT_EVENTS : type->unit, &reader->metrics[i], err);
		if (status != CTX_OK)
			return status;
		info->metrics[reader->metrics[i]].word = type->word;
		info->metrics[reader->metrics[i]].kind = is_counted ? CTX_METRIC_EVENTS : type->kind;
	}
	for (size_t kind = 0; kind < CTX_TRACED_N && status == CTX_OK; kind++) {
		struct ctx_traced_metrics metrics = ctx_traced_metrics((enum ctx_traced_kind)kind);

		reader->first_traced[kind] = info->n_metrics;
		for (uint32_t i = 0; i < metrics.n && has_traced(reader, kind) && status == CTX_OK; i++) {
			uint32_t id;

			status = ctx_named_metric(&reader->named, metrics.items[i].name,
						  metrics.items[i].unit, &id, err);
		}
		if (status == CTX_OK && has_traced(reader, kind))
			ctx_traced_metrics_append((enum ctx_traced_kind)kind,
						  info->metrics + reader->first_traced[kind],
						  reader->first_traced[kind]);
	}
	return status;
}

static enum ctx_status add_properties(struct ctx_jfr_reader *reader, struct ctx_err *err)
{
	const struct ctx_jfr_facts *facts = NULL;
	struct ctx_named *named = &reader->named;
	enum ctx_status status = CTX_OK;
	char text[CTX_UTC_MAX];

	for (size_t i = 0; i < reader->files.n_places && facts == NULL; i++)
		facts = reader->parts[i].facts.has_vm ? &reader->parts[i].facts : NULL;
	if (facts != NULL && facts->vm_version[0] != '\0')
		status = ctx_named_property(named, "collector", facts->vm_version, err);
	if (status == CTX_OK && facts != NULL)
		status = ctx_named_property(named, "command", reader->vms[0].command, err);
	if (status == CTX_OK && ctx_utc_stamp((int64_t)(reader->begin_ns / 1000000000), text))
		status = ctx_named_property(named, "start", text, err);
	return status;
}

/* The times of the recording: of its chunks, and of all events. */
static bool set_times(struct ctx_jfr_reader *reader)
{
	struct ctx_source_info *info = &reader->named.source.info;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (size_t i = 0; i < reader->files.n_places; i++) {
		const struct ctx_jfr_header *header = &reader->files.places[i].header;
		const struct ctx_jfr_facts *facts = &reader->parts[i].facts;
		uint64_t chunk_end_ns = header->start_ns + header->duration_ns;

		if (!reader->parts[i].is_used)
			continue;
		begin_ns = header->start_ns < begin_ns ? header->start_ns : begin_ns;
		begin_ns = facts->begin_ns < begin_ns ? facts->begin_ns : begin_ns;
		end_ns = chunk_end_ns > end_ns ? chunk_end_ns : end_ns;
		end_ns = facts->end_ns > end_ns ? facts->end_ns : end_ns;
	}
	reader->begin_ns = begin_ns;
	info->duration_ns = end_ns - begin_ns + 1;
	info->clock = (struct ctx_source_clock){.wall_ns = begin_ns};
	return begin_ns <= end_ns;
}

enum ctx_status ctx_jfr_reader_open(struct ctx_jfr_reader *reader, const char *path, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->named.source.info;
	struct ctx_buf bytes CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_jfr_files_find(&reader->files, path, err);

	if (status != CTX_OK)
		return status;
	reader->parts = ctx_calloc(reader->files.n_places, sizeof(*reader->parts));
	if (reader->parts == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < reader->files.n_places && status == CTX_OK; i++)
		status = scan_chunk(reader, i, &bytes, err);
	reader->note_at = 0;
	if (status != CTX_OK)
		return status;
	if (!set_times(reader))
		return ctx_err_set(err, CTX_E_FORMAT, "%s", (const char *)reader->files.notes.bytes);
	status = assign_vms(reader, err);
	if (status == CTX_OK)
		status = add_metrics(reader, err);
	if (status == CTX_OK)
		status = add_properties(reader, err);
	for (size_t i = 0; i < reader->files.n_places && status == CTX_OK; i++)
		update_vm(&reader->vms[reader->parts[i].vm].info, &reader->parts[i].facts);
	info->format = "JFR 2";
	info->bytes = reader->files.bytes;
	info->n_threads = 0;
	return status;
}
