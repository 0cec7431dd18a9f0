#include "report/data_sums.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define NEAR ((uint64_t)1 << 31) /* from code of a load object to its data */

struct collecting {
	struct ctx_data_sums *sums;
	const struct ctx_data_namer *namer;
	const struct ctx_profile *profile;
	const struct ctx_code *code;
	const struct ctx_mapping_info *mappings;
	size_t n_mappings;
	struct ctx_map64 row_of_code, row_of_data; /* by a hash of instruction, address: member, or UNKNOWN */
};

#define UNKNOWN (CTX_MAP64_NONE - 1)

/* The row of an object and a member, added if it is new. */
static enum ctx_status member_row(struct ctx_data_sums *sums, const struct ctx_data_row *wanted, size_t *ret,
				  struct ctx_err *err)
{
	enum ctx_status status;
	size_t i = 0;

	while (i < sums->n_members &&
	       !(sums->members[i].object == wanted->object && sums->members[i].member == wanted->member &&
		 sums->members[i].offset == wanted->offset))
		i++;
	*ret = i;
	if (i < sums->n_members)
		return CTX_OK;
	status = ctx_grow(&sums->members, &sums->members_cap, sums->n_members + 1, err);
	if (status == CTX_OK)
		sums->members[sums->n_members++] = *wanted;
	return status;
}

static enum ctx_status text_of(struct ctx_data_sums *sums, const char *text, const char **ret,
			       struct ctx_err *err)
{
	uint32_t id;
	enum ctx_status status = ctx_strtab_add_text(&sums->texts, text, &id, err);

	if (status == CTX_OK)
		*ret = sums->texts.strings[id];
	return status;
}

/* Names that two load objects have are one. */
static enum ctx_status row_of_name(struct ctx_data_sums *sums, const struct ctx_data_name *name, size_t *ret,
				   struct ctx_err *err)
{
	struct ctx_data_row row = {.offset = name->offset, .size = name->size};
	enum ctx_status status =
		text_of(sums, name->object != NULL ? name->object : CTX_DATA_SCALARS, &row.object, err);

	if (status == CTX_OK)
		status = text_of(sums, name->member != NULL ? name->member : CTX_DATA_PADDING, &row.member,
				 err);
	return status == CTX_OK ? member_row(sums, &row, ret, err) : status;
}

/* Where the data is: in a load object that is mapped in the process near it. */
static bool find_data(const struct collecting *collecting, const struct ctx_traced *access,
		      struct ctx_data_question *question)
{
	uint32_t process = ctx_profile_process_of(collecting->profile, access->thread);

	for (size_t i = 0; i < collecting->n_mappings; i++) {
		const struct ctx_mapping_info *mapping = &collecting->mappings[i];
		struct ctx_data_map map = {mapping->object, mapping->address, mapping->file_offset};
		uint64_t distance = access->address > mapping->address ? access->address - mapping->address
								       : mapping->address - access->address;

		if (mapping->process != process || distance > NEAR ||
		    access->time_ns < mapping->life.begin_ns || access->time_ns >= mapping->life.end_ns)
			continue;
		question->has_data = collecting->namer->locate(collecting->namer->context, &map,
							       access->address, &question->data);
		question->data_object = mapping->object;
		if (question->has_data)
			return true;
	}
	return false;
}

static void find_code(const struct collecting *collecting, const struct ctx_traced *access,
		      struct ctx_data_question *question)
{
	const struct ctx_code *code = collecting->code;
	uint32_t location = access->raw_stack != CTX_TRIE_ROOT && access->raw_stack < code->raw_stacks->n
				    ? code->raw_stacks->key[access->raw_stack]
				    : CTX_NONE;

	if (location >= code->n_locations || code->locations[location].object == CTX_NONE)
		return;
	question->has_code = true;
	question->object = code->locations[location].object;
	question->code = code->locations[location].address;
	/* Processors that say more are precise; a page fault is of the instruction that will be tried again. */
	question->is_behind =
		access->operation != CTX_MEMORY_FAULT && access->detail == 0 && access->latency == 0;
}

/* *ret: a member's row, or UNKNOWN. */
static enum ctx_status ask(struct collecting *collecting, const struct ctx_data_question *question,
			   uint32_t *ret, struct ctx_err *err)
{
	struct ctx_data_name name;
	struct ctx_err local = {0};
	enum ctx_status status = collecting->namer->name(collecting->namer->context, question, &name, &local);
	size_t row = 0;

	*ret = UNKNOWN;
	if (status == CTX_E_NOMEM || (status != CTX_OK && status != CTX_E_NOTFOUND))
		return ctx_err_set(err, status, "%s", local.msg);
	if (status != CTX_OK)
		return CTX_OK;
	status = row_of_name(collecting->sums, &name, &row, err);
	*ret = (uint32_t)row;
	return status;
}

