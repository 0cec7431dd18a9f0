/*
 * The runtime in a process that ran already: what the recorder calls there (collect/attach.h), on a stack of its own,
 * while the other threads go on.
 */
#include "runtime/rt_calls_sums.h"
#include "runtime/rt_calls_work.h"
#include "runtime/rt_exec.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_slots.h"
#include "runtime/rt_waits.h"

#define EXPORT __attribute__((visibility("default"), noinline))

int64_t ctx_rt_attach(const char *setting);
int64_t ctx_rt_detach(void);

EXPORT int64_t ctx_rt_attach(const char *setting)
{
	int64_t result = CTX_RT_ATTACH_PRELOADED;

	if (!ctx_rt_is_late())
		return result;
	ctx_rt_mute();
	result = ctx_rt_process_attach(setting);
	if (result == CTX_RT_ATTACH_DONE) {
		/* Nobody has said what was unloaded since the last time. */
		ctx_rt_forget_objects();
		ctx_rt_exec_keep(setting);
		ctx_rt_sync_settle();
		result = (int64_t)ctx_rt_slots_redirect(ctx_rt_settings.what);
		ctx_rt_process_go_on();
		ctx_rt_calls_set(ctx_rt_is_on(CTX_RT_WHAT_CALLS) ? ctx_rt_settings.letters : NULL);
	}
	ctx_rt_unmute();
	return result;
}

EXPORT int64_t ctx_rt_detach(void)
{
	if (!ctx_rt_is_late())
		return CTX_RT_ATTACH_PRELOADED;
	ctx_rt_sums_end(false);
	ctx_rt_process_detach();
	ctx_rt_calls_set(NULL);
	ctx_rt_exec_keep(NULL);
	ctx_rt_sync_settle();
	return (int64_t)ctx_rt_slots_restore();
}
