/*
 * Sample batch: samples, and changes of threads' states, on their way from the rings to the writer,
 * unwound on the way, many at a time, in order.
 *
 *	records --add--> batch --flush--> unwind pool --> stack memory --> callchain --> writer
 *
 * A batch must be flushed before anything changes that it depends on: before the records' room in
 * the rings is given back, and before a record that changes processes or maps is applied.
 */
#ifndef CTX_COLLECT_SAMPLE_BATCH_H
#define CTX_COLLECT_SAMPLE_BATCH_H

#include "collect/perfrecord.h"
#include "formats/experiment/exp_writer.h"
#include "model/event_source.h"

struct ctx_sample_batch;

struct ctx_sample_batch_options {
	struct ctx_exp_writer *writer; /* borrowed */
	uint32_t max_stack;	       /* sysctl kernel.perf_event_max_stack */
	size_t stack_bytes;	       /* of the stack in each sample; 0: samples have call chains only */
	bool keep_stacks;	       /* the copies go to the writer too */
	unsigned n_threads;	       /* that help to unwind */
};

/* Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_sample_batch_create(const struct ctx_sample_batch_options *options,
						       struct ctx_sample_batch **ret, struct ctx_err *err);
void ctx_sample_batch_destroy(struct ctx_sample_batch *batch);

/*
 * Takes a sample in; what it borrows must live until the next flush. A full batch flushes itself.
 * Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_sample_batch_add(struct ctx_sample_batch *batch,
						    const struct ctx_perf_record *record, uint32_t process,
						    uint32_t thread, struct ctx_err *err);

/*
 * Takes a change in. Its stack, if it has one, is made of `record` (NULL: it has none) as that of a
 * sample is, and is `thread`'s: for SEEN_WAKING the waker's. The frames of `state` are not looked
 * at.
 */
CTX_MUST_CHECK enum ctx_status ctx_sample_batch_add_state(struct ctx_sample_batch *batch,
							  const struct ctx_exp_state *state,
							  const struct ctx_perf_record *record,
							  uint32_t thread, struct ctx_err *err);

/*
 * A record says that a thread has left its CPU: what the sample in front of it said stands for
 * both, and says now why the thread left, if it did not know. False: there is no such sample, or it
 * has been written already.
 */
bool ctx_sample_batch_join(struct ctx_sample_batch *batch, uint32_t thread, enum ctx_state_change change);

CTX_MUST_CHECK enum ctx_status ctx_sample_batch_flush(struct ctx_sample_batch *batch, struct ctx_err *err);

/*
 * From the next sample on: true, there is no time to unwind, and stacks are what the kernel's
 * chains say; false, there is.
 */
void ctx_sample_batch_hurry(struct ctx_sample_batch *batch, bool hurries);

/* How it went so far. */
struct ctx_exp_unwinding ctx_sample_batch_counts(const struct ctx_sample_batch *batch);

#endif
