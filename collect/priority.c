#include "collect/priority.h"

#include "collect/procfs.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE_FIRST (-20)
#define SLICE_NS 100000u /* the shortest that the kernel takes */

struct ctx_priority_attr ctx_priority_get(void)
{
	struct ctx_priority_attr attr = {0};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0)
		return (struct ctx_priority_attr){0};
	attr.size = sizeof(attr);
	return attr;
}

static bool set(pid_t tid, const struct ctx_priority_attr *attr)
{
	struct ctx_priority_attr copy = *attr;

	return attr->size == 0 || syscall(SYS_sched_setattr, tid, &copy, 0) == 0;
}

bool ctx_priority_set(const struct ctx_priority_attr *attr)
{
	return set(0, attr);
}

/* True: this thread has it. */
static bool set_all(const struct ctx_priority_attr *attr)
{
	struct ctx_ids tids = {0};

	if (!set(0, attr))
		return false;
	/* Threads that cannot be listed keep what they have. */
	if (ctx_procfs_tids(getpid(), &tids, NULL) == CTX_OK) {
		for (size_t i = 0; i < tids.n; i++)
			(void)set((pid_t)tids.items[i], attr);
	}
	ctx_ids_deinit(&tids);
	return true;
}

static bool is_realtime(const struct ctx_priority_attr *attr)
{
	return attr->policy == SCHED_FIFO || attr->policy == SCHED_RR || attr->policy == SCHED_DEADLINE;
}

/* As far down as the limit allows; root's is ignored by the kernel. */
static int allowed_nice(int nice)
{
	struct rlimit limit;
	int allowed = nice;

	if (getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur <= 40)
		allowed = 20 - (int)limit.rlim_cur;
	return allowed < nice ? allowed : nice;
}

static void raise_nice(struct ctx_priority *priority)
{
	struct ctx_priority_attr attr = priority->caller;
	const int32_t nice[] = {NICE_FIRST, allowed_nice(attr.nice), attr.nice};

	if (attr.policy != SCHED_OTHER && attr.policy != SCHED_BATCH)
		return;
	attr.policy = SCHED_OTHER;
	attr.slice_ns = SLICE_NS;
	for (size_t i = 0; i < sizeof(nice) / sizeof(*nice); i++) {
		attr.nice = nice[i];
		if (!set_all(&attr))
			continue;
		priority->own = attr;
		return;
	}
}

static bool set_realtime(struct ctx_priority *priority, uint32_t realtime)
{
	struct ctx_priority_attr attr = {.size = sizeof(attr),
					 .policy = SCHED_FIFO,
					 .realtime = realtime,
					 .flags = priority->caller.flags};

	if (!set_all(&attr))
		return false;
	priority->own = attr;
	return true;
}

enum ctx_status ctx_priority_raise(struct ctx_priority *priority, int asked, struct ctx_err *err)
{
	struct rlimit limit = {0};

	*priority = (struct ctx_priority){.caller = ctx_priority_get()};
	priority->own = priority->caller;
	if (asked > 0 && set_realtime(priority, (uint32_t)asked))
		return CTX_OK;
	if (asked > 0) {
		int error = errno;

		(void)getrlimit(RLIMIT_RTPRIO, &limit);
		return ctx_err_set(
			err, CTX_E_PERM,
			"--realtime %d is not allowed (%s): it needs root, the capability CAP_SYS_NICE, or a "
			"limit on real-time priorities of %d (ulimit -r; it is %llu)",
			asked, strerror(error), asked, (unsigned long long)limit.rlim_cur);
	}
	if (asked == 0 || priority->caller.size == 0 || is_realtime(&priority->caller))
		return CTX_OK;
	raise_nice(priority);
	priority->may_rise = true;
	return CTX_OK;
}

bool ctx_priority_rise(struct ctx_priority *priority)
{
	bool may_rise = priority->may_rise;

	priority->may_rise = false;
	return may_rise && set_realtime(priority, 1);
}

void ctx_priority_restore(struct ctx_priority *priority)
{
	priority->may_rise = false;
	if (memcmp(&priority->own, &priority->caller, sizeof(priority->own)) == 0)
		return;
	(void)set_all(&priority->caller);
	priority->own = priority->caller;
}

void ctx_priority_describe(const struct ctx_priority_attr *attr, char *text, size_t size)
{
	char slice[32] = "";

	if (attr->policy == SCHED_FIFO || attr->policy == SCHED_RR) {
		snprintf(text, size, "real-time %u", attr->realtime);
		return;
	}
	if (attr->slice_ns != 0)
		snprintf(slice, sizeof(slice), ", slices of %.1f ms", (double)attr->slice_ns / 1e6);
	snprintf(text, size, "nice %d%s", attr->nice, slice);
}
