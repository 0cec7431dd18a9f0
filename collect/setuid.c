#include "collect/setuid.h"

#include "base/map64.h"
#include "base/mem.h"
#include "collect/procfs.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMED_MAX 10u
#define AWAITED_MAX 256u /* descriptors: further ones are looked for by their ids */

struct awaited {
	int64_t pid;
	int fd; /* of the process; -1: none */
};

struct ctx_setuid {
	struct ctx_proctree *tree;	 /* borrowed */
	struct ctx_exp_writer *writer;	 /* borrowed */
	struct ctx_map64 has_no_mapping; /* pids after their exec */
	struct awaited *awaited;	 /* owned */
	size_t n, cap, n_open;
	uint64_t n_begun;
	int epoll; /* -1 */
};

enum ctx_status ctx_setuid_create(struct ctx_proctree *tree, struct ctx_exp_writer *writer,
				  struct ctx_setuid **ret, struct ctx_err *err)
{
	struct ctx_setuid *setuid = ctx_calloc(1, sizeof(*setuid));

	if (setuid == NULL)
		return ctx_err_nomem(err);
	setuid->tree = tree;
	setuid->writer = writer;
	setuid->epoll = epoll_create1(EPOLL_CLOEXEC);
	*ret = setuid;
	return CTX_OK;
}

void ctx_setuid_destroy(struct ctx_setuid *setuid)
{
	if (setuid == NULL)
		return;
	for (size_t i = 0; i < setuid->n; i++) {
		if (setuid->awaited[i].fd >= 0)
			close(setuid->awaited[i].fd);
	}
	if (setuid->epoll >= 0)
		close(setuid->epoll);
	ctx_map64_deinit(&setuid->has_no_mapping);
	free(setuid->awaited);
	free(setuid);
}

void ctx_setuid_note(struct ctx_setuid *setuid, const struct ctx_perf_record *record)
{
	uint32_t *place;

	if (record->type == PERF_RECORD_MMAP2) {
		ctx_map64_remove(&setuid->has_no_mapping, record->pid);
	} else if (record->type == PERF_RECORD_COMM && (record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0) {
		place = ctx_map64_place(&setuid->has_no_mapping, record->pid);
		if (place != NULL)
			*place = 1;
	}
}

bool ctx_setuid_is_false_exit(struct ctx_setuid *setuid, const struct ctx_perf_record *record)
{
	if (record->pid != record->tid ||
	    ctx_map64_get(&setuid->has_no_mapping, record->pid) == CTX_MAP64_NONE)
		return false;
	ctx_map64_remove(&setuid->has_no_mapping, record->pid);
	return true;
}

/* Without a descriptor its id is asked for: ctx_setuid_reap. */
static enum ctx_status await(struct ctx_setuid *setuid, int64_t pid, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&setuid->awaited, &setuid->cap, setuid->n + 1, err);
	struct epoll_event event = {.events = EPOLLIN};
	int fd = -1;

	if (status != CTX_OK)
		return status;
	if (setuid->n_open < AWAITED_MAX)
		fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd >= 0) {
		setuid->n_open++;
		(void)epoll_ctl(setuid->epoll, EPOLL_CTL_ADD, fd, &event);
	}
	setuid->awaited[setuid->n++] = (struct awaited){pid, fd};
	return CTX_OK;
}

static enum ctx_status warn(struct ctx_setuid *setuid, const struct ctx_perf_record *record,
			    uint64_t since_ns, struct ctx_err *err)
{
	char name[64], text[256];

	if (setuid->n_begun++ >= NAMED_MAX)
		return CTX_OK;
	ctx_proctree_name(setuid->tree, record->pid, name, sizeof(name));
	snprintf(text, sizeof(text),
		 "PID %" PRIu32
		 " (%s): a setuid or unreadable program: the kernel ends the recording of it and "
		 "of what it starts at its exec, at %.3f ms; ctxrec -a records it",
		 record->pid, name, (double)(record->time_ns - since_ns) / 1e6);
	return ctx_exp_warning(setuid->writer, record->time_ns, text, err);
}

enum ctx_status ctx_setuid_begin(struct ctx_setuid *setuid, const struct ctx_perf_record *record,
				 uint64_t since_ns, struct ctx_err *err)
{
	enum ctx_status status = warn(setuid, record, since_ns, err);

	if (status == CTX_OK)
		status = ctx_proctree_end_threads(setuid->tree, record->pid, record->time_ns, err);
	return status == CTX_OK ? await(setuid, record->pid, err) : status;
}

int ctx_setuid_fd(const struct ctx_setuid *setuid)
{
	return setuid->epoll;
}

/* A descriptor is readable as soon as the process has ended, a zombie too. */
static bool has_ended(const struct awaited *awaited)
{
	struct pollfd poll_of = {.fd = awaited->fd, .events = POLLIN};

	if (awaited->fd < 0)
		return !ctx_procfs_exists(awaited->pid);
	return poll(&poll_of, 1, 0) > 0;
}

enum ctx_status ctx_setuid_reap(struct ctx_setuid *setuid, uint64_t now_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	for (size_t i = 0; i < setuid->n; i++) {
		struct awaited *awaited = &setuid->awaited[i];

		if (status != CTX_OK || !has_ended(awaited)) {
			setuid->awaited[n++] = *awaited;
			continue;
		}
		if (awaited->fd >= 0) {
			close(awaited->fd);
			setuid->n_open--;
		}
		status = ctx_proctree_end(setuid->tree, awaited->pid, now_ns, err);
	}
	setuid->n = n;
	return status;
}

uint64_t ctx_setuid_more(const struct ctx_setuid *setuid)
{
	return setuid->n_begun > NAMED_MAX ? setuid->n_begun - NAMED_MAX : 0;
}
