/*
 * Folded stacks: "main;parse;read 1234", one line per stack, followed by its weight. With several
 * threads the first frame is the name of the process, as in the output of perf's folding scripts.
 * Of a difference: "main;parse;read 1234 1300", the weights on both sides, as difffolded.pl prints them.
 */
#include "base/mem.h"
#include "formats/export/export_stack.h"
#include "formats/export/exports.h"

#include <inttypes.h>

/* Separators: ';' between frames and a space before the weight. Neither may be in a name. */
static void put_frame(struct ctx_buf *line, struct ctx_buf *name)
{
	for (size_t i = 0; i < name->n; i++)
		ctx_buf_put_u8(line, name->bytes[i] == ';' ? ':' : name->bytes[i]);
	line->failed |= name->failed; /* not restored by the next statement */
	ctx_buf_clear(name);
}

struct folding {
	const struct ctx_profile *profile;
	uint32_t *functions; /* room for the deepest stack */
	struct ctx_buf line, name;
};

/* The functions of a stack; `follow`: behind another frame. */
static void put_frames(struct folding *folding, uint32_t stack, bool follow)
{
	size_t n = ctx_export_frames(folding->profile, stack, folding->functions);

	for (size_t i = 0; i < n; i++) {
		if (follow || i != 0)
			ctx_buf_put_u8(&folding->line, ';');
		ctx_export_put_name(&folding->name, folding->profile, folding->functions[i]);
		put_frame(&folding->line, &folding->name);
	}
}

static uint64_t weight_of(const struct ctx_histogram *histogram, uint32_t stack)
{
	const struct ctx_hist_entry *entry = ctx_histogram_get(histogram, stack);

	return entry != NULL ? entry->weight : 0;
}

/* The stacks of side A, then those that B alone has. */
static enum ctx_status fold_sides(struct folding *folding, const struct ctx_report_parts *parts, FILE *out,
				  struct ctx_err *err)
{
	const struct ctx_histogram *a = parts->parts[0].histograms, *b = parts->parts[1].histograms;

	for (size_t i = 0; i < a->n + b->n; i++) {
		uint32_t stack = i < a->n ? a->entries[i].stack : b->entries[i - a->n].stack;
		enum ctx_status status;

		if (i >= a->n && ctx_histogram_get(a, stack) != NULL)
			continue;
		ctx_buf_clear(&folding->line);
		put_frames(folding, stack, false);
		if (folding->line.n == 0)
			ctx_buf_put_text(&folding->line, "<No stack>");
		ctx_buf_printf(&folding->line, " %" PRIu64 " %" PRIu64 "\n", weight_of(a, stack),
			       weight_of(b, stack));
		status = ctx_buf_check(&folding->line, err);
		if (status != CTX_OK)
			return status;
		fwrite(folding->line.bytes, 1, folding->line.n, out);
	}
	return CTX_OK;
}

static void fold_stack(struct folding *folding, uint32_t thread, const struct ctx_hist_entry *entry)
{
	const struct ctx_profile *profile = folding->profile;
	struct ctx_buf *line = &folding->line, *name = &folding->name;

	ctx_buf_clear(line);
	ctx_export_put_text(name, profile->threads[thread].name);
	put_frame(line, name);
	put_frames(folding, entry->stack, true);
	ctx_buf_printf(line, " %" PRIu64 "\n", entry->weight);
}

static enum ctx_status write_folded(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	uint32_t *functions CTX_AUTO_FREE =
		ctx_calloc(ctx_export_deepest(&input->profile->cct) + 1u, sizeof(*functions));
	struct folding folding = {.profile = input->profile, .functions = functions};
	struct ctx_report_parts parts;
	enum ctx_status status = input->source->parts(
		input->source, &(struct ctx_parts_query){.per_thread = true, .calls = true}, &parts, err);

	if (status == CTX_OK && functions == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK && input->is_difference)
		status = fold_sides(&folding, &parts, out, err);
	for (size_t i = 0; status == CTX_OK && i < parts.n && !input->is_difference; i++) {
		const struct ctx_histogram *histogram = parts.parts[i].histograms;

		for (size_t k = 0; status == CTX_OK && k < histogram->n; k++) {
			if (histogram->entries[k].samples == 0)
				continue;
			fold_stack(&folding, parts.parts[i].thread, &histogram->entries[k]);
			status = ctx_buf_check(&folding.line, err);
			if (status == CTX_OK)
				fwrite(folding.line.bytes, 1, folding.line.n, out);
		}
	}
	ctx_buf_deinit(&folding.line);
	ctx_buf_deinit(&folding.name);
	return status;
}

const struct ctx_export_kind ctx_export_folded = {
	.name = "folded",
	.suffix = ".folded",
	.takes_difference = true,
	.write = write_folded,
};
