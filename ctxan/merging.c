#include "ctxan/merging.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/joint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int64_t ns;
} units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

/* A whole number of ns, or of another unit that is named. */
static bool read_ns(const char *text, int64_t *ret)
{
	char *end;
	int64_t number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || errno != 0)
		return false;
	for (size_t i = 0; i < CTX_COUNT_OF(units); i++) {
		if (strcmp(end, units[i].name) == 0)
			return !__builtin_mul_overflow(number, units[i].ns, ret) && *ret > INT64_MIN / 4 &&
			       *ret < INT64_MAX / 4;
	}
	return false;
}

/* The recording of that name; n: none. */
static size_t find(const struct ctx_merging_part *parts, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(parts[i].path, name) == 0)
			return i;
	}
	for (size_t i = 0; i < n; i++) {
		if (strcmp(ctx_path_base(parts[i].path), name) == 0)
			return i;
	}
	return n;
}

static enum ctx_status set_offset(const struct ctx_merging_part *parts, size_t n, const char *offset,
				  struct ctx_joint_input *inputs, struct ctx_err *err)
{
	const char *sign = strrchr(offset, '=');
	char *name CTX_AUTO_FREE = sign != NULL ? strndup(offset, (size_t)(sign - offset)) : NULL;
	size_t at;

	if (sign == NULL)
		return ctx_err_set(err, CTX_E_ARG, "--offset '%s': expected FILE=NS", offset);
	if (name == NULL)
		return ctx_err_nomem(err);
	at = find(parts, n, name);
	if (at == n)
		return ctx_err_set(err, CTX_E_ARG, "--offset %s: no recording '%s' is merged", offset, name);
	inputs[at].has_offset = true;
	if (!read_ns(sign + 1, &inputs[at].offset_ns))
		return ctx_err_set(err, CTX_E_ARG,
				   "--offset %s: expected a whole number of ns, us, ms or s, such as 1500ms",
				   offset);
	return CTX_OK;
}

static enum ctx_status merge(struct ctx_merging *merging, const struct ctx_merging_part *parts,
			     const struct ctx_merging_offsets *offsets, struct ctx_err *err)
{
	struct ctx_joint_input *inputs CTX_AUTO_FREE = ctx_calloc(merging->n, sizeof(*inputs));
	enum ctx_status status = CTX_OK;

	if (inputs == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < merging->n; i++) {
		inputs[i].source = merging->inputs[i].source;
		inputs[i].name = parts[i].path;
	}
	for (size_t i = 0; i < offsets->n && status == CTX_OK; i++)
		status = set_offset(parts, merging->n, offsets->items[i], inputs, err);
	if (status == CTX_OK)
		status = ctx_joint_place(inputs, merging->n, err);
	if (status == CTX_OK)
		status = ctx_joint_open(inputs, merging->n, &merging->source, err);
	for (size_t i = 0; i < merging->n && status == CTX_OK; i++)
		merging->inputs[i].source = NULL;
	return status;
}

enum ctx_status ctx_merging_open(struct ctx_merging *merging, const struct ctx_merging_part *parts, size_t n,
				 const struct ctx_merging_offsets *offsets, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*merging = (struct ctx_merging){.inputs = ctx_calloc(n, sizeof(*merging->inputs))};
	if (merging->inputs == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		merging->inputs[merging->n++] = (struct ctx_input)CTX_INPUT_CLOSED;
		status = ctx_input_open(&merging->inputs[i], parts[i].path, parts[i].format, err);
	}
	if (status != CTX_OK || n != 1)
		return status == CTX_OK ? merge(merging, parts, offsets, err) : status;
	merging->source = merging->inputs[0].source;
	merging->inputs[0].source = NULL;
	return CTX_OK;
}

void ctx_merging_close(struct ctx_merging *merging)
{
	if (merging->source != NULL)
		merging->source->close(merging->source);
	for (size_t i = 0; i < merging->n; i++)
		ctx_input_close(&merging->inputs[i]);
	free(merging->inputs);
	*merging = (struct ctx_merging){0};
}
