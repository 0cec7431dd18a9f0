#include "base/mem.h"
#include "formats/experiment/exp_log.h"
#include "formats/experiment/exp_writer.h"

#include <string.h>

#define CPUS_MAX 65536u

/* With all kinds, and their sum is the count. */
static bool read_kinds(const struct ctx_exp_line *line, struct ctx_loss *loss)
{
	uint64_t left = loss->count;

	for (int i = 0; i < CTX_LOSS_CALLS; i++) {
		if (!ctx_exp_line_number(line, ctx_exp_loss_kinds[i], &loss->kinds[i]) ||
		    loss->kinds[i] > left)
			return false;
		left -= loss->kinds[i];
	}
	return left == 0;
}

static void clear_kinds(struct ctx_loss *loss)
{
	loss->has_kinds = false;
	memset(loss->kinds, 0, sizeof(loss->kinds));
}

enum ctx_status ctx_exp_log_loss(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				 struct ctx_exp_entry *entry, struct ctx_err *err)
{
	const char *reason = ctx_exp_line_text(line, "reason");
	struct ctx_exp_losses *losses = &log->losses;
	struct ctx_loss loss = {.located = reason == NULL, .cpu = -1};
	uint64_t gap_ns, cpu;
	enum ctx_status status;

	if (!ctx_exp_line_number(line, "count", &loss.count))
		return CTX_E_FORMAT;
	if (!ctx_exp_line_number(line, "gap_ns", &gap_ns))
		gap_ns = 0;
	if (ctx_exp_line_number(line, "cpu", &cpu) && cpu < CPUS_MAX)
		loss.cpu = (int32_t)cpu;
	loss.has_kinds = read_kinds(line, &loss);
	if (!loss.has_kinds)
		clear_kinds(&loss);
	status = ctx_grow(&losses->rows, &losses->cap, losses->n + 1, err);
	if (status != CTX_OK)
		return status;
	if (entry->time_ns > log->last_ns)
		log->last_ns = entry->time_ns;
	if (loss.located) {
		loss.time.end_ns = entry->time_ns;
		entry->time_ns -= gap_ns < entry->time_ns ? gap_ns : entry->time_ns;
		entry->time_ns -= entry->time_ns == UINT64_MAX;
		loss.time.begin_ns = entry->time_ns;
		if (loss.time.end_ns == loss.time.begin_ns)
			loss.time.end_ns++;
	}
	entry->kind = CTX_EV_LOST;
	entry->a = losses->n;
	entry->b = reason != NULL && strcmp(reason, "limit") == 0;
	losses->rows[losses->n++] = loss;
	return CTX_OK;
}
