#include "collect/attach.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/attach_target.h"
#include "collect/attach_thread.h"
#include "collect/procfs.h"
#include "runtime/attach_result.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define ROUNDS 500u	 /* in which no thread was at a safe place */
#define ROUND_NS 1000000 /* between two */
#define THREADS_MAX 64u	 /* that are tried in a round */
#define STACK_BYTES ((uint64_t)512 << 10)
#define TEXT_MAX 200u

struct ctx_attach {
	int64_t pid;
	uint64_t started; /* when it began: tells it from a later one of the same id */
	uint64_t inode;	  /* of the library */
	uint64_t detach_at;
	struct ctx_attach_result result;
};

static const uint64_t no_arguments[CTX_ATTACH_ARGUMENTS];

/* A safe place */

/* "S" of a thread's stat; 0: it has ended. */
static char state_of(int64_t pid, int64_t tid)
{
	struct ctx_buf text = {0};
	const char *behind = NULL;
	char file[64], state = '\0';

	snprintf(file, sizeof(file), "task/%lld/stat", (long long)tid);
	if (ctx_procfs_text(pid, file, &text, NULL) == CTX_OK)
		behind = strrchr((const char *)text.bytes, ')');
	if (behind != NULL && behind[1] == ' ')
		state = behind[2];
	ctx_buf_deinit(&text);
	return state;
}

/* CTX_END: not this one. */
static enum ctx_status try_thread(const struct ctx_attach_target *target, int64_t tid,
				  struct ctx_attach_thread **ret, uint64_t *ret_since_ns, struct ctx_err *err)
{
	uint64_t now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	struct ctx_attach_thread *thread;
	enum ctx_status status = ctx_attach_thread_begin(target->pid, tid, &thread, err);
	struct ctx_user_regs regs;

	if (status != CTX_OK)
		return status;
	regs = ctx_attach_thread_regs(thread);
	if (!ctx_attach_target_is_safe(target, &regs)) {
		ctx_attach_thread_end(thread);
		return CTX_END;
	}
	*ret = thread;
	*ret_since_ns = now_ns;
	return CTX_OK;
}

/* Those that wait are more often at a safe place, and stand still anyway. */
static enum ctx_status try_threads(const struct ctx_attach_target *target, struct ctx_attach_thread **ret,
				   uint64_t *ret_since_ns, struct ctx_err *err)
{
	struct ctx_ids tids = {0};
	enum ctx_status status = ctx_procfs_tids(target->pid, &tids, err);
	const char *const states = "SR";
	size_t tried = 0;

	if (status == CTX_OK)
		status = tids.n != 0 ? CTX_END : CTX_E_NOTFOUND;
	for (const char *state = states; *state != '\0' && status == CTX_END; state++) {
		for (size_t i = 0; i < tids.n && status == CTX_END && tried < THREADS_MAX; i++) {
			if (state_of(target->pid, tids.items[i]) != *state)
				continue;
			tried++;
			status = try_thread(target, tids.items[i], ret, ret_since_ns, err);
		}
	}
	ctx_ids_deinit(&tids);
	return status;
}

