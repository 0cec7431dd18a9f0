#include "compare/matching.h"

#include "base/mem.h"
#include "base/strtab.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char DELETED[] = " (deleted)", INLINED[] = " (inlined)";

static size_t without(const char *text, size_t n, const char *suffix)
{
	size_t length = strlen(suffix);

	return n > length && memcmp(text + n - length, suffix, length) == 0 ? n - length : n;
}

void ctx_match_put_object(struct ctx_buf *buf, const char *path)
{
	const char *slash = path[0] == '[' ? NULL : strrchr(path, '/'), *so, *version;
	const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
	size_t n = without(name, strlen(name), DELETED);

	if (strncmp(name, "[kernel", 7) == 0) { /* [kernel.kallsyms], [kernel]_text */
		ctx_buf_printf(buf, "[kernel]");
		return;
	}
	/* "libz.so.1.2.13" and "libc-2.31.so". */
	so = memmem(name, n, ".so", 3);
	if (so == NULL || (so + 3 != name + n && so[3] != '.')) {
		ctx_buf_put(buf, name, n);
		return;
	}
	version = memrchr(name, '-', (size_t)(so - name));
	if (version != NULL && isdigit((unsigned char)version[1]))
		so = version;
	ctx_buf_put(buf, name, (size_t)(so - name));
	ctx_buf_put(buf, ".so", 3);
}

static const char *object_of(const struct ctx_profile *profile, const struct ctx_function_info *function)
{
	return function->object != CTX_NONE ? profile->objects[function->object].path : "";
}

/* Without the last mark of a clone and its number, ".isra.0"; the same length: it has none. */
static size_t without_clone(const char *name, size_t n)
{
	static const char *const MARKS[] = {".constprop", ".isra", ".part", ".cold", ".llvm", ".lto_priv"};

	for (size_t i = 0; i < CTX_COUNT_OF(MARKS); i++) {
		size_t length = strlen(MARKS[i]), at = n;

		while (at > 0 && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == '.'))
			at--;
		if (at > length && memcmp(name + at - length, MARKS[i], length) == 0)
			return at - length;
	}
	return n;
}

size_t ctx_match_without_clones(const char *name, size_t n)
{
	static const char CLONE[] = " [clone ";
	const char *clone = memmem(name, n, CLONE, sizeof(CLONE) - 1);

	if (clone != NULL && clone != name && name[n - 1] == ']')
		n = (size_t)(clone - name);
	for (size_t less; (less = without_clone(name, n)) != n;)
		n = less;
	return n;
}

/* What a pass compares. */
enum key {
	BY_NAME,
	BY_LINKAGE_NAME,
	BY_NAME_OF_CLONES,
	BY_BUILD_ID,
	BY_NAME_ALONE,
	N_KEYS,
	BY_OBJECT = N_KEYS
};

struct work {
	const struct ctx_match_spec *spec;
	const struct ctx_match_recording *recordings;
	struct ctx_matching *matching;
	enum ctx_match_subject subject;
	struct ctx_strtab names;
	struct ctx_strtab objects;
	unsigned *object_sides; /* by name of `objects` */
	size_t object_sides_cap;
	size_t items_cap;
	struct ctx_buf text;
};

static void work_deinit(struct work *work)
{
	ctx_strtab_deinit(&work->names);
	ctx_strtab_deinit(&work->objects);
	free(work->object_sides);
	ctx_buf_deinit(&work->text);
}

/* Whether a function has what a pass compares. */
static bool has_key(const struct ctx_profile *profile, const struct ctx_function_info *function, enum key key)
{
	return key != BY_BUILD_ID || (function->object != CTX_NONE && !function->inlined &&
				      profile->objects[function->object].build_id[0] != '\0');
}

