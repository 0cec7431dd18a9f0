#include "compare/diff_lines.h"

#include "base/mem.h"
#include "compare/line_matching.h"

#include <stdlib.h>
#include <string.h>

#define OWN_LINE 0x80000000u /* of a line of side A that side B does not have */

/* A file of both sides, by its name. */
struct source {
	size_t recording[CTX_COMPARE_SIDES]; /* the first that has it; SIZE_MAX: none */
	uint32_t file[CTX_COMPARE_SIDES];    /* there */
	bool several;			     /* files of this name on a side */
	uint32_t *b_of_a;		     /* owned; by line of A; NULL: the texts are not known */
	size_t n_lines;			     /* of it */
};

struct work {
	const struct ctx_diff_items_spec *spec;
	struct ctx_diff_items *items;
	struct ctx_report_code *codes; /* by recording */
	uint32_t **source_of;	       /* by recording, by file */
	struct ctx_strtab names;
	struct source *sources; /* by name */
	size_t sources_cap;
	size_t at;
	const struct ctx_code *code; /* of the recording `at` */
};

static void work_deinit(struct work *work)
{
	for (size_t i = 0; i < work->names.n; i++)
		free(work->sources[i].b_of_a);
	for (size_t i = 0; i < work->spec->n && work->source_of != NULL; i++)
		free(work->source_of[i]);
	free(work->source_of);
	free(work->codes);
	free(work->sources);
	ctx_strtab_deinit(&work->names);
}

/* ---- files ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* The file of that name; the recording's own paths tell whether a side has several. */
static enum ctx_status see_file(struct work *work, size_t at, uint32_t file, struct ctx_err *err)
{
	enum ctx_compare_side side = work->spec->sides[at];
	const char *path = work->codes[at].code->files[file].path, *base = base_of(path);
	size_t before = work->names.n;
	struct source *source;
	uint32_t id;
	enum ctx_status status = ctx_grow(&work->sources, &work->sources_cap, before + 1, err);

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&work->names, base, &id, err);
	if (status != CTX_OK)
		return status;
	source = &work->sources[id];
	if (work->names.n != before)
		*source = (struct source){.recording = {SIZE_MAX, SIZE_MAX}};
	if (source->recording[side] == SIZE_MAX) {
		source->recording[side] = at;
		source->file[side] = file;
	} else if (source->recording[side] == at)
		source->several |= strcmp(work->codes[at].code->files[source->file[side]].path, path) != 0;
	work->source_of[at][file] = id;
	return CTX_OK;
}

static enum ctx_status see_files(struct work *work, size_t at, struct ctx_err *err)
{
	struct ctx_report_source *source = work->spec->sources[at];
	enum ctx_status status = source->code(source, &work->codes[at], err);

	if (status != CTX_OK)
		return status;
	if (work->codes[at].code == NULL)
		return ctx_err_set(err, CTX_E_ARG, "%s: the addresses of the samples are not known",
				   source->selection.path);
	work->source_of[at] = ctx_calloc(work->codes[at].code->n_files + 1, sizeof(*work->source_of[at]));
	if (work->source_of[at] == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < work->codes[at].code->n_files && status == CTX_OK; i++)
		status = see_file(work, at, i, err);
	return status;
}

/* A text that lives on; CTX_OK with NULL: there is none. */
static enum ctx_status read_text(struct work *work, const struct source *source, enum ctx_compare_side side,
				 struct ctx_line_text *ret, struct ctx_err *err)
{
	const struct ctx_code_reader *reader = work->codes[source->recording[side]].reader;
	const char *text;
	char *copy;
	enum ctx_status status;

	*ret = (struct ctx_line_text){0};
	if (reader == NULL)
		return CTX_OK;
	status = reader->text(reader->context, source->file[side], &text, &ret->n, err);
	if (status != CTX_OK)
		return status == CTX_E_NOTFOUND ? CTX_OK : status;
	copy = ctx_calloc(ret->n + 1, 1);
	if (copy == NULL)
		return ctx_err_nomem(err);
	memcpy(copy, text, ret->n);
	ret->text = copy;
	return CTX_OK;
}

