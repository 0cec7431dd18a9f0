/*
 * Thread state changes in the reader. In a packet of the file the waker is 2 k + 1 for thread
 * number k and 2 k + 2 for external waker number k; in a translated packet k is a row of the log.
 */
#include "formats/experiment/exp_reader_state.h"

/* An external waker without a row in the log becomes CTX_NONE; reported once. */
static enum ctx_status find_external_waker(struct ctx_exp_reader *reader, uint32_t key, uint64_t time_ns,
					   uint32_t *ret_row, struct ctx_err *err)
{
	struct ctx_event damage = {.kind = CTX_EV_DAMAGE, .time_ns = time_ns};
	uint32_t row = ctx_map64_get(&reader->log.external_wakers.of_key, key);

	*ret_row = row != CTX_MAP64_NONE ? row : CTX_NONE;
	if (row != CTX_MAP64_NONE || reader->external_waker_damage_reported)
		return CTX_OK;
	reader->external_waker_damage_reported = true;
	damage.text = "log.xml: changes of state name external wakers that the log does not have";
	return ctx_exp_reader_push(reader, &damage, NULL, err);
}

/*
 * Only a thread's own packets may create an artificial row for it; a packet that names it as waker
 * may not.
 */
static bool has_process(const struct ctx_exp_log *log, uint32_t thread)
{
	uint32_t row = ctx_map64_get(&log->thread_of_key, thread);

	return row != CTX_MAP64_NONE && log->threads[row].process != CTX_NONE;
}

enum ctx_status ctx_exp_reader_translate_change(struct ctx_exp_reader *reader, uint32_t process,
						struct ctx_exp_packet *change, bool *ret_fine,
						struct ctx_err *err)
{
	uint64_t key = change->waker != 0 ? (change->waker - 1) / 2 : 0;
	uint32_t thread = CTX_NONE, external_waker = CTX_NONE;
	enum ctx_status status = CTX_OK;

	*ret_fine = change->change < CTX_CHANGE_N && key < CTX_NONE &&
		    (change->waker == 0 || ctx_state_change_has_waker((enum ctx_state_change)change->change));
	if (!*ret_fine || change->waker == 0)
		return CTX_OK;
	*ret_fine = change->waker % 2 == 0 || has_process(&reader->log, change->thread);
	if (!*ret_fine)
		return CTX_OK;
	if (change->waker % 2 == 1)
		status = ctx_exp_log_thread(&reader->log, (uint32_t)key, process, &thread, err);
	else
		status = find_external_waker(reader, (uint32_t)key, change->time_ns, &external_waker, err);
	change->waker = ctx_exp_waker(thread, external_waker);
	return status;
}

void ctx_exp_reader_fill_change(const struct ctx_exp_reader *reader, const struct ctx_exp_packet *change,
				struct ctx_event *ret)
{
	uint32_t thread = ctx_exp_waking_thread(change);

	ret->state.change = (enum ctx_state_change)change->change;
	ret->state.cpu = change->cpu;
	ret->state.wait = CTX_WAIT_UNKNOWN;
	ret->state.stack = (struct ctx_event_stack){.id = change->stack};
	ret->state.waker = thread != CTX_NONE ? reader->log.threads[thread].number : CTX_NONE;
	ret->state.external_waker = change->waker != 0 && thread == CTX_NONE
					    ? reader->log.external_wakers.names[(change->waker - 2) / 2]
					    : NULL;
}
