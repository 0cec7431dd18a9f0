/*
 * The virtual machines of a recording, for their parts:
 *
 *	vms.c		connections, messages, the log
 *	vm_binding.c	whose they are
 *	vm_frames.c	frames of samples
 *	vm_turns.c	which of them are of interest
 */
#ifndef CTX_COLLECT_VMS_IMPL_H
#define CTX_COLLECT_VMS_IMPL_H

#include "collect/vm_choice.h"
#include "collect/vm_image.h"
#include "collect/vm_listener.h"
#include "collect/vm_marks.h"
#include "collect/vm_names.h"
#include "collect/vm_objects.h"
#include "collect/vm_perfdata.h"
#include "collect/vm_stack.h"
#include "model/interval.h"

#include <limits.h>

#define CTX_VM_MISSED_N 4096u /* addresses at which there was no code yet that are kept */

/* The counters of a virtual machine, which are read again and again. */
struct ctx_vm_polled {
	int fd;	      /* of its file; -1: none */
	int64_t lane; /* the thread on which their marks are */
	uint64_t next_poll_ns, next_count_ns;
	struct ctx_vm_safepoints safepoints;
	struct ctx_vm_counters last, marked; /* what was read last, and what was marked */
	bool is_read, is_marked;
};

/* Methods that are in frames before the agent has reported them: while the virtual machine starts. */
struct ctx_vm_pending {
	struct ctx_map64 of_method; /* address of the description -> index in items */
	struct ctx_vm_pending_method {
		uint64_t address;
		uint32_t number;
		bool is_defined;
	} * items; /* owned */
	size_t n, cap;
	size_t n_defined;
};

/* When a virtual machine is of interest. */
struct ctx_vm_turns {
	bool fits;
	bool is_chosen;
	bool is_new;		    /* it was not chosen nor left yet */
	bool lives;		    /* its begin is a mark, its end is none yet */
	struct ctx_interval *items; /* owned; the last one has no end while it is chosen */
	size_t n, cap;
};

struct ctx_vm {
	int64_t pid;
	uint64_t since_ns;
	uint32_t process; /* CTX_NONE: not known yet */
	bool is_closed;	  /* its connection: no more messages come */
	bool is_stranger;
	bool has_hello;
	bool has_figures; /* they are written */
	struct ctx_vm_image image;
	struct ctx_vm_writing writing;
	uint64_t interpreter_begin, interpreter_end;
	uint64_t *missed; /* addresses without code, the oldest are overwritten; owned; NULL: none */
	uint32_t n_missed;
	struct ctx_map64 is_missed; /* which these are */
	uint64_t dropped, damaged;
	struct ctx_vm_pending pending;
	struct ctx_vm_marks marks;
	struct ctx_vm_objects objects;
	struct ctx_vm_polled counters;
	struct ctx_vm_turns turns;
	struct ctx_buf hello;	/* the message; owned */
	struct ctx_buf goodbye; /* likewise; empty: none came */
	uint64_t hello_ns, goodbye_ns;
	uint64_t ended_ns; /* its process; 0: not yet */
	bool is_released;  /* it has ended long ago: what it took is free, but for its counts */
	uint64_t left_out;
};

/* How virtual machines of interest are chosen. */
struct ctx_vms_interest {
	bool is_on; /* else all are of interest, always */
	struct ctx_vm_rules rules;
	struct ctx_vm_choice choice;
	struct ctx_vm_candidate *candidates; /* scratch; owned */
	size_t cap;
	uint32_t function; /* in place of stacks in those that are not; CTX_NONE: not made yet */
};

struct ctx_vms {
	char library[PATH_MAX];
	char options[128]; /* of the agent: the socket and what is wished */
	struct ctx_vm_wishes wishes;
	char *old_options; /* owned; NULL: there were none */
	struct ctx_vm_listener *listener;
	struct ctx_vm **items; /* by number of the connection */
	size_t n, cap;
	int *attached; /* connections of ctx_vms_attach; owned */
	size_t n_attached, attached_cap;
	struct ctx_buf received; /* scratch */
	struct ctx_map64 of_process;
	struct ctx_exp_writer *writer;
	const struct ctx_proctree *tree;
	struct ctx_vms_interest interest;
};

/* Records have come to the time when it connected: its pid is that of the image that did. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vms_bind_known(struct ctx_vms *vms, size_t i, uint64_t until_ns,
						  struct ctx_err *err);

/* The virtual machine of a process; a sample at a time after it has connected binds it. NULL: none, or `*ret` has failed. */
struct ctx_vm *ctx_vms_vm_of(struct ctx_vms *vms, const struct ctx_vms_stack *stack, struct ctx_err *err,
			     enum ctx_status *ret);

/* Writes a code that is known, once. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_vms_write_code(struct ctx_vms *vms, struct ctx_vm *vm,
						  struct ctx_vm_known_code *code, struct ctx_err *err);

/* It has said hello: its begin is a mark, and it is known whether it fits the rules. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vms_turns_hello(struct ctx_vms *vms, struct ctx_vm *vm,
						   const struct ctx_vm_hello *hello, struct ctx_err *err);

/* Chooses anew, and tells the agents whose turn begins or ends. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vms_turns_update(struct ctx_vms *vms, struct ctx_err *err);

/* It has ended: so have its turn and its life, in marks. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vms_turns_end(struct ctx_vm *vm, uint64_t time_ns, struct ctx_err *err);

#endif
