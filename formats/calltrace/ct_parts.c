#include "formats/calltrace/ct_parts.h"

#include "base/heap.h"
#include "base/mem.h"

#define CPUS_MAX 4096u
#define COUNTERS_MAX 64u

struct ctx_ct_next {
	uint64_t time_ns;
	uint32_t part;
};

void ctx_ct_parts_deinit(struct ctx_ct_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		ctx_ct_lines_deinit(&parts->items[i].lines);
	free(parts->items);
	free(parts->heap);
	parts->items = NULL;
	parts->heap = NULL;
	parts->n = parts->cap = parts->n_heap = 0;
}

/* --- finding them --- */

static enum ctx_status add_part(struct ctx_ct_parts *parts, const struct ctx_ct_part *part,
				struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&parts->items, &parts->cap, parts->n + 1, err);

	if (parts->n == CTX_CT_PARTS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: more than %u parts", parts->name, CTX_CT_PARTS_MAX);
	if (status == CTX_OK)
		parts->items[parts->n++] = *part;
	return status;
}

struct finding {
	struct ctx_ct_part last; /* the part that the lines are in */
	bool cpus[CPUS_MAX];
};

static enum ctx_status find_in_line(struct ctx_ct_parts *parts, struct finding *finding,
				    const struct ctx_ct_line *line, struct ctx_err *err)
{
	struct ctx_ct_parser parser = {0};
	struct ctx_ct_record record;
	enum ctx_status status = CTX_OK;

	if (parts->dialect->parse(&parser, (struct ctx_ct_text){line->text, line->n}, &record) != NULL)
		return CTX_OK;
	if (parts->dialect->has_parts && record.kind == CTX_CT_PART) {
		finding->last.range.end_offset = line->offset;
		status = add_part(parts, &finding->last, err);
		finding->last.range =
			(struct ctx_ct_range){.begin_offset = line->offset, .first_line = line->number};
	}
	if (parts->dialect->by_processor && record.kind != CTX_CT_NOTHING && record.number < CPUS_MAX)
		finding->cpus[record.number] = true;
	return status;
}

enum ctx_status ctx_ct_parts_find(struct ctx_ct_parts *parts, uint64_t size, struct ctx_err *err)
{
	const struct ctx_ct_range all = {.end_offset = size, .first_line = 1};
	struct finding *finding CTX_AUTO_FREE = ctx_calloc(1, sizeof(*finding));
	struct ctx_ct_lines lines;
	struct ctx_ct_line line;
	enum ctx_status status;

	if (finding == NULL)
		return ctx_err_nomem(err);
	finding->last.range = all;
	if (!parts->dialect->has_parts && !parts->dialect->by_processor)
		return add_part(parts, &finding->last, err);
	status = ctx_ct_lines_init(&lines, parts->fd, parts->name, &all, err);
	while (status == CTX_OK && (status = ctx_ct_lines_next(&lines, &line, err)) == CTX_OK)
		status = find_in_line(parts, finding, &line, err);
	ctx_ct_lines_deinit(&lines);
	if (status != CTX_END)
		return status;
	finding->last.range.end_offset = size;
	if (parts->dialect->has_parts)
		return add_part(parts, &finding->last, err);
	status = CTX_OK;
	for (uint64_t cpu = 0; cpu < CPUS_MAX && status == CTX_OK; cpu++) {
		finding->last.only_cpu = cpu + 1;
		if (finding->cpus[cpu])
			status = add_part(parts, &finding->last, err);
	}
	return status;
}

/* --- reading them --- */

/* The next record of a part. CTX_END: it has no more. */
static enum ctx_status read_record(struct ctx_ct_parts *parts, struct ctx_ct_part *part,
				   const struct ctx_ct_bad_lines *bad, struct ctx_err *err)
{
	struct ctx_ct_line line;
	enum ctx_status status;

	while ((status = ctx_ct_lines_next(&part->lines, &line, err)) == CTX_OK) {
		const struct ctx_ct_text text = {line.text, line.n};
		const char *why = line.cut ? "it is too long"
					   : parts->dialect->parse(&part->parser, text, &part->record);

		if (why != NULL) {
			if (bad != NULL && !bad->each(bad->context, &line, why))
				return ctx_err_nomem(err);
			continue;
		}
		if (part->record.kind != CTX_CT_NOTHING && part->record.kind != CTX_CT_PART)
			return CTX_OK;
	}
	return status;
}

