/*
 * The open perf events of a recording: for a command and its descendants, for given processes, or
 * for the whole system.
 *
 * Event 0 on every CPU is a dummy that carries the side-band records (mmap, comm, fork, exit,
 * switch) and owns the CPU's ring; all others write into the same ring: the user's events, then the
 * state events.
 */
#ifndef CTX_COLLECT_SESSION_H
#define CTX_COLLECT_SESSION_H

#include "base/map64.h"
#include "collect/perfevent.h"
#include "collect/perfrecord.h"
#include "collect/procfs.h"
#include "collect/ring.h"
#include "collect/session_copies.h"
#include "collect/session_sizes.h"
#include "collect/session_woken.h"
#include "collect/state_events.h"

struct ctx_session_options {
	struct ctx_perf_events
		*events;	    /* rates are set; exclude_kernel is set here where required; borrowed */
	const struct ctx_ids *tids; /* threads to record; NULL: the whole system */
	bool on_exec;		    /* enabled by the exec of the one thread, not by ctx_session_enable */
	bool follow;		    /* descendants too */
	bool user_only, kernel_only;
	size_t stack_bytes; /* of the user's stack in each sample, with registers; 0: none. A multiple of 8 */
	bool stack_is_fixed;  /* copies have that size whatever the load */
	bool without_callers; /* no call chain of the user's part */
	size_t ring_bytes;    /* per CPU, 0: the default; rounded up to a power of two pages */
	enum ctx_rec_states states;
	bool ring_is_fixed; /* fail instead of using less when the limit on locked memory is reached */
};

struct ctx_session {
	struct ctx_perf_events *events; /* borrowed */
	struct ctx_ring *rings;		/* one per CPU; owned, like all below */
	int *ring_fds;			/* to poll on */
	int32_t *ring_cpus;
	uint32_t n_rings;
	int *fds; /* all events, those that own rings included */
	size_t n_fds, fds_cap;
	struct ctx_map64 event_of_id;
	/* By event: the user's, then by enum ctx_state_event, then the records of a probe (python.h). */
	struct ctx_pe_layout *layouts;
	struct perf_event_attr *attrs; /* of the user's events, for ctx_session_open_late */
	struct ctx_state_events states;
	bool without_kernel; /* kernel samples were requested but are not permitted */
	struct ctx_session_sizes
		sizes; /* stacks: less than requested where a ring would hold too few samples */
	struct ctx_session_copies copies;
	uint64_t user_regs; /* in samples; 0: none */
	int *whole_fds;	    /* of `fds`: state events with stacks; owned */
	size_t n_whole_fds, whole_fds_cap;
	struct ctx_woken woken;
	uint64_t read_format; /* of all events; 0: they do not count what is lost (lost_counts.h) */
};

/* Whether this process can count CPU cycles. */
bool ctx_session_has_cycles(void);

/*
 * Opens everything, disabled. Fails with CTX_E_PERM (the message names the setting to change),
 * CTX_E_ARG (an event that cannot be sampled here), CTX_E_NOTFOUND (none of the threads exists),
 * CTX_E_IO, CTX_E_NOMEM. ctx_session_close is required after a failure too.
 */
CTX_MUST_CHECK enum ctx_status ctx_session_open(struct ctx_session *session,
						const struct ctx_session_options *options,
						struct ctx_err *err);
void ctx_session_enable(const struct ctx_session *session);
void ctx_session_disable(const struct ctx_session *session);
void ctx_session_close(struct ctx_session *session);

/* Takes the fd of another open event, which is closed with the session. On CTX_E_NOMEM it is closed at once. */
CTX_MUST_CHECK enum ctx_status ctx_session_keep(struct ctx_session *session, int fd, struct ctx_err *err);

/*
 * Lets the records of another open event, of fd `fd`, go into the ring of `ring_fd`, as event `event` of the layout. Fails
 * with CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_session_join(struct ctx_session *session, int fd, int ring_fd,
						uint32_t event, struct ctx_err *err);

/* The layout of the session's records; borrowed from it. */
struct ctx_perf_layout ctx_session_layout(const struct ctx_session *session);

#endif
