/*
 * Marks of a virtual machine (model/vm_info.h) that wait until the recorder knows its threads, in order of time: what is found
 * out later belongs before what came earlier.
 */
#ifndef CTX_COLLECT_VM_MARKS_H
#define CTX_COLLECT_VM_MARKS_H

#include "collect/proctree.h"
#include "formats/experiment/exp_writer.h"

#define CTX_VM_MARKS_MAX 131072u /* that wait */

struct ctx_vm_mark {
	uint64_t time_ns;
	int64_t tid;	   /* of a thread of the virtual machine */
	const char *name;  /* a constant */
	uint8_t operation; /* enum ctx_mark_operation */
	int64_t value;	   /* of a counter */
};

struct ctx_vm_marks {		   /* all zero is none */
	struct ctx_vm_mark *items; /* owned; by time */
	size_t n, cap;
};

void ctx_vm_marks_deinit(struct ctx_vm_marks *marks);

/* CTX_E_LIMIT: there are too many. CTX_E_NOMEM. O(1) where it is the last. */
CTX_MUST_CHECK enum ctx_status ctx_vm_marks_add(struct ctx_vm_marks *marks, const struct ctx_vm_mark *mark,
						struct ctx_err *err);

/* Both ends of an interval, as above. */
CTX_MUST_CHECK enum ctx_status ctx_vm_marks_add_interval(struct ctx_vm_marks *marks,
							 const struct ctx_vm_mark *begin, uint64_t end_ns,
							 struct ctx_err *err);

/*
 * A thread ends, or with tid 0 the process: its later marks, whose place is known only roughly, are at that time, so that no interval stays
 * open. O(marks).
 */
void ctx_vm_marks_end(struct ctx_vm_marks *marks, int64_t tid, uint64_t time_ns);

struct ctx_vm_marks_target {
	struct ctx_exp_writer *writer;
	const struct ctx_proctree *tree;
	uint32_t process;
	uint64_t until_ns; /* marks up to this time */
};

/* Writes marks and drops them, also those of threads that are not known, or of other processes. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_vm_marks_write(struct ctx_vm_marks *marks,
						  const struct ctx_vm_marks_target *target,
						  struct ctx_err *err);

#endif
