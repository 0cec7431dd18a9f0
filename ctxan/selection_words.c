#include "ctxan/selection_words.h"

#include "base/shellword.h"

#include <inttypes.h>
#include <string.h>

/* " -i 300:700"; nothing without a value. */
static void put(struct ctx_buf *text, const char *option, const char *value)
{
	if (value == NULL)
		return;
	ctx_buf_put_u8(text, ' ');
	ctx_buf_put_text(text, option);
	ctx_buf_put_u8(text, ' ');
	ctx_shellword_put(text, value);
}

/* "focus parse" is --focus parse: so the label of a test reads. */
static void put_test(struct ctx_buf *text, const char *label)
{
	size_t n = strcspn(label, " ");

	ctx_buf_put_text(text, " --");
	ctx_buf_put(text, label, n);
	ctx_buf_put_u8(text, ' ');
	ctx_shellword_put(text, label[n] != '\0' ? label + n + 1 : "");
}

static const char *view_word(enum ctx_view view)
{
	return view == CTX_VIEW_USER	  ? "user"
	       : view == CTX_VIEW_EXPERT  ? "expert"
	       : view == CTX_VIEW_MACHINE ? "machine"
					  : NULL;
}

void ctx_selection_words_put(const struct ctx_options *options, struct ctx_buf *text)
{
	const struct ctx_selection_spec *selection = &options->selection;

	if (options->opening.run != 0)
		ctx_buf_printf(text, " --run %" PRIu32, options->opening.run);
	for (size_t i = 0; i < selection->n_intervals; i++)
		put(text, "-i", selection->intervals[i]);
	put(text, "-t", selection->threads);
	put(text, "--process", selection->processes);
	put(text, "--cpu", selection->cpus);
	for (size_t i = 0; i < selection->n_filters; i++)
		put(text, "--filter", selection->filters[i]);
	for (size_t i = 0; i < selection->n_tests; i++)
		put_test(text, selection->tests[i].label);
	put(text, "--fold-object", options->hiding.objects);
	put(text, "--view", view_word(options->hiding.view));
	put(text, "--metric", selection->metric);
}
