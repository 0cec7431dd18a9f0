#include "report/export_head.h"

#include "report/head.h"

void ctx_export_head_init(struct ctx_export_head *head, const struct ctx_export_input *input)
{
	*head = (struct ctx_export_head){
		.whole = {.thread = CTX_NONE, .histogram = input->whole},
		.input = {.profile = input->profile,
			  .path = input->path,
			  .intervals = input->intervals,
			  .n_intervals = input->n_intervals,
			  .threads = input->threads,
			  .n_threads = input->n_threads,
			  .filter = input->filter != NULL ? input->filter : "",
			  .metric = input->metric,
			  .n_parts = 1},
	};
	head->input.parts = &head->whole;
	head->out.input = &head->input;
	head->out.options = &head->options;
	ctx_head_totals(&head->input, &head->out.totals);
	head->out.scale = ctx_scale_for(ctx_head_metric(&head->input).unit, head->out.totals.weight);
}

void ctx_export_head_put(const struct ctx_export_head *head, struct ctx_buf *buf)
{
	const struct ctx_out *out = &head->out;
	char weight[CTX_FIGURE_MAX], count[CTX_HEAD_COUNT_MAX];

	ctx_head_put_selection(&head->input, buf);
	ctx_figure_fixed(weight, out->totals.weight, out->scale.divisor, out->scale.digits);
	ctx_head_count(out, out->totals.samples, count);
	ctx_buf_printf(buf, " | %s | %s | %s %s", ctx_head_metric(&head->input).name, count, weight,
		       out->scale.unit);
}

void ctx_export_head_warnings(struct ctx_export_head *head, void (*put)(void *context, const char *text),
			      void *context)
{
	ctx_head_warnings(&head->out, put, context);
}