static enum ctx_status match_texts(struct work *work, struct source *source, struct ctx_err *err)
{
	struct ctx_line_text texts[CTX_COMPARE_SIDES] = {{0}};
	enum ctx_status status = CTX_OK;

	for (int side = 0; side < CTX_COMPARE_SIDES; side++) {
		if (source->several || source->recording[side] == SIZE_MAX)
			return CTX_OK;
	}
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES && status == CTX_OK; side++)
		status = read_text(work, source, side, &texts[side], err);
	if (status == CTX_OK && texts[CTX_COMPARE_A].text != NULL && texts[CTX_COMPARE_B].text != NULL)
		status = ctx_lines_match(texts[CTX_COMPARE_A], texts[CTX_COMPARE_B], &source->b_of_a,
					 &source->n_lines, err);
	for (int side = 0; side < CTX_COMPARE_SIDES; side++)
		free((char *)(uintptr_t)texts[side].text);
	return status;
}

/* ---- lines ---- */

struct place {
	uint32_t function, file, line; /* file CTX_NONE: no line */
};

static enum ctx_status find_line(struct work *work, struct place place, uint32_t *ret_item,
				 struct ctx_err *err)
{
	enum ctx_compare_side side = work->spec->sides[work->at];
	bool known = place.file != CTX_NONE && place.line != 0;
	uint32_t id = known ? work->source_of[work->at][place.file] : CTX_NONE, line = known ? place.line : 0;
	const struct source *source = known ? &work->sources[id] : NULL;
	uint32_t key[] = {work->items->matching.item_of[work->at][place.function], id, line};
	struct ctx_diff_item *item;
	enum ctx_status status;

	/* The line's number on side B, if it is there. */
	if (known && side == CTX_COMPARE_A && source->b_of_a != NULL) {
		uint32_t b = line < source->n_lines ? source->b_of_a[line] : 0;

		key[2] = b != 0 ? b : line | OWN_LINE;
	}
	status = ctx_diff_items_find(work->items, (struct ctx_bytes){key, sizeof(key)}, ret_item, err);
	if (status != CTX_OK)
		return status;
	item = &work->items->items[*ret_item];
	if (item->profile == NULL) {
		item->profile = work->spec->sources[work->at]->selection.profile;
		item->function = place.function;
		item->file = known ? work->code->files[place.file].path : NULL;
	}
	item->sides |= 1u << side;
	item->line[side] = line;
	return CTX_OK;
}

static enum ctx_status wrong_code(const struct work *work, const char *what, size_t id, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "%s: %s %zu: an id does not exist",
			   work->spec->sources[work->at]->selection.path, what, id);
}

/* Items of all sites; a place without one is the function's. */
static enum ctx_status find_sites(struct work *work, uint32_t *item_of_site, struct ctx_err *err)
{
	uint32_t n_functions = work->spec->sources[work->at]->selection.profile->n_functions;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < work->code->n_sites && status == CTX_OK; i++) {
		const struct ctx_site *site = &work->code->sites[i];

		if (site->function >= n_functions || (site->caller != CTX_NONE && site->caller >= i) ||
		    (site->file != CTX_NONE && site->file >= work->code->n_files))
			return wrong_code(work, "site", i, err);
		status = find_line(work, (struct place){site->function, site->file, site->line},
				   &item_of_site[i], err);
	}
	return status;
}

static enum ctx_status find_locations(struct work *work, uint32_t *item_of_location, struct ctx_err *err)
{
	uint32_t n_functions = work->spec->sources[work->at]->selection.profile->n_functions;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < work->code->n_locations && status == CTX_OK; i++) {
		const struct ctx_location *location = &work->code->locations[i];

		item_of_location[i] = CTX_NONE;
		if (location->joins)
			continue;
		if ((location->site != CTX_NONE && location->site >= work->code->n_sites) ||
		    (location->function != CTX_NONE && location->function >= n_functions))
			return wrong_code(work, "location", i, err);
		if (location->site == CTX_NONE && location->function != CTX_NONE)
			status = find_line(work, (struct place){location->function, CTX_NONE, 0},
					   &item_of_location[i], err);
	}
	return status;
}

