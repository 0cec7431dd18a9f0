/*
 * A probe in the kernel that reads which Python functions a thread runs, at the moment of its sample.
 *
 *	sampling event --overflow--> probe (BPF) --the thread's own memory--> record in the ring, right before the sample
 *
 * The probe runs in the thread's context, before the sample is written, while nothing of the thread goes on: what it
 * reads belongs to the sample. Nothing is loaded into the target, and nothing of it is changed. It reads memory of
 * recorded processes that the recorder names (ctx_python_probe_set), and no other.
 *
 * Needs CAP_BPF and CAP_PERFMON, or root; recorder and target in the first pid namespace; x86-64.
 *
 * Source: bpf(2), the kernel's Documentation/bpf; CPython 3.11, Include/internal/pycore_frame.h.
 */
#ifndef CTX_COLLECT_PYTHON_PROBE_H
#define CTX_COLLECT_PYTHON_PROBE_H

#include "base/err.h"
#include "collect/python_layout.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_PYTHON_FRAMES_MAX 96u /* of one stack; frames nearer to the root are left out */

/* A frame, as the interpreter has it. */
struct ctx_python_entry {
	uint64_t code;	      /* address of its code object */
	uint64_t instruction; /* address of the last one that began */
	uint64_t flags;	      /* the 8 bytes from ctx_python_layout.frame_flags on */
	uint64_t check;	      /* of the code object: the names and lines that it has, or'ed exclusively */
};

/* A record of the probe: what is in the ring. */
struct ctx_python_chain {
	uint64_t n;    /* entries, the innermost first */
	uint64_t more; /* not 0: there are frames beyond CTX_PYTHON_FRAMES_MAX */
	struct ctx_python_entry entries[CTX_PYTHON_FRAMES_MAX];
};

struct ctx_python_probe;

/* Loads it. CTX_E_PERM (the message says what it needs), CTX_E_NOTFOUND (the kernel has no BPF), CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_python_probe_create(unsigned n_cpus, struct ctx_python_probe **ret,
						       struct ctx_err *err);
void ctx_python_probe_destroy(struct ctx_python_probe *probe);

/* Runs at each sample of this event from here on. False: it cannot have a probe. */
bool ctx_python_probe_attach(const struct ctx_python_probe *probe, int event_fd);

/* Writes its records of a processor by this event, a PERF_COUNT_SW_BPF_OUTPUT of that processor. */
CTX_MUST_CHECK enum ctx_status ctx_python_probe_output(const struct ctx_python_probe *probe, uint32_t cpu,
						       int output_fd, struct ctx_err *err);

/* A process that is read from here on: where its _PyRuntime is. */
CTX_MUST_CHECK enum ctx_status ctx_python_probe_set(const struct ctx_python_probe *probe, uint32_t pid,
						    uint64_t runtime, const struct ctx_python_layout *layout,
						    struct ctx_err *err);
void ctx_python_probe_remove(const struct ctx_python_probe *probe, uint32_t pid);

#endif
