/*
 * Losses as lines of log.xml:
 *
 *	<event kind="lost" tstamp="END" count="12" gap_ns="END - BEGIN" cpu="1" samples="12" changes="0" others="0"/>
 */
#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_xml.h"

const char *const ctx_exp_loss_kinds[CTX_LOSS_CALLS] = {
	[CTX_LOSS_SAMPLES] = "samples",
	[CTX_LOSS_CHANGES] = "changes",
	[CTX_LOSS_OTHERS] = "others",
};

enum ctx_status ctx_exp_lost(struct ctx_exp_writer *writer, const struct ctx_loss *loss, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);
	struct ctx_buf *out;

	if (status != CTX_OK)
		return status;
	out = ctx_exp_log_event(writer, "lost", loss->time.end_ns);
	ctx_exp_xml_number(out, "count", loss->count);
	ctx_exp_xml_number(out, "gap_ns", loss->time.end_ns - loss->time.begin_ns);
	if (loss->cpu >= 0)
		ctx_exp_xml_signed(out, "cpu", loss->cpu);
	for (int i = 0; i < CTX_LOSS_CALLS && loss->has_kinds; i++)
		ctx_exp_xml_number(out, ctx_exp_loss_kinds[i], loss->kinds[i]);
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_put_late(struct ctx_exp_writer *writer, uint64_t time_ns, const char *reason,
				 uint64_t count, struct ctx_err *err)
{
	if (count == 0)
		return CTX_OK;
	ctx_exp_xml_number(ctx_exp_log_event(writer, "lost", time_ns), "count", count);
	ctx_exp_xml_attribute(&writer->log, "reason", reason);
	return ctx_exp_log_end(writer, err);
}