static enum ctx_status add_link(struct work *work, uint32_t item, uint32_t *link, struct ctx_err *err)
{
	struct ctx_diff_recording *recording = &work->items->recordings[work->at];

	if (item == CTX_NONE || ctx_diff_has_item(recording, *link, item))
		return CTX_OK;
	return ctx_diff_link_add(recording, (struct ctx_diff_link){item, *link}, link, err);
}

/* Of the frames: *link is what is above, and becomes that with this location's lines. */
static enum ctx_status link_location(struct work *work, const uint32_t *item_of, uint32_t location,
				     uint32_t *link, struct ctx_err *err)
{
	const uint32_t *item_of_site = item_of, *item_of_location = item_of + work->code->n_sites;
	uint32_t site = work->code->locations[location].site;
	enum ctx_status status = CTX_OK;

	if (!work->spec->total)
		*link = CTX_NONE;
	if (site == CTX_NONE)
		return add_link(work, item_of_location[location], link, err);
	for (; site != CTX_NONE && status == CTX_OK; site = work->code->sites[site].caller) {
		status = add_link(work, item_of_site[site], link, err);
		if (!work->spec->total)
			break;
	}
	return status;
}

static enum ctx_status link_stacks(struct work *work, struct ctx_err *err)
{
	const struct ctx_code *code = work->code;
	struct ctx_diff_recording *recording = &work->items->recordings[work->at];
	const struct ctx_trie *raw = code->raw_stacks;
	uint32_t *item_of CTX_AUTO_FREE = ctx_calloc(code->n_sites + code->n_locations + 1, sizeof(*item_of));
	uint32_t *first = ctx_calloc((size_t)raw->n + 1, sizeof(*first));
	enum ctx_status status;

	recording->tables[0] = first;
	recording->n_streams = 1;
	recording->streams[0] = (struct ctx_diff_stream){
		.metric = CTX_NONE, .key = CTX_DIFF_BY_RAW_STACK, .first = first, .n_keys = raw->n};
	if (item_of == NULL || first == NULL)
		return ctx_err_nomem(err);
	status = find_sites(work, item_of, err);
	if (status == CTX_OK)
		status = find_locations(work, item_of + code->n_sites, err);
	first[0] = CTX_NONE;
	for (uint32_t node = 1; node < raw->n && status == CTX_OK; node++) {
		if (raw->key[node] >= code->n_locations)
			return wrong_code(work, "raw stack", node, err);
		first[node] = first[raw->parent[node]];
		if (!code->locations[raw->key[node]].joins)
			status = link_location(work, item_of, raw->key[node], &first[node], err);
	}
	return status;
}

enum ctx_status ctx_diff_lines_link(const struct ctx_diff_items_spec *spec, struct ctx_diff_items *items,
				    struct ctx_err *err)
{
	struct work work = {.spec = spec, .items = items};
	enum ctx_status status = CTX_OK;

	work.codes = ctx_calloc(spec->n, sizeof(*work.codes));
	work.source_of = ctx_calloc(spec->n, sizeof(*work.source_of));
	if (work.codes == NULL || work.source_of == NULL)
		status = ctx_err_nomem(err);
	for (size_t i = 0; i < spec->n && status == CTX_OK; i++)
		status = see_files(&work, i, err);
	for (size_t i = 0; i < work.names.n && status == CTX_OK; i++)
		status = match_texts(&work, &work.sources[i], err);
	for (size_t i = 0; i < spec->n && status == CTX_OK; i++) {
		work.at = i;
		work.code = work.codes[i].code;
		status = link_stacks(&work, err);
	}
	work_deinit(&work);
	return status;
}
