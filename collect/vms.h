/*
 * The virtual machines of a recording: what their agents report becomes names of frames, and lines of the log.
 *
 *	JAVA_TOOL_OPTIONS --> agents/ in each virtual machine --vm_listener--> vm_image --+--> functions, code: what samples hit
 *	sample's frames, copied stack ----------------------------------------------------+--> frames by name of interpreted methods
 *
 * A compiled method is written when the first frame of a sample is in it. An interpreted one has no code of its own: its frame, whose
 * address is in the interpreter, is replaced by a function by name and its line (ctx_frame_named), after the copied stack, where
 * the interpreter keeps its method and its bytecode (OpenJDK 11 to 25, x86-64).
 */
#ifndef CTX_COLLECT_VMS_H
#define CTX_COLLECT_VMS_H

#include "collect/proctree.h"
#include "collect/vm_objects.h"
#include "formats/experiment/exp_writer.h"

struct ctx_vms;

/* Finds the agent and makes the socket; agents are asked for what is in `wishes` besides code. Fails with CTX_E_NOTFOUND (there is no agent), CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vms_create(struct ctx_vms **ret, const struct ctx_vm_wishes *wishes,
					      struct ctx_err *err);
void ctx_vms_destroy(struct ctx_vms *vms);

struct ctx_vm_interest {
	const char *const *rules; /* of ctx_vm_rules_add; borrowed */
	size_t n;
	uint32_t limit;	  /* at a time; 0: all, or one where they take turns */
	uint64_t turn_ns; /* 0: they take no turns */
};

/*
 * Only virtual machines that are chosen are of interest (collect/vm_choice.h): agents of the others report that they are there, and
 * nothing else. Before the first is started. Fails with CTX_E_ARG, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_vms_choose(struct ctx_vms *vms, const struct ctx_vm_interest *interest,
					      struct ctx_err *err);

/* Java's virtual machines that this process starts from here on load the agent; then the environment is as it was. */
CTX_MUST_CHECK enum ctx_status ctx_vms_enter_environment(struct ctx_vms *vms, struct ctx_err *err);
void ctx_vms_leave_environment(struct ctx_vms *vms);

/*
 * Loads the agent into a virtual machine that runs; after ctx_vms_begin. Fails with CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO,
 * CTX_E_NOMEM: then its methods are not recorded, and it runs on.
 */
CTX_MUST_CHECK enum ctx_status ctx_vms_attach(struct ctx_vms *vms, int64_t pid, struct ctx_err *err);

/* Starts to listen; `writer` and `tree` are borrowed and outlive it. */
CTX_MUST_CHECK enum ctx_status ctx_vms_begin(struct ctx_vms *vms, struct ctx_exp_writer *writer,
					     const struct ctx_proctree *tree, struct ctx_err *err);

/* Takes the messages up to now, so that samples that are taken next find their code. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_vms_listen(struct ctx_vms *vms, struct ctx_err *err);

/*
 * Takes the messages up to now, and writes what needs to know processes and threads; records up to this time have been taken,
 * UINT64_MAX: all. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_vms_take(struct ctx_vms *vms, uint64_t until_ns, struct ctx_err *err);

/* A thread or a process ends, or executes another program: takes its messages while it is known. */
CTX_MUST_CHECK enum ctx_status ctx_vms_before_end(struct ctx_vms *vms, const struct ctx_perf_record *record,
						  struct ctx_err *err);

struct ctx_vms_counts {
	uint64_t vms;	    /* that said hello */
	uint64_t dropped;   /* messages that the recorder was too late for */
	uint64_t damaged;   /* messages that made no sense */
	uint64_t left_out;  /* for lack of memory */
	uint64_t strangers; /* connections of processes that are not recorded, or of another version */
};
struct ctx_vms_counts ctx_vms_counts(const struct ctx_vms *vms);

/* A line about them, for users and headers of reports, for i below CTX_VMS_TEXTS. False: there is none. */
#define CTX_VMS_TEXTS 5u
#define CTX_VMS_TEXT_MAX 256u
bool ctx_vms_text(const struct ctx_vms_counts *counts, unsigned i, char text[CTX_VMS_TEXT_MAX]);

#endif
