#include "report/calls.h"

#include <inttypes.h>
#include <string.h>

/* By its kind, or by the property that the ingest writes: "counted: NAME, NAME". */
bool ctx_calls_exact(const struct ctx_profile *profile, uint32_t metric)
{
	static const char before[] = "counted: ";
	const char *names = ctx_profile_property(profile, "calls", "");
	const char *name = metric < profile->n_metrics ? profile->metrics[metric].name : "";
	size_t n = strlen(name);

	if (metric < profile->n_metrics && ctx_metric_has_exact_calls(&profile->metrics[metric]))
		return true;
	if (n == 0 || strncmp(names, before, sizeof(before) - 1) != 0)
		return false;
	for (names += sizeof(before) - 1; names != NULL; names = strstr(names, ", ")) {
		names += *names == ',' ? 2 : 0;
		if (strncmp(names, name, n) == 0 && (names[n] == '\0' || strncmp(names + n, ", ", 2) == 0))
			return true;
	}
	return false;
}

bool ctx_calls_exact_here(const struct ctx_out *out)
{
	return ctx_calls_exact(out->profile, out->head.selection.metrics[0]);
}

struct ctx_cell ctx_calls_cell(struct ctx_out *out, int64_t calls)
{
	if (!ctx_out_is_text(out) || ctx_calls_exact_here(out))
		return ctx_cell_signed(calls);
	return ctx_cell_name(ctx_out_format(out, ">=%" PRId64, calls));
}

const struct ctx_column *ctx_calls_columns(const struct ctx_report_selection *selection,
					   const struct ctx_report_options *options,
					   const struct ctx_report_kind *kind, struct ctx_arena *arena)
{
	struct ctx_column *columns;

	if (options->columns || options->no_fold ||
	    ctx_calls_exact(selection->profile, selection->metrics[0]) ||
	    ctx_calls_are_seen(selection, selection->n_metrics))
		return kind->columns;
	columns = ctx_arena_alloc(arena, kind->n_columns * sizeof(*columns));
	for (size_t i = 0; columns != NULL && i < kind->n_columns; i++) {
		columns[i] = kind->columns[i];
		if (columns[i].title != NULL && strcmp(columns[i].title, "Calls") == 0)
			columns[i].title = NULL;
	}
	return columns;
}

static const struct ctx_flat_row *row_of(const struct ctx_flat_row *first, const struct ctx_flat_row *more,
					 size_t i)
{
	return i == 0 ? first : &more[i - 1];
}

static bool is_exact(const struct ctx_report_selection *selection, size_t i)
{
	uint32_t metric = selection->metrics[i];

	return metric < selection->profile->n_metrics &&
	       ctx_metric_has_exact_calls(&selection->profile->metrics[metric]);
}

bool ctx_calls_are_seen(const struct ctx_report_selection *selection, size_t n)
{
	for (size_t i = 0; i < n && i < selection->n_metrics; i++) {
		if (is_exact(selection, i))
			return true;
	}
	return false;
}

struct ctx_calls_seen ctx_calls_seen_of(const struct ctx_report_selection *selection,
					const struct ctx_flat_row *first, const struct ctx_flat_row *more,
					size_t n_more)
{
	uint32_t elapsed = ctx_profile_elapsed_metric(selection->profile);
	struct ctx_calls_seen seen = {0};

	for (size_t i = 0; i <= n_more && i < selection->n_metrics; i++) {
		const struct ctx_flat_row *row = row_of(first, more, i);

		if (is_exact(selection, i)) {
			/* Elapsed has all that the others have. */
			if (!seen.known || selection->metrics[i] == elapsed) {
				seen.calls = row->calls;
				seen.elapsed_ns = row->cum;
			}
			seen.known = true;
			seen.traced |= row->cum_samples != 0 || row->cum != 0 || row->calls != 0;
		} else if (selection->metrics[i] < elapsed) { /* counters read at calls follow it */
			seen.sampled |= row->cum_samples != 0;
		}
	}
	return seen;
}

struct ctx_cell ctx_calls_origin_cell(const struct ctx_calls_seen *seen)
{
	if (!seen->known)
		return (struct ctx_cell){.kind = CTX_CELL_ABSENT};
	return ctx_cell_name(!seen->traced ? "sampled" : seen->sampled ? "both" : "traced");
}

struct ctx_cell ctx_calls_elapsed_cell(const struct ctx_calls_seen *seen)
{
	return seen->known ? ctx_cell_number(seen->elapsed_ns) : (struct ctx_cell){.kind = CTX_CELL_ABSENT};
}
