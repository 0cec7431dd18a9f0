/*
 * Rounds: sort all names, and append a distinguishing suffix to those that occur more than once.
 *
 *	init  init  init  read        by name
 *	init [a.so]  init [a.so]  init [b.so]  read
 *	init [a.so] +0x1000  init [a.so] +0x2000  init [b.so]  read
 *
 * The last round cannot fail: it appends " #<number>", also to names that already end like that. So
 * a name with such an end has the number of its own function, and any other name is unique.
 */
#include "formats/export/export_names.h"

#include "base/mem.h"
#include "formats/export/export_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum round { BY_OBJECT, BY_OFFSET, BY_NUMBER, ROUNDS };

struct naming {
	struct ctx_export_names *names;
	const struct ctx_profile *profile;
	uint32_t *order; /* owned; functions by name */
};

static const char *name_of(const struct naming *naming, uint32_t function)
{
	return ctx_export_names_get(naming->names, function);
}

static int by_name(const void *a, const void *b, void *context)
{
	const uint32_t *left = a, *right = b;
	int order = strcmp(name_of(context, *left), name_of(context, *right));

	return order != 0 ? order : (*left > *right) - (*left < *right);
}

static void put_plain(struct naming *naming, uint32_t function)
{
	struct ctx_buf *bytes = &naming->names->bytes;
	size_t begin = bytes->n;

	ctx_export_put_name(bytes, naming->profile, function);
	while (begin < bytes->n && bytes->bytes[begin] == ' ')
		begin++;
	while (bytes->n > begin && bytes->bytes[bytes->n - 1] == ' ')
		bytes->n--;
	if (begin == bytes->n)
		ctx_buf_put_text(bytes, "<no name>");
	ctx_buf_put_u8(bytes, 0);
	naming->names->begins[function] = begin;
}

/* "anything #123" */
static bool ends_like_number(const char *name)
{
	size_t n = strlen(name), end = n;

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n < end && n >= 2 && name[n - 1] == '#' && name[n - 2] == ' ';
}

static void append(struct naming *naming, enum round round, uint32_t function)
{
	const struct ctx_function_info *info = &naming->profile->functions[function];
	struct ctx_buf *bytes = &naming->names->bytes;
	size_t old = naming->names->begins[function], begin = bytes->n;
	size_t length = strlen(name_of(naming, function));

	if (round != BY_NUMBER && (info->object == CTX_NONE || info->kind == CTX_FUNCTION_UNKNOWN))
		return;
	if (ctx_buf_reserve(bytes, length) == NULL)
		return;
	memcpy(bytes->bytes + begin, bytes->bytes + old, length);
	bytes->n += length;
	if (round == BY_OBJECT) {
		ctx_export_put_object(bytes, naming->profile, function);
	} else if (round == BY_OFFSET) {
		ctx_buf_printf(bytes, " +0x%" PRIx64, info->offset);
	} else {
		ctx_buf_printf(bytes, " #%" PRIu32, function);
	}
	ctx_buf_put_u8(bytes, 0);
	if (!bytes->failed)
		naming->names->begins[function] = begin;
}

static bool same(const struct naming *naming, uint32_t i, uint32_t j)
{
	return strcmp(name_of(naming, naming->order[i]), name_of(naming, naming->order[j])) == 0;
}

static bool is_reserved(const char *name)
{
	return strcmp(name, CTX_EXPORT_TOTAL) == 0 || strcmp(name, CTX_EXPORT_NO_STACK) == 0;
}

static void tell_apart(struct naming *naming, enum round round)
{
	uint32_t n = naming->profile->n_functions;

	qsort_r(naming->order, n, sizeof(*naming->order), by_name, naming);
	for (uint32_t begin = 0, end; begin < n; begin = end) {
		const char *name = name_of(naming, naming->order[begin]);
		bool taken = is_reserved(name) || (round == BY_NUMBER && ends_like_number(name));

		for (end = begin + 1; end < n && same(naming, begin, end); end++)
			taken = true;
		/* From the last to the first: the first is what the others are compared with. */
		for (uint32_t i = end; taken && i > begin; i--)
			append(naming, round, naming->order[i - 1]);
	}
}

enum ctx_status ctx_export_names_init(struct ctx_export_names *names, const struct ctx_profile *profile,
				      struct ctx_err *err)
{
	uint32_t *order CTX_AUTO_FREE = ctx_calloc(profile->n_functions, sizeof(*order));
	struct naming naming = {names, profile, order};
	enum ctx_status status;

	*names = (struct ctx_export_names){
		.begins = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*names->begins)),
	};
	status = order != NULL && names->begins != NULL ? CTX_OK : ctx_err_nomem(err);
	for (uint32_t i = 0; status == CTX_OK && i < profile->n_functions; i++) {
		put_plain(&naming, i);
		order[i] = i;
		status = ctx_buf_check(&names->bytes, err);
	}
	for (int round = 0; status == CTX_OK && round < ROUNDS; round++) {
		tell_apart(&naming, (enum round)round);
		status = ctx_buf_check(&names->bytes, err);
	}
	if (status == CTX_OK) {
		names->begins[profile->n_functions] = names->bytes.n;
		ctx_buf_put(&names->bytes, CTX_EXPORT_NO_STACK, sizeof(CTX_EXPORT_NO_STACK));
		status = ctx_buf_check(&names->bytes, err);
	}
	if (status != CTX_OK)
		ctx_export_names_deinit(names);
	return status;
}

void ctx_export_names_deinit(struct ctx_export_names *names)
{
	ctx_buf_deinit(&names->bytes);
	free(names->begins);
	*names = (struct ctx_export_names){0};
}

const char *ctx_export_names_get(const struct ctx_export_names *names, uint32_t function)
{
	return (const char *)names->bytes.bytes + names->begins[function];
}