/* Fills work->text. */
static void put_key(struct work *work, const struct ctx_profile *profile,
		    const struct ctx_function_info *function, enum key key)
{
	const char *name = key == BY_LINKAGE_NAME ? function->linkage_name : function->name;
	struct ctx_buf *buf = &work->text;
	size_t n = without(name, strlen(name), INLINED);

	ctx_buf_clear(buf);
	if (key == BY_OBJECT && function->object != CTX_NONE) {
		ctx_match_put_object(buf, object_of(profile, function));
		return;
	}
	if (key == BY_BUILD_ID) {
		ctx_buf_put_text(buf, profile->objects[function->object].build_id);
		ctx_buf_put_u64(buf, function->offset);
		return;
	}
	if (key != BY_NAME_ALONE) {
		ctx_match_put_object(buf, object_of(profile, function));
		ctx_buf_put_u8(buf, '\0');
	}
	if (key == BY_NAME_OF_CLONES)
		n = ctx_match_without_clones(name, n);
	ctx_renames_put(key != BY_LINKAGE_NAME ? work->spec->renames : NULL, name, n, buf);
}

static enum ctx_status name_of(struct work *work, struct ctx_strtab *table, uint32_t *ret_id,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(&work->text, err);

	if (status != CTX_OK)
		return status;
	return ctx_strtab_add(table, (const char *)work->text.bytes, work->text.n, ret_id, err);
}

static enum ctx_status see_objects(struct work *work, const struct ctx_match_recording *recording,
				   struct ctx_err *err)
{
	for (uint32_t i = 0; i < recording->profile->n_objects; i++) {
		size_t before = work->objects.n;
		enum ctx_status status;
		uint32_t id;

		ctx_buf_clear(&work->text);
		ctx_match_put_object(&work->text, recording->profile->objects[i].path);
		status = name_of(work, &work->objects, &id, err);
		if (status == CTX_OK && work->objects.n != before)
			status = ctx_grow(&work->object_sides, &work->object_sides_cap, work->objects.n, err);
		if (status != CTX_OK)
			return status;
		if (work->objects.n != before)
			work->object_sides[id] = 0;
		work->object_sides[id] |= 1u << recording->side;
	}
	return CTX_OK;
}

/* The first pass: every function gets the item of its object and name. */
static enum ctx_status add_functions(struct work *work, size_t at, struct ctx_err *err)
{
	const struct ctx_match_recording *recording = &work->recordings[at];
	const struct ctx_profile *profile = recording->profile;
	struct ctx_matching *matching = work->matching;
	uint32_t *item_of = ctx_calloc(profile->n_functions + 1, sizeof(*item_of));

	if (item_of == NULL)
		return ctx_err_nomem(err);
	matching->item_of[at] = item_of;
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		enum ctx_status status;

		put_key(work, profile, &profile->functions[i],
			work->subject == CTX_MATCH_OBJECTS ? BY_OBJECT : BY_NAME);
		status = name_of(work, &work->names, &item_of[i], err);
		if (status == CTX_OK)
			status = ctx_grow(&matching->items, &work->items_cap, work->names.n, err);
		if (status != CTX_OK)
			return status;
		if (matching->n_items < work->names.n)
			matching->items[matching->n_items++] =
				(struct ctx_match_item){.profile = profile, .function = i};
		matching->items[item_of[i]].sides |= 1u << recording->side;
	}
	return CTX_OK;
}

static bool object_is_on(struct work *work, const struct ctx_match_item *item, unsigned sides)
{
	uint32_t id;

	ctx_buf_clear(&work->text);
	ctx_match_put_object(&work->text,
			     object_of(item->profile, &item->profile->functions[item->function]));
	if (work->text.failed)
		return false;
	id = ctx_strtab_find(&work->objects, (const char *)work->text.bytes, work->text.n);
	return id != UINT32_MAX && work->object_sides[id] == sides;
}

/* The items of one name that are on one side only; CTX_NONE: none. */
struct pair {
	uint32_t item[CTX_COMPARE_SIDES];
	bool several[CTX_COMPARE_SIDES];
};

/* A further pass: two items that are each on one side only, and the only ones of their name there, are one. */
static enum ctx_status join_pass(struct work *work, enum key key, uint32_t *joined, struct ctx_err *err)
{
	struct ctx_matching *matching = work->matching;
	struct pair *pairs CTX_AUTO_FREE = ctx_calloc((size_t)matching->n_items + 1, sizeof(*pairs));
	struct ctx_strtab names = {0};
	enum ctx_status status = pairs != NULL ? CTX_OK : ctx_err_nomem(err);

