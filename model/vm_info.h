/*
 * Virtual machines of a recording: what each said of itself, and which intervals of marks are its pauses.
 *
 * One virtual machine is in one process image. Source: requirements V1, V3.
 */
#ifndef CTX_MODEL_VM_INFO_H
#define CTX_MODEL_VM_INFO_H

#include "model/interval.h"

#include <stdbool.h>
#include <stdint.h>

/* Sums over its life, unless they are bytes. The names are attributes of lines and columns of databases. */
enum ctx_vm_figure {
	CTX_VM_HEAP_USED, /* bytes, the last that is known */
	CTX_VM_HEAP_MAX,
	CTX_VM_CLASSES, /* loaded */
	CTX_VM_CLASS_LOAD_NS,
	CTX_VM_COMPILATIONS, /* of methods */
	CTX_VM_COMPILE_NS,
	CTX_VM_GC_COUNT, /* collections by all collectors */
	CTX_VM_GC_NS,
	CTX_VM_SAFEPOINTS,
	CTX_VM_SAFEPOINT_NS,	  /* all threads were stopped, or being stopped */
	CTX_VM_SAFEPOINT_SYNC_NS, /* of that, until they had stopped */
	CTX_VM_FIGURE_N,
};

#define CTX_VM_UNKNOWN UINT64_MAX

struct ctx_vm_info {
	uint32_t process; /* process id */
	const char *name, *version, *collector,
		*command; /* "" unknown; `collector` of garbage; `command` its main class and arguments */
	struct ctx_interval life;
	uint64_t figures[CTX_VM_FIGURE_N]; /* CTX_VM_UNKNOWN */
};

/* "heap_used", "gc_ns" */
const char *ctx_vm_figure_name(enum ctx_vm_figure figure);

/* All texts "", all figures unknown, from `begin_ns` on; its end is UINT64_MAX. */
struct ctx_vm_info ctx_vm_info_make(uint32_t process, uint64_t begin_ns);

/* Takes what `more` knows in place of what was known; texts are borrowed. */
void ctx_vm_info_update(struct ctx_vm_info *info, const struct ctx_vm_info *more);

/* What an interval of marks of a virtual machine is, by its name. */
enum ctx_vm_span {
	CTX_VM_SPAN_NONE = 0,
	CTX_VM_SPAN_GC = 1,	   /* a collection */
	CTX_VM_SPAN_GC_PAUSE = 2,  /* a time in which threads were stopped to collect */
	CTX_VM_SPAN_SAFEPOINT = 4, /* a safepoint, from its request to its end */
	CTX_VM_SPAN_SAFEPOINT_BEGIN = 8,
	CTX_VM_SPAN_SAFEPOINT_END = 16,
};

/* Bits of enum ctx_vm_span. */
unsigned ctx_vm_span_of(const char *name);

/* The names that ctxrec gives to intervals. */
#define CTX_VM_NAME_GC "GC pause"
#define CTX_VM_NAME_SAFEPOINT "safepoint"
#define CTX_VM_NAME_SYNC "time to safepoint"
#define CTX_VM_NAME_LIFE "virtual machine" /* from its first word to its end */
#define CTX_VM_NAME_TURN                                                                                     \
	"virtual machine of interest" /* where some are chosen: as long as it is one of them */

/* The name of the metric of what they allocated. */
#define CTX_VM_METRIC_ALLOCATED "Java Bytes Allocated"

/* Whether a thread of a virtual machine of Java collects garbage and does nothing else, by its name, of which the kernel keeps 15 bytes. */
bool ctx_vm_thread_collects(const char *name);

#endif