/* A place of a map, whose key is the question; equal ones are the same but for collisions of 64 bits. */
static enum ctx_status answer(struct collecting *collecting, const struct ctx_traced *access, uint32_t *ret,
			      struct ctx_err *err)
{
	struct ctx_data_question question = {0};
	struct ctx_map64 *map;
	uint32_t *place;
	enum ctx_status status;
	uint64_t key;

	find_code(collecting, access, &question);
	if (find_data(collecting, access, &question)) {
		map = &collecting->row_of_data;
		key = question.data ^ ctx_hash64(question.data_object + 1);
	} else if (question.has_code) {
		map = &collecting->row_of_code;
		key = question.code ^ ctx_hash64((uint64_t)question.object << 1 | question.is_behind);
	} else {
		*ret = UNKNOWN;
		return CTX_OK;
	}
	*ret = ctx_map64_get(map, key);
	if (*ret != CTX_MAP64_NONE)
		return CTX_OK;
	status = ask(collecting, &question, ret, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(map, key);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret;
	return CTX_OK;
}

static enum ctx_status sum_objects(struct ctx_data_sums *sums, const struct ctx_traced_page *page,
				   const uint32_t *rows, struct ctx_err *err)
{
	const struct ctx_report_traced *traced = &page->traced;

	for (size_t i = 0; i < traced->n; i++) {
		const char *object;
		size_t k = 0;

		if (rows[i] == CTX_MAP64_NONE)
			continue;
		object = sums->members[rows[i]].object;
		while (k < sums->n_objects && sums->objects[k].object != object)
			k++;
		if (k == sums->n_objects) {
			enum ctx_status status =
				ctx_grow(&sums->objects, &sums->objects_cap, sums->n_objects + 1, err);

			if (status != CTX_OK)
				return status;
			sums->objects[sums->n_objects++] = (struct ctx_data_row){.object = object};
		}
		ctx_traced_add(&sums->objects[k].sums, &traced->items[i]);
	}
	return CTX_OK;
}

static enum ctx_status unknown_row(struct ctx_data_sums *sums, size_t *ret, struct ctx_err *err)
{
	struct ctx_data_row row = {0};
	enum ctx_status status = text_of(sums, CTX_DATA_UNKNOWN_OBJECT, &row.object, err);

	return status == CTX_OK ? member_row(sums, &row, ret, err) : status;
}

static enum ctx_status collect(struct collecting *collecting, struct ctx_traced_page *page, uint32_t *rows,
			       struct ctx_err *err)
{
	struct ctx_data_sums *sums = collecting->sums;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < page->traced.n && status == CTX_OK; i++) {
		const struct ctx_traced *access = &page->traced.items[i];
		size_t row = 0;

		rows[i] = CTX_MAP64_NONE;
		if (!ctx_traced_passes(page, access))
			continue;
		status = answer(collecting, access, &rows[i], err);
		if (status == CTX_OK && rows[i] == UNKNOWN) {
			status = unknown_row(sums, &row, err);
			rows[i] = (uint32_t)row;
			sums->no_debug++;
		}
		if (status != CTX_OK)
			return status;
		ctx_traced_add(&sums->members[rows[i]].sums, access);
		ctx_traced_add(&page->total, access);
	}
	return status == CTX_OK ? sum_objects(sums, page, rows, err) : status;
}

enum ctx_status ctx_data_sums_collect(struct ctx_data_sums *sums, struct ctx_report_source *source,
				      struct ctx_traced_page *page, struct ctx_err *err)
{
	struct collecting collecting = {.sums = sums, .namer = source->data_namer, .profile = page->profile};
	uint32_t *rows CTX_AUTO_FREE = ctx_calloc(page->traced.n + 1, sizeof(*rows));
	struct ctx_report_code code;
	enum ctx_status status;

	if (source->data_namer == NULL)
		return ctx_err_set(err, CTX_E_ARG, "data objects are not available here");
	if (rows == NULL)
		return ctx_err_nomem(err);
	status = source->code(source, &code, err);
	if (status == CTX_OK)
		status = source->mappings(source, &collecting.mappings, &collecting.n_mappings, err);
	if (status != CTX_OK)
		return status;
	collecting.code = code.code;
	status = collect(&collecting, page, rows, err);
	ctx_map64_deinit(&collecting.row_of_code);
	ctx_map64_deinit(&collecting.row_of_data);
	return status;
}

void ctx_data_sums_deinit(struct ctx_data_sums *sums)
{
	free(sums->members);
	free(sums->objects);
	ctx_strtab_deinit(&sums->texts);
	*sums = (struct ctx_data_sums){0};
}
