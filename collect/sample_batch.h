/*
 * Sample batch: samples and changes of thread state between the rings and the writer, unwound many
 * at a time, in order.
 *
 *	records --add--> batch --flush--> unwind pool --> stack memory --> callchain --> writer
 *
 * A batch must be flushed before its inputs change: before the records' room in the rings is
 * returned, and before a record that changes processes or maps is applied.
 */
#ifndef CTX_COLLECT_SAMPLE_BATCH_H
#define CTX_COLLECT_SAMPLE_BATCH_H

#include "collect/copy_trial.h"
#include "collect/data_maps.h"
#include "collect/perfevent.h"
#include "collect/perfrecord.h"
#include "collect/python.h"
#include "collect/vm_frames.h"
#include "collect/wait_places.h"
#include "formats/experiment/exp_writer.h"
#include "model/event_source.h"

struct ctx_sample_batch;

struct ctx_sample_batch_options {
	struct ctx_exp_writer *writer; /* borrowed */
	uint32_t max_stack;	       /* sysctl kernel.perf_event_max_stack */
	size_t stack_bytes;	       /* of the stack in each sample; 0: samples have call chains only */
	bool keep_stacks;	       /* the copies are written too, and nothing else is unwound by */
	size_t small_bytes;	       /* of smaller copies, to be tried; 0: there are none */
	unsigned n_threads;	       /* that help to unwind */
	/* Samples of this event and later ones have no stack (0: none): it is recognised, and learned
	 * from all others that are not of the user's events. */
	uint32_t brief_event;
	struct ctx_wait_places *places; /* borrowed; NULL: none */
	struct ctx_python *python;	/* borrowed; NULL: none */
	struct ctx_vms *vms;		/* borrowed; NULL: none: frames of virtual machines have no names */
	const struct ctx_perf_events *events; /* the user's, borrowed; NULL: all have whole stacks */
	struct ctx_data_maps *data_maps;      /* borrowed; NULL: addresses of data are not written */
};

/* Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_sample_batch_create(const struct ctx_sample_batch_options *options,
						       struct ctx_sample_batch **ret, struct ctx_err *err);
void ctx_sample_batch_destroy(struct ctx_sample_batch *batch);

/*
 * Adds a sample; what it borrows must live until the next flush. A full batch flushes itself.
 * Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_sample_batch_add(struct ctx_sample_batch *batch,
						    const struct ctx_perf_record *record, uint32_t process,
						    uint32_t thread, struct ctx_err *err);

/*
 * Adds a state change. Its stack is built from `record` (NULL: none) like that of a sample, and
 * belongs to `thread`: for SEEN_WAKING the waker. The frames of `state` are ignored.
 */
CTX_MUST_CHECK enum ctx_status ctx_sample_batch_add_state(struct ctx_sample_batch *batch,
							  const struct ctx_exp_state *state,
							  const struct ctx_perf_record *record,
							  uint32_t thread, struct ctx_err *err);

/*
 * A SWITCH record reports that a thread has left its CPU: it is merged into the sample before it,
 * which gets the reason if it had none. False: no such sample, or it has been written already.
 */
bool ctx_sample_batch_join(struct ctx_sample_batch *batch, uint32_t thread, enum ctx_state_change change);

CTX_MUST_CHECK enum ctx_status ctx_sample_batch_flush(struct ctx_sample_batch *batch, struct ctx_err *err);

/*
 * From the next sample on, true skips unwinding for lack of time: stacks are the kernel's chains.
 */
void ctx_sample_batch_hurry(struct ctx_sample_batch *batch, bool hurries);

/*
 * From the next sample on, true tries smaller copies on the stacks (copy_trial.h). Returns what came of it so far, borrowed.
 */
const struct ctx_copy_trial *ctx_sample_batch_try(struct ctx_sample_batch *batch, bool is_on);

/* Statistics so far. */
struct ctx_exp_unwinding ctx_sample_batch_counts(const struct ctx_sample_batch *batch);

#endif