static enum ctx_status rewind_part(const struct ctx_ct_parts *parts, struct ctx_ct_part *part,
				   struct ctx_err *err)
{
	ctx_ct_lines_deinit(&part->lines);
	part->parser = (struct ctx_ct_parser){.only_cpu = part->only_cpu};
	return ctx_ct_lines_init(&part->lines, parts->fd, parts->name, &part->range, err);
}

static enum ctx_status measure_record(const struct ctx_ct_record *record, struct ctx_ct_contents *ret,
				      struct ctx_err *err)
{
	uint64_t end_ns = record->time_ns + (record->kind == CTX_CT_LEAF ? record->duration_ns : 0);
	uint32_t unused;

	if (ret->begin_ns > record->time_ns)
		ret->begin_ns = record->time_ns;
	if (ret->end_ns < end_ns)
		ret->end_ns = end_ns;
	ret->samples += record->kind == CTX_CT_SAMPLE;
	ret->changes += record->kind == CTX_CT_ON || record->kind == CTX_CT_OFF;
	return record->kind == CTX_CT_COUNT && ret->counters.n < COUNTERS_MAX
		       ? ctx_strtab_add(&ret->counters, record->name.at, record->name.n, &unused, err)
		       : CTX_OK;
}

enum ctx_status ctx_ct_parts_measure(struct ctx_ct_parts *parts, struct ctx_ct_contents *ret,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_ct_contents){.begin_ns = UINT64_MAX};
	for (size_t i = 0; i < parts->n && status == CTX_OK; i++) {
		struct ctx_ct_part *part = &parts->items[i];

		status = rewind_part(parts, part, err);
		while (status == CTX_OK && (status = read_record(parts, part, NULL, err)) == CTX_OK)
			status = measure_record(&part->record, ret, err);
		ctx_ct_lines_deinit(&part->lines);
		status = status == CTX_END ? CTX_OK : status;
	}
	return status;
}

static bool is_before(const void *a, const void *b)
{
	const struct ctx_ct_next *left = a, *right = b;

	return left->time_ns != right->time_ns ? left->time_ns < right->time_ns : left->part < right->part;
}

enum ctx_status ctx_ct_parts_begin(struct ctx_ct_parts *parts, const struct ctx_ct_bad_lines *bad,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	free(parts->heap);
	parts->n_heap = 0;
	parts->heap = ctx_calloc(parts->n, sizeof(*parts->heap));
	if (parts->heap == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < parts->n && status == CTX_OK; i++) {
		struct ctx_ct_part *part = &parts->items[i];

		status = rewind_part(parts, part, err);
		if (status == CTX_OK)
			status = read_record(parts, part, bad, err);
		if (status == CTX_OK) {
			parts->heap[parts->n_heap++] =
				(struct ctx_ct_next){part->record.time_ns, (uint32_t)i};
			ctx_heap_rise(parts->heap, parts->n_heap, sizeof(*parts->heap), is_before);
		}
		status = status == CTX_END ? CTX_OK : status;
	}
	return status;
}

enum ctx_status ctx_ct_parts_next(struct ctx_ct_parts *parts, const struct ctx_ct_bad_lines *bad,
				  const struct ctx_ct_record **ret, struct ctx_err *err)
{
	struct ctx_ct_part *part;
	enum ctx_status status;

	/* The one that was returned last is read only now: its text was borrowed. */
	if (*ret != NULL) {
		part = &parts->items[parts->heap[0].part];
		status = read_record(parts, part, bad, err);
		if (status == CTX_END) {
			ctx_ct_lines_deinit(&part->lines);
			parts->heap[0] = parts->heap[--parts->n_heap];
		} else if (status != CTX_OK) {
			return status;
		} else {
			parts->heap[0].time_ns = part->record.time_ns;
		}
		ctx_heap_sink(parts->heap, parts->n_heap, sizeof(*parts->heap), is_before);
	}
	if (parts->n_heap == 0)
		return CTX_END;
	*ret = &parts->items[parts->heap[0].part].record;
	return CTX_OK;
}

uint64_t ctx_ct_parts_progress(const struct ctx_ct_parts *parts)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < parts->n; i++)
		bytes += parts->items[i].lines.offset;
	return parts->n != 0 ? bytes / parts->n : 0;
}
