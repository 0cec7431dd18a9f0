#include "report/wakers_rows.h"

#include "report/function_names.h"
#include "report/state_cells.h"

struct ctx_wakers_sums ctx_wakers_sums_of(const struct ctx_report_wakers *row)
{
	return (struct ctx_wakers_sums){row->waits, row->wait_ns, row->wait_max_ns, row->delay_ns,
					row->delay_max_ns};
}

void ctx_wakers_add(struct ctx_wakers_sums *to, const struct ctx_wakers_sums *from)
{
	to->waits += from->waits;
	to->wait_ns += from->wait_ns;
	to->delay_ns += from->delay_ns;
	to->wait_max_ns = from->wait_max_ns > to->wait_max_ns ? from->wait_max_ns : to->wait_max_ns;
	to->delay_max_ns = from->delay_max_ns > to->delay_max_ns ? from->delay_max_ns : to->delay_max_ns;
}

uint64_t ctx_wakers_key(const struct ctx_wakers_sums *sums, size_t key)
{
	const uint64_t numbers[] = {sums->wait_ns,	sums->waits,
				    sums->wait_max_ns,	sums->delay_ns,
				    sums->delay_max_ns, sums->waits != 0 ? sums->wait_ns / sums->waits : 0};

	return numbers[key];
}

enum ctx_status ctx_wakers_check(const struct ctx_profile *profile, const struct ctx_report_options *options,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_function_check(profile, options->function, err);

	if (status == CTX_OK)
		status = ctx_function_check(profile, options->subject, err);
	return status == CTX_OK ? ctx_state_check(profile, err) : status;
}

bool ctx_wakers_passes(const struct ctx_profile *profile, const struct ctx_report_options *options,
		       uint32_t stack)
{
	return ctx_stack_has_function(profile, stack, options->subject) &&
	       ctx_stack_has_function(profile, stack, options->function);
}

const char *ctx_wakers_state(uint32_t state, bool word)
{
	if (state >= CTX_STATE_N)
		return "?";
	return word ? ctx_state_name((enum ctx_thread_state)state)
		    : ctx_state_text((enum ctx_thread_state)state);
}

const char *ctx_wakers_external_waker(const struct ctx_profile *profile, const struct ctx_report_wakers *row)
{
	return row->waker >= profile->n_threads && row->external_waker < profile->external_wakers.n
		       ? profile->external_wakers.items[row->external_waker]
		       : NULL;
}
