/*
 * The events of a source of calls as text, a line each, for comparison with what is expected:
 *
 *	process 0 pid 7 app			thread 0 of 0 tid 7 app
 *	10 0 +main				at 10 ns thread 0 enters main, keeping all
 *	20 0 1					from now on thread 0 keeps one call; "1 x": they were left; "1 +f": and enters f; "1 cpu 5"
 *	20 0 runs				a state
 *	30 0 mark point x			a mark, with its value
 *	lost 3 at 10				30 exit 0, 30 end 0: of a thread, of a process
 *	! text					a warning; "!! text" damage
 */
#ifndef CTX_TESTS_UNIT_CALL_TEXT_H
#define CTX_TESTS_UNIT_CALL_TEXT_H

#include "base/buf.h"
#include "model/event_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

struct call_text {
	struct ctx_buf text;
	char functions[256][64];
	uint64_t last_ns;
};

static inline void call_text_call(struct call_text *out, const struct ctx_event *event)
{
	const struct ctx_event_call *call = &event->call;

	ctx_buf_printf(&out->text, "%llu %u", (unsigned long long)event->time_ns, event->thread);
	if (call->frame == 0 || call->unwound)
		ctx_buf_printf(&out->text, " %u%s", call->kept, call->unwound ? " x" : "");
	if (call->counted != NULL)
		ctx_buf_printf(&out->text, " cpu %llu", (unsigned long long)call->counted[0]);
	if (call->frame != 0 && ctx_frame_is_named(call->frame))
		ctx_buf_printf(&out->text, " +%s", out->functions[ctx_frame_function(call->frame) % 256]);
	else if (call->frame != 0)
		ctx_buf_printf(&out->text, " +%llx", (unsigned long long)call->frame);
	ctx_buf_put_text(&out->text, "\n");
}

static inline void call_text_take(struct call_text *out, const struct ctx_event *event)
{
	struct ctx_buf *text = &out->text;
	unsigned long long ns = event->time_ns;

	switch (event->kind) {
	case CTX_EV_PROCESS_START:
		ctx_buf_printf(text, "process %u pid %lld %s\n", event->process,
			       (long long)event->process_start.pid, event->process_start.command);
		break;
	case CTX_EV_THREAD_START:
		ctx_buf_printf(text, "thread %u of %u tid %lld %s\n", event->thread, event->process,
			       (long long)event->thread_start.tid, event->thread_start.name);
		break;
	case CTX_EV_THREAD_NAME:
		ctx_buf_printf(text, "%llu %u is %s\n", ns, event->thread, event->thread_name);
		break;
	case CTX_EV_THREAD_EXIT:
		ctx_buf_printf(text, "%llu exit %u\n", ns, event->thread);
		break;
	case CTX_EV_PROCESS_EXIT:
		ctx_buf_printf(text, "%llu end %u\n", ns, event->process);
		break;
	case CTX_EV_FUNCTION:
		strncpy(out->functions[event->function.id % 256], event->function.name, 63);
		break;
	case CTX_EV_CALL:
		call_text_call(out, event);
		break;
	case CTX_EV_STATE:
		ctx_buf_printf(text, "%llu %u %s\n", ns, event->thread,
			       ctx_state_change_text(event->state.change));
		break;
	case CTX_EV_TRACED:
		ctx_buf_printf(text, "%llu %u mark %s %s %lld\n", ns, event->thread,
			       ctx_traced_operation_name(CTX_TRACED_MARK, event->traced.operation->operation),
			       event->traced.file, (long long)event->traced.operation->value);
		break;
	case CTX_EV_LOST:
		ctx_buf_printf(text, "lost %llu at %llu\n", (unsigned long long)event->lost.loss.count,
			       (unsigned long long)event->lost.loss.time.begin_ns);
		break;
	case CTX_EV_WARNING:
	case CTX_EV_DAMAGE:
		ctx_buf_printf(text, "%s %s\n", event->kind == CTX_EV_WARNING ? "!" : "!!", event->text);
		return;
	default:
		break;
	}
	if (event->kind == CTX_EV_FUNCTION)
		return;
	assert_true(event->time_ns >= out->last_ns);
	out->last_ns = event->time_ns;
}

/* All events of the source, which is closed. malloc'ed. */
static inline char *call_text_of(struct ctx_event_source *source)
{
	struct call_text *out = calloc(1, sizeof(*out));
	struct ctx_err err = {0};
	struct ctx_event event;
	enum ctx_status status;
	char *ret;

	assert_non_null(out);
	while ((status = source->next(source, &event, &err)) == CTX_OK) {
		assert_true(event.time_ns < source->info.duration_ns || event.kind == CTX_EV_WARNING ||
			    event.kind == CTX_EV_DAMAGE);
		call_text_take(out, &event);
	}
	assert_int_equal(status, CTX_END);
	ctx_buf_put_u8(&out->text, 0);
	ret = strdup((char *)out->text.bytes);
	ctx_buf_deinit(&out->text);
	free(out);
	source->close(source);
	return ret;
}

#endif
