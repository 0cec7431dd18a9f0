#include "collect/session_late.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum ctx_status explain(int error, struct ctx_err *err)
{
	switch (error) {
	case ENOSPC:
		return ctx_err_set(err, CTX_E_LIMIT, "no hardware breakpoint is free");
	case ESRCH:
		return ctx_err_set(err, CTX_E_NOTFOUND, "the program has ended");
	case EACCES:
	case EPERM:
		return ctx_err_set(err, CTX_E_PERM, "the kernel refuses hardware breakpoints (%s)",
				   strerror(error));
	default:
		return ctx_err_set(err, CTX_E_ARG,
				   "the kernel does not take a hardware breakpoint there (%s)",
				   strerror(error));
	}
}

static enum ctx_status keep(struct ctx_session *session, int fd, uint32_t event, int ring_fd,
			    struct ctx_err *err)
{
	enum ctx_status status = ctx_session_keep(session, fd, err);

	if (status == CTX_OK)
		status = ctx_session_join(session, fd, ring_fd, event, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "hardware breakpoint");
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0
		       ? CTX_OK
		       : ctx_err_errno(err, CTX_E_IO, "a hardware breakpoint cannot be enabled");
}

enum ctx_status ctx_session_open_late(struct ctx_session *session, uint32_t event,
				      const struct perf_event_attr *place, int64_t tid, struct ctx_err *err)
{
	struct perf_event_attr attr = session->attrs[event];
	enum ctx_status status = CTX_OK;

	attr.bp_type = place->bp_type;
	attr.bp_addr = place->bp_addr;
	attr.bp_len = place->bp_len;
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	attr.remove_on_exec = 1;
	for (uint32_t i = 0; i < session->n_rings && status == CTX_OK; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, session->ring_cpus[i], -1,
				      PERF_FLAG_FD_CLOEXEC);

		status = fd >= 0 ? keep(session, fd, event, session->ring_fds[i], err) : explain(errno, err);
	}
	return status;
}

uint64_t ctx_session_count(const struct ctx_session *session, uint32_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < session->n_fds; i++) {
		uint64_t id, values[4];

		if (ioctl(session->fds[i], PERF_EVENT_IOC_ID, &id) == 0 &&
		    ctx_map64_get(&session->event_of_id, id) == event &&
		    read(session->fds[i], values, sizeof(values)) >= (ssize_t)sizeof(values[0]))
			sum += values[0];
	}
	return sum;
}