	for (uint32_t i = 0; i < matching->n_items && status == CTX_OK; i++) {
		const struct ctx_match_item *item = &matching->items[i];
		const struct ctx_function_info *function = &item->profile->functions[item->function];
		enum ctx_compare_side side =
			item->sides == 1u << CTX_COMPARE_B ? CTX_COMPARE_B : CTX_COMPARE_A;
		size_t before = names.n;
		uint32_t id;

		if (item->sides != 1u << side || joined[i] != i || function->kind != CTX_FUNCTION_ORDINARY)
			continue;
		if (!has_key(item->profile, function, key) ||
		    (key == BY_NAME_ALONE && !object_is_on(work, item, item->sides)))
			continue;
		put_key(work, item->profile, function, key);
		status = name_of(work, &names, &id, err);
		if (status != CTX_OK)
			break;
		if (names.n != before)
			pairs[id] = (struct pair){.item = {CTX_NONE, CTX_NONE}};
		pairs[id].several[side] = pairs[id].item[side] != CTX_NONE;
		pairs[id].item[side] = i;
	}
	for (size_t i = 0; i < names.n && status == CTX_OK; i++) {
		uint32_t a = pairs[i].item[CTX_COMPARE_A], b = pairs[i].item[CTX_COMPARE_B];

		if (a == CTX_NONE || b == CTX_NONE || pairs[i].several[0] || pairs[i].several[1])
			continue;
		joined[a < b ? b : a] = a < b ? a : b;
		matching->items[a < b ? a : b].sides |= 1u << CTX_COMPARE_A | 1u << CTX_COMPARE_B;
	}
	ctx_strtab_deinit(&names);
	return status;
}

/* Numbers the items that are left; those that were joined get the number of the one they joined. */
static void renumber(struct work *work, const uint32_t *joined, uint32_t *number)
{
	struct ctx_matching *matching = work->matching;
	uint32_t n = 0;

	for (uint32_t i = 0; i < matching->n_items; i++) {
		if (joined[i] != i) {
			number[i] = number[joined[i]];
			continue;
		}
		matching->items[n] = matching->items[i];
		number[i] = n++;
	}
	matching->n_items = n;
	for (size_t r = 0; r < matching->n_recordings; r++) {
		for (uint32_t i = 0; i < work->recordings[r].profile->n_functions; i++)
			matching->item_of[r][i] = number[matching->item_of[r][i]];
	}
}

static enum ctx_status join_items(struct work *work, struct ctx_err *err)
{
	size_t n = work->matching->n_items;
	uint32_t *joined CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*joined));
	uint32_t *number CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*number));
	enum ctx_status status = CTX_OK;

	if (joined == NULL || number == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		joined[i] = i;
	for (enum key key = BY_LINKAGE_NAME; key < N_KEYS && status == CTX_OK; key++)
		status = join_pass(work, key, joined, err);
	if (status == CTX_OK)
		renumber(work, joined, number);
	return status;
}

enum ctx_status ctx_matching_make(const struct ctx_match_spec *spec, struct ctx_matching *ret,
				  struct ctx_err *err)
{
	const struct ctx_match_recording *recordings = spec->recordings;
	struct work work = {
		.spec = spec, .recordings = recordings, .matching = ret, .subject = spec->subject};
	enum ctx_status status = CTX_OK;
	size_t n = spec->n;

	*ret = (struct ctx_matching){.item_of = ctx_calloc(n + 1, sizeof(*ret->item_of)), .n_recordings = n};
	if (ret->item_of == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = see_objects(&work, &recordings[i], err);
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = add_functions(&work, i, err);
	if (status == CTX_OK && spec->subject == CTX_MATCH_FUNCTIONS)
		status = join_items(&work, err);
	work_deinit(&work);
	if (status != CTX_OK)
		ctx_matching_deinit(ret);
	return status;
}

void ctx_matching_deinit(struct ctx_matching *matching)
{
	for (size_t i = 0; i < matching->n_recordings && matching->item_of != NULL; i++)
		free(matching->item_of[i]);
	free(matching->item_of);
	free(matching->items);
	*matching = (struct ctx_matching){0};
}
