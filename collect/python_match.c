#include "collect/python_match.h"

#include "model/event_source.h"

static bool is_eval(const struct ctx_python_native *native, size_t i)
{
	return native->frames[i] >= native->eval_begin && native->frames[i] < native->eval_end;
}

/* The loop has entered a function's frame after so many bytes of its code. */
#define PROLOGUE_BYTES 256u

/*
 * Whether the leaf of the user's part is the loop itself: it may be in its first or last instructions. `begins`: in the
 * first ones.
 */
static bool is_leaf_eval(const struct ctx_python_native *native, bool begins)
{
	size_t i = 0;

	while (i < native->n && native->frames[i] >= CTX_KERNEL_START &&
	       !ctx_frame_is_mark(native->frames[i]))
		i++;
	return i < native->n && is_eval(native, i) &&
	       (!begins || native->frames[i] - native->eval_begin < PROLOGUE_BYTES);
}

/* Whether callers are missing. */
static bool is_cut(const struct ctx_python_native *native)
{
	for (size_t i = 0; i < native->n; i++) {
		if (ctx_frame_is_mark(native->frames[i]) && native->frames[i] != CTX_FRAME_JOINED)
			return true;
	}
	return false;
}

/* How many calls of the loop, from the leaf on, have no frames; n_evals: it does not match. */
static size_t find_skipped(const struct ctx_python_native *native, const struct ctx_python_named *named,
			   size_t n_evals, size_t n_entries)
{
	bool open = named->is_cut || (named->n != 0 && !named->is_entry[named->n - 1]);

	if (n_evals == 0 || named->n == 0)
		return n_evals;
	if (is_cut(native) || open)
		return is_leaf_eval(native, false) ? n_evals : 0;
	if (n_evals == n_entries)
		return 0;
	return n_evals == n_entries + 1 && is_leaf_eval(native, true) ? 1 : n_evals;
}

size_t ctx_python_match(const struct ctx_python_native *native, const struct ctx_python_named *named,
			uint64_t *out)
{
	size_t n_evals = 0, n_entries = 0, skipped, n = 0, at = 0;

	for (size_t i = 0; i < native->n; i++)
		n_evals += is_eval(native, i);
	for (size_t i = 0; i < named->n; i++)
		n_entries += named->is_entry[i];
	skipped = find_skipped(native, named, n_evals, n_entries);
	if (skipped == n_evals)
		return 0;
	for (size_t i = 0; i < native->n; i++) {
		bool has_frames = is_eval(native, i) && (skipped == 0 || skipped-- == 0);

		for (bool goes_on = has_frames; goes_on && at < named->n; at++) {
			out[n++] = named->frames[at];
			goes_on = !named->is_entry[at];
		}
		out[n++] = native->frames[i];
	}
	return n;
}
