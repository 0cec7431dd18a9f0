#include "formats/jfr/jfr.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/jfr/jfr_reader.h"

#include <stdlib.h>
#include <string.h>

#define SLACK_NS 1000000000u /* by which an event of a chunk may be earlier than the chunk */

static void destroy(struct ctx_named *named)
{
	struct ctx_jfr_reader *reader = (struct ctx_jfr_reader *)named;

	for (size_t i = 0; reader->parts != NULL && i < reader->files.n_places; i++)
		ctx_jfr_facts_deinit(&reader->parts[i].facts);
	for (size_t i = 0; i < reader->n_vms; i++)
		free(reader->vms[i].command);
	free(reader->parts);
	free(reader->vms);
	free(reader->lives);
	free(reader->records.items);
	ctx_strtab_deinit(&reader->vm_keys);
	ctx_jfr_names_deinit(&reader->names);
	ctx_jfr_files_deinit(&reader->files);
	ctx_named_deinit(named);
	free(reader);
}

/* --- reading --- */

/* Adds the records of the next chunk. */
static enum ctx_status load(struct ctx_jfr_reader *reader, struct ctx_err *err)
{
	size_t place = reader->next_place++;
	struct ctx_jfr_part *part = &reader->parts[place];
	struct ctx_buf bytes CTX_AUTO_BUF = {0};
	struct ctx_jfr_chunk chunk CTX_CLEANUP(ctx_jfr_chunk_deinit) = {
		.header = reader->files.places[place].header};
	struct ctx_jfr_reading reading = {.names = &reader->names,
					  .records = &reader->records,
					  .facts = &part->facts,
					  .lane = reader->vms[part->vm].lane};
	enum ctx_status status;

	reader->bytes += reader->files.places[place].n;
	if (!part->is_used)
		return CTX_OK;
	status = ctx_jfr_files_read(&reader->files, place, &bytes, err);
	if (status != CTX_OK)
		return status;
	chunk.bytes = bytes.bytes;
	chunk.n = bytes.n;
	status = bytes.n >= CTX_JFR_HEADER_BYTES ? ctx_jfr_chunk_open(&chunk, err)
						 : ctx_err_set(err, CTX_E_FORMAT, "has changed");
	if (status == CTX_E_FORMAT)
		return CTX_OK; /* the file has changed since it was opened */
	if (status == CTX_OK)
		status = ctx_jfr_records_read(&reading, &(struct ctx_jfr_owner){&chunk, part->vm}, err);
	return status;
}

/* Until when all records are there: no chunk that comes has earlier ones. */
static uint64_t complete_until(const struct ctx_jfr_reader *reader)
{
	uint64_t start_ns;

	if (reader->next_place == reader->files.n_places)
		return UINT64_MAX;
	start_ns = reader->files.places[reader->next_place].header.start_ns;
	return start_ns > SLACK_NS ? start_ns - SLACK_NS : 0;
}

/* The earliest of the records from `first` on, or `earliest`. */
static uint64_t earliest_of(const struct ctx_jfr_records *records, size_t first, uint64_t earliest)
{
	for (size_t i = first; i < records->n; i++)
		earliest = records->items[i].time_ns < earliest ? records->items[i].time_ns : earliest;
	return earliest;
}

/* Chunks until a record can be handed out: those that overlap are sorted once. */
static enum ctx_status load_more(struct ctx_jfr_reader *reader, struct ctx_err *err)
{
	struct ctx_jfr_records *records = &reader->records;
	uint64_t earliest_ns;
	enum ctx_status status = CTX_OK;

	if (records->n != 0)
		memmove(records->items, records->items + reader->at,
			(records->n - reader->at) * sizeof(*records->items));
	records->n -= reader->at;
	reader->at = 0;
	earliest_ns = earliest_of(records, 0, UINT64_MAX);
	while (status == CTX_OK && reader->next_place < reader->files.n_places &&
	       earliest_ns >= complete_until(reader)) {
		size_t n = records->n;

		status = load(reader, err);
		earliest_ns = earliest_of(records, n, earliest_ns);
	}
	ctx_jfr_records_sort(records);
	return status;
}

static enum ctx_status end(struct ctx_jfr_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (reader->is_ended)
		return CTX_END;
	reader->is_ended = true;
	if (reader->names.missing != 0)
		status = ctx_named_warn(
			&reader->named, err,
			"%llu threads, call stacks or methods are numbers that the recorder did "
			"not explain",
			(unsigned long long)reader->names.missing);
	if (status == CTX_OK && reader->impossible != 0)
		status = ctx_named_damage(&reader->named, err, "%llu events have impossible weights or times",
					  (unsigned long long)reader->impossible);
	return status == CTX_OK ? CTX_END : status;
}

static enum ctx_status read_on(struct ctx_named *named, struct ctx_err *err)
{
	struct ctx_jfr_reader *reader = (struct ctx_jfr_reader *)named;
	const struct ctx_buf *notes = &reader->files.notes;
	enum ctx_status status = CTX_OK;

	if (reader->note_at < notes->n) {
		const char *text = (const char *)notes->bytes + reader->note_at;

		reader->note_at += strlen(text) + 1;
		return ctx_named_damage(named, err, "%s", text);
	}
	while (status == CTX_OK && (reader->at == reader->records.n ||
				    reader->records.items[reader->at].time_ns >= complete_until(reader))) {
		if (reader->next_place == reader->files.n_places)
			return end(reader, err);
		status = load_more(reader, err);
	}
	return status == CTX_OK ? ctx_jfr_reader_emit(reader, &reader->records.items[reader->at++], err)
				: status;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct ctx_jfr_reader *reader = source->impl;

	return reader->bytes;
}

/* --- public --- */

bool ctx_jfr_is(const char *path)
{
	return ctx_jfr_files_is(path);
}

enum ctx_status ctx_jfr_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	return ctx_jfr_files_fingerprint(path, ret, err);
}

enum ctx_status ctx_jfr_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_jfr_reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->named.read = read_on;
	reader->named.destroy = destroy;
	reader->named.source.progress = progress;
	reader->names.named = &reader->named;
	ctx_named_init(&reader->named);
	status = ctx_jfr_reader_open(reader, path, err);
	if (status != CTX_OK) {
		destroy(&reader->named);
		return status;
	}
	reader->named.source.info.name = ctx_path_base(path);
	*ret = &reader->named.source;
	return CTX_OK;
}
