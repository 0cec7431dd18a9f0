#include "ingest/joint_place.h"

#include <string.h>

#define APART_MAX_NS 10000000000 /* of two clocks that should agree: more means another boot */
#define OFFSET_MAX ((int64_t)1 << 62)

static bool is_timeless(const struct ctx_source_info *info)
{
	return info->duration_ns <= 1;
}

static bool is_same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* b - a; false: more than it can hold. */
static bool difference(uint64_t a, uint64_t b, int64_t *ret)
{
	*ret = (int64_t)(b - a); /* modulo 2^64 */
	return (b >= a) == (*ret >= 0) && *ret > -OFFSET_MAX && *ret < OFFSET_MAX;
}

/* From the begin of one recording to that of another; NULL: they have no clock in common. */
static const char *between(const struct ctx_source_clock *a, const struct ctx_source_clock *b, int64_t *ret)
{
	int64_t wall = 0, own = 0;
	bool has_wall = a->wall_ns != 0 && b->wall_ns != 0 && difference(a->wall_ns, b->wall_ns, &wall);
	bool has_own = is_same(a->name, b->name) && is_same(a->host, b->host) &&
		       difference(a->begin_ns, b->begin_ns, &own);

	if (has_own && has_wall && (own - wall > APART_MAX_NS || wall - own > APART_MAX_NS))
		has_own = false;
	*ret = has_own ? own : wall;
	return has_own ? b->name : has_wall ? "the wall clock" : NULL;
}

/* By the first of those placed before it that has a clock in common. */
static enum ctx_status place_one(struct ctx_joint_input *inputs, size_t at, struct ctx_err *err)
{
	struct ctx_joint_input *input = &inputs[at];
	const char *before = NULL;

	for (size_t i = 0; i < at; i++) {
		int64_t ns;

		if (is_timeless(&inputs[i].source->info))
			continue;
		before = before == NULL ? inputs[i].name : before;
		input->placed = between(&inputs[i].source->info.clock, &input->source->info.clock, &ns);
		if (input->placed == NULL)
			continue;
		if (__builtin_add_overflow(inputs[i].offset_ns, ns, &input->offset_ns) ||
		    input->offset_ns <= -OFFSET_MAX || input->offset_ns >= OFFSET_MAX)
			return ctx_err_set(err, CTX_E_ARG, "--merge: %s lies more than a hundred years away",
					   input->name);
		return CTX_OK;
	}
	input->offset_ns = 0;
	input->placed = "";
	if (before == NULL)
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG,
			   "--merge: %s has no clock in common with %s (perf record -k CLOCK_MONOTONIC gives "
			   "one): --offset %s=NS says how many ns after it it begins",
			   input->name, before, input->name);
}

enum ctx_status ctx_joint_place(struct ctx_joint_input *inputs, size_t n, struct ctx_err *err)
{
	int64_t earliest = INT64_MAX;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (inputs[i].has_offset)
			inputs[i].placed = "--offset";
		else if (!is_timeless(&inputs[i].source->info))
			status = place_one(inputs, i, err);
	}
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		bool counts = inputs[i].has_offset || !is_timeless(&inputs[i].source->info);

		if (counts && inputs[i].offset_ns < earliest)
			earliest = inputs[i].offset_ns;
	}
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (inputs[i].has_offset || !is_timeless(&inputs[i].source->info)) {
			inputs[i].offset_ns -= earliest;
		} else {
			inputs[i].offset_ns = 0;
			inputs[i].placed = "no times";
		}
	}
	return status;
}
