/* Samples of threads by what they are for virtual machines (struct ctx_report_vm_samples). */
#ifndef CTX_QUERY_VM_SUMS_H
#define CTX_QUERY_VM_SUMS_H

#include "model/report_source.h"

struct ctx_vm_sums { /* all zero is none; owned; by thread */
	uint64_t *inside, *gc, *outside;
};

/*
 * Of the source's selection, by its histograms, marks and samples, which must be those that were recorded (no view). Stays zero where there is no virtual machine.
 * Fails as the source does.
 */
CTX_MUST_CHECK enum ctx_status ctx_vm_sums_make(struct ctx_report_source *source, struct ctx_vm_sums *ret,
						struct ctx_err *err);
void ctx_vm_sums_deinit(struct ctx_vm_sums *sums);

#endif