static enum ctx_status borrow(const struct ctx_attach_target *target, struct ctx_attach_thread **ret,
			      uint64_t *ret_since_ns, struct ctx_err *err)
{
	const struct timespec pause = {.tv_nsec = ROUND_NS};
	enum ctx_status status = CTX_END;

	for (unsigned i = 0; i < ROUNDS && status == CTX_END; i++) {
		status = try_threads(target, ret, ret_since_ns, err);
		if (status == CTX_END)
			(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	if (status == CTX_E_NOTFOUND)
		return ctx_err_set(err, status, "process %lld has ended", (long long)target->pid);
	return status == CTX_END
		       ? ctx_err_set(
				 err, CTX_E_ARG,
				 "process %lld cannot be traced: none of its threads was found outside of "
				 "the loader, the allocator, and code that cannot be unwound",
				 (long long)target->pid)
		       : status;
}

/* Calls */

/* A stay in a thread of the process. */
struct visit {
	struct ctx_attach_thread *thread;
	const struct ctx_attach_target *target;
	uint64_t since_ns;
	uint64_t stack; /* for the calls; texts are at its lowest byte. 0: none yet */
	uint64_t errno_at;
	int32_t error; /* errno as it was */
};

static enum ctx_status call(const struct visit *visit, enum ctx_attach_function function,
			    const uint64_t arguments[CTX_ATTACH_ARGUMENTS], uint64_t *ret,
			    struct ctx_err *err)
{
	return ctx_attach_thread_call(visit->thread, visit->target->functions[function], arguments, ret, err);
}

/* Its own stack may have no room. */
static enum ctx_status make_stack(struct visit *visit, struct ctx_err *err)
{
	const uint64_t arguments[CTX_ATTACH_ARGUMENTS] = {
		0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0};
	uint64_t stack;
	enum ctx_status status = call(visit, CTX_ATTACH_MMAP, arguments, &stack, err);

	if (status != CTX_OK)
		return status;
	if (stack == (uint64_t)MAP_FAILED)
		return ctx_err_set(err, CTX_E_ARG, "process %lld cannot be traced: it gets no memory",
				   (long long)visit->target->pid);
	visit->stack = stack;
	ctx_attach_thread_use_stack(visit->thread, stack + STACK_BYTES / 2, stack + STACK_BYTES);
	return CTX_OK;
}

static void visit_end(struct visit *visit)
{
	const uint64_t arguments[CTX_ATTACH_ARGUMENTS] = {visit->stack, STACK_BYTES};
	uint64_t ignored;

	ctx_attach_thread_use_stack(visit->thread, 0, 0);
	if (visit->stack != 0)
		(void)!call(visit, CTX_ATTACH_MUNMAP, arguments, &ignored, NULL);
	if (visit->errno_at != 0)
		(void)ctx_attach_thread_write(visit->thread, visit->errno_at, &visit->error,
					      sizeof(visit->error));
	ctx_attach_thread_end(visit->thread);
}

static enum ctx_status visit_begin(const struct ctx_attach_target *target, struct visit *ret,
				   struct ctx_err *err)
{
	struct visit visit = {.target = target};
	enum ctx_status status = borrow(target, &visit.thread, &visit.since_ns, err);
	uint64_t at;

	if (status != CTX_OK)
		return status;
	status = call(&visit, CTX_ATTACH_ERRNO, no_arguments, &at, err);
	if (status == CTX_OK && ctx_attach_thread_read(visit.thread, at, &visit.error, sizeof(visit.error)))
		visit.errno_at = at;
	if (status == CTX_OK)
		status = make_stack(&visit, err);
	if (status != CTX_OK)
		visit_end(&visit);
	else
		*ret = visit;
	return status;
}

/* A text for a call, in the half of the stack that calls do not use. */
static bool put_text(const struct visit *visit, const char *text)
{
	size_t n = strlen(text) + 1;

	return n <= STACK_BYTES / 2 && ctx_attach_thread_write(visit->thread, visit->stack, text, n);
}

/* What the loader says. */
static enum ctx_status say_why(const struct visit *visit, struct ctx_err *err)
{
	char text[TEXT_MAX + 1] = "";
	uint64_t at = 0;
	size_t n = 0;

	if (call(visit, CTX_ATTACH_DLERROR, no_arguments, &at, NULL) != CTX_OK)
		at = 0;
	while (at != 0 && n < TEXT_MAX && ctx_attach_thread_read(visit->thread, at + n, &text[n], 1) &&
	       text[n] != '\0') {
		if ((unsigned char)text[n] < ' ')
			text[n] = '?';
		n++;
	}
	text[n] = '\0';
	return ctx_err_set(err, CTX_E_ARG, "process %lld cannot be traced: its loader says \"%s\"",
			   (long long)visit->target->pid, text);
}

static enum ctx_status find_function(const struct visit *visit, uint64_t library, const char *name,
				     uint64_t *ret, struct ctx_err *err)
{
	const uint64_t arguments[CTX_ATTACH_ARGUMENTS] = {library, visit->stack};
	enum ctx_status status = put_text(visit, name) ? CTX_OK : CTX_E_IO;

	if (status == CTX_OK)
		status = call(visit, CTX_ATTACH_DLSYM, arguments, ret, err);
	return status == CTX_OK && *ret == 0 ? say_why(visit, err) : status;
}

static enum ctx_status load(const struct visit *visit, const char *path, uint64_t *ret, struct ctx_err *err)
{
	const uint64_t arguments[CTX_ATTACH_ARGUMENTS] = {visit->stack, RTLD_NOW | RTLD_NODELETE};
	enum ctx_status status = put_text(visit, path) ? CTX_OK : CTX_E_IO;

	if (status == CTX_OK)
		status = call(visit, CTX_ATTACH_DLOPEN, arguments, ret, err);
	return status == CTX_OK && *ret == 0 ? say_why(visit, err) : status;
}

static enum ctx_status judge(int64_t pid, int64_t result, struct ctx_err *err)
{
	static const char *const reasons[] = {
		[-CTX_RT_ATTACH_PRELOADED] = "it was started by ctxrec with --trace",
		[-CTX_RT_ATTACH_TRACED] = "another ctxrec traces it",
		[-CTX_RT_ATTACH_UNREACHABLE] = "it gets no connection to the recorder, or no memory",
		[-CTX_RT_ATTACH_UNFIT] = "its C library is older than glibc 2.35",
	};

	if (result >= 0)
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG, "process %lld cannot be traced: %s", (long long)pid,
			   result > -(int64_t)CTX_COUNT_OF(reasons) ? reasons[-result]
								    : "the library says no reason");
}

static enum ctx_status enter(const struct visit *visit, const struct ctx_attach_options *options,
			     struct ctx_attach *attach, struct ctx_err *err)
{
	const uint64_t arguments[CTX_ATTACH_ARGUMENTS] = {visit->stack};
	uint64_t library = 0, attach_at = 0, slots = 0;
	enum ctx_status status = load(visit, options->library, &library, err);

	if (status == CTX_OK)
		status = find_function(visit, library, CTX_RT_ATTACH_FUNCTION, &attach_at, err);
	if (status == CTX_OK)
		status = find_function(visit, library, CTX_RT_DETACH_FUNCTION, &attach->detach_at, err);
	if (status == CTX_OK)
		status = put_text(visit, options->setting) ? CTX_OK : CTX_E_IO;
	if (status == CTX_OK)
		status = ctx_attach_thread_call(visit->thread, attach_at, arguments, &slots, err);
	if (status == CTX_OK)
		status = judge(options->pid, (int64_t)slots, err);
	attach->result.slots = slots;
	return status;
}

/* The process and its program */

/* When the process began; 0: it has ended. */
static uint64_t beginning_of(int64_t pid)
{
	struct ctx_buf text = {0};
	const char *at = NULL;
	uint64_t began = 0;

	if (ctx_procfs_text(pid, "stat", &text, NULL) == CTX_OK)
		at = strrchr((const char *)text.bytes, ')');
	for (unsigned field = 2; at != NULL && field < 22; field++) {
		at = strchr(at, ' ');
		at = at != NULL ? at + 1 : NULL;
	}
	if (at != NULL)
		began = strtoull(at, NULL, 10);
	ctx_buf_deinit(&text);
	return began;
}

/* Whether the function is still there: not after an exec. */
static bool is_loaded(const struct ctx_attach *attach)
{
	struct ctx_buf text = {0};
	struct ctx_procfs_map map;
	bool found = false;
	char *rest = ctx_procfs_maps(attach->pid, &text, NULL) == CTX_OK ? (char *)text.bytes : NULL;

	while (!found && rest != NULL && ctx_procfs_next_map(&rest, &map))
		found = attach->detach_at - map.address < map.size && map.inode == attach->inode;
	ctx_buf_deinit(&text);
	return found;
}

enum ctx_status ctx_attach_check(const struct ctx_attach_options *options, struct ctx_err *err)
{
	return ctx_attach_target_check(options->pid, options->library, err);
}

enum ctx_status ctx_attach_create(const struct ctx_attach_options *options, struct ctx_attach **ret,
				  struct ctx_err *err)
{
	struct ctx_attach *attach = ctx_calloc(1, sizeof(*attach));
	struct ctx_attach_target target;
	enum ctx_status status;
	struct visit visit;
	struct stat info;

	if (attach == NULL)
		return ctx_err_nomem(err);
	attach->pid = options->pid;
	attach->started = beginning_of(options->pid);
	attach->inode = stat(options->library, &info) == 0 ? info.st_ino : 0;
	status = ctx_attach_target_open(&target, options->pid, err);
	if (status == CTX_OK)
		status = ctx_attach_target_check(options->pid, options->library, err);
	if (status == CTX_OK)
		status = visit_begin(&target, &visit, err);
	if (status == CTX_OK) {
		status = enter(&visit, options, attach, err);
		visit_end(&visit);
		attach->result.stopped_ns = ctx_clock_ns(CLOCK_MONOTONIC) - visit.since_ns;
	}
	ctx_attach_target_close(&target);
	if (status == CTX_OK)
		*ret = attach;
	else
		free(attach);
	return status;
}

static enum ctx_status leave(const struct ctx_attach *attach, struct ctx_err *err)
{
	struct ctx_attach_target target;
	struct visit visit;
	uint64_t slots;
	enum ctx_status status;

	if (beginning_of(attach->pid) != attach->started || !is_loaded(attach))
		return CTX_OK; /* nothing is left of it */
	status = ctx_attach_target_open(&target, attach->pid, err);
	if (status == CTX_OK)
		status = visit_begin(&target, &visit, err);
	if (status == CTX_OK) {
		status = ctx_attach_thread_call(visit.thread, attach->detach_at, no_arguments, &slots, err);
		visit_end(&visit);
	}
	ctx_attach_target_close(&target);
	return beginning_of(attach->pid) != attach->started ? CTX_OK : status;
}

enum ctx_status ctx_attach_destroy(struct ctx_attach *attach, struct ctx_err *err)
{
	enum ctx_status status = attach != NULL ? leave(attach, err) : CTX_OK;

	free(attach);
	return status;
}

struct ctx_attach_result ctx_attach_result(const struct ctx_attach *attach)
{
	return attach->result;
}
