/*
 *	constructor --> shared file --> objects that are loaded --> int3 at each site
 *	int3 --SIGTRAP--> handler: the byte again, site and log; or the program's own handler
 */
#include "runtime/rt_once.h"

#include "runtime/once_layout.h"
#include "runtime/rt_memory.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_recorder.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ucontext.h>

#define EXPORT __attribute__((visibility("default")))
#define TRAP 0xccu
#define TRAP_SIGNAL (UINT64_C(1) << (SIGTRAP - 1))
#define OBJECTS_MAX 64u /* of a recording */
#define PAGE 4096u
#define FILES_MAX (UINT64_C(1) << 30) /* bytes that the shared file may have */

#ifdef __x86_64__
#define IP REG_RIP
#else
#define IP REG_EIP
#endif

struct armed { /* an object of the file, in this process */
	uint64_t base;
	uint32_t first, n; /* of its sites, as they were when it was armed */
	const uint8_t
		*original; /* by site: its byte; TRAP: it is not armed. NULL: the object is not loaded */
	bool is_writable;
};

static struct ctx_rt_once_header *shared; /* NULL: off */
/* As the header was when it was checked: what another process writes there moves nothing here. */
static uint32_t n_objects, n_sites;
static struct armed armed[OBJECTS_MAX];
static struct sigaction program_action; /* as the program set it */
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);

bool ctx_rt_once_is_on(void)
{
	return shared != NULL;
}

/* Sites */

static struct ctx_rt_once_site *sites_of(void)
{
	return (struct ctx_rt_once_site *)((struct ctx_rt_once_object *)(shared + 1) + n_objects);
}

static const struct ctx_rt_once_object *object_of(uint32_t number)
{
	return (struct ctx_rt_once_object *)(shared + 1) + number;
}

/* The number of the site at an address of the object; UINT32_MAX: none. */
static uint32_t find_site(const struct armed *object, uint64_t address)
{
	const struct ctx_rt_once_site *sites = sites_of();
	uint32_t low = object->first, high = object->first + object->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sites[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < object->first + object->n && sites[low].address == address ? low : UINT32_MAX;
}

/* Text that may not be made writable is written as a debugger writes it. */
static bool write_by_file(uint64_t address, uint8_t byte)
{
	int fd = (int)ctx_rt_syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
	bool written;

	if (fd < 0)
		return false;
#ifdef __x86_64__
	written = ctx_rt_syscall(SYS_pwrite64, fd, &byte, 1, (off_t)address) == 1;
#else
	written = ctx_rt_syscall(SYS_pwrite64, fd, &byte, 1, (uint32_t)address, 0) == 1;
#endif
	ctx_rt_close(fd);
	return written;
}

static bool write_byte(const struct armed *object, uint64_t address, uint8_t byte)
{
	if (!object->is_writable)
		return write_by_file(address, byte);
	*(volatile uint8_t *)(uintptr_t)address = byte;
	return true;
}

static void note_hit(uint32_t number, uint64_t ip)
{
	struct ctx_rt_once_site *site = sites_of() + number;
	uint32_t at;

	if (atomic_exchange(&site->is_taken, 1) != 0)
		return;
	site->ip = ip;
	site->time_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	if (!ctx_rt_is_restricted()) {
		site->pid = (uint32_t)ctx_rt_syscall(SYS_getpid);
		site->tid = (uint32_t)ctx_rt_syscall(SYS_gettid);
	}
	at = atomic_fetch_add(&shared->n_hits, 1);
	if (at < n_sites)
		atomic_store_explicit(&((_Atomic uint32_t *)(sites_of() + n_sites))[at], number + 1,
				      memory_order_release);
}

/* Whether it was a trap of ours. */
static bool take_trap(uint64_t ip)
{
	for (uint32_t i = 0; i < n_objects; i++) {
		const struct armed *here = &armed[i];
		uint32_t number = here->original != NULL ? find_site(here, ip - here->base) : UINT32_MAX;
		uint8_t byte;

		if (number == UINT32_MAX)
			continue;
		byte = here->original[number - here->first];
		if (byte == TRAP)
			return false;
		if (!write_byte(here, ip, byte))
			return false;
		note_hit(number, ip);
		return true;
	}
	return false;
}

/* Signals */

/* What the program's handler is to have blocked; it meets sites itself. The kernel puts everything back when we return. */
static void unblock(const struct sigaction *action, const ucontext_t *interrupted)
{
	uint64_t before, more;

	memcpy(&before, &interrupted->uc_sigmask, sizeof(before));
	memcpy(&more, &action->sa_mask, sizeof(more));
	before = (before | more) & ~TRAP_SIGNAL;
	if (!ctx_rt_is_restricted())
		(void)ctx_rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/* What would have happened without us. */
static void hand_on(int signal, siginfo_t *info, void *context)
{
	const struct sigaction action = program_action;
	const struct sigaction usual = {.sa_handler = SIG_DFL};

	unblock(&action, context);
	if ((action.sa_flags & SA_SIGINFO) != 0) {
		action.sa_sigaction(signal, info, context);
	} else if (action.sa_handler == SIG_IGN && info->si_code <= 0) {
		return;
	} else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
		action.sa_handler(signal);
	} else {
		/* It is pending until this handler returns. */
		(void)real_sigaction(SIGTRAP, &usual, NULL);
		(void)ctx_rt_syscall(SYS_tgkill, ctx_rt_syscall(SYS_getpid), ctx_rt_syscall(SYS_gettid),
				     SIGTRAP);
	}
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	uint64_t ip = (uint64_t)(uintptr_t)interrupted->uc_mcontext.gregs[IP];
	int error = errno;

	if (info->si_code == SI_KERNEL && take_trap(ip - 1))
		interrupted->uc_mcontext.gregs[IP]--;
	else
		hand_on(signal, info, context);
	errno = error;
}

static bool set_handler(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	const uint64_t trap = TRAP_SIGNAL;

	real_sigaction = CTX_RT_REAL(sigaction);
	if (real_sigaction == NULL)
		return false;
	/* Handlers of the program meet traps, too: none runs inside of this one. */
	sigfillset(&action.sa_mask);
	return real_sigaction(SIGTRAP, &action, &program_action) == 0 &&
	       ctx_rt_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &trap, NULL, sizeof(trap)) == 0;
}

/* Arming */

static bool is_file(const struct ctx_rt_once_object *object, const char *path)
{
	struct stat found;

	return fstatat(AT_FDCWD, path, &found, 0) == 0 && found.st_dev == object->device &&
	       found.st_ino == object->inode;
}

struct text { /* of a segment of a loaded object */
	uint64_t begin, end;
	int protection;
};

static bool make_writable(const struct text *text, bool is_writable)
{
	uint64_t begin = text->begin & ~(uint64_t)(PAGE - 1);
	uint64_t end = (text->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);

	return ctx_rt_syscall(SYS_mprotect, (long)begin, (long)(end - begin),
			      text->protection | (is_writable ? PROT_WRITE : 0)) == 0;
}

/* The sites in a segment. Returns how many could not be armed. */
static uint64_t arm_segment(const struct armed *here, uint8_t *original, const struct text *text)
{
	const struct ctx_rt_once_site *sites = sites_of();
	uint64_t refused = 0;

	for (uint32_t i = 0; i < here->n; i++) {
		uint64_t address = here->base + sites[here->first + i].address;
		uint8_t byte;

		if (address < text->begin || address >= text->end)
			continue;
		byte = *(const uint8_t *)(uintptr_t)address;
		if (byte == TRAP)
			continue;
		original[i] = byte;
		/* Somebody has executed it already: it is counted. */
		if (atomic_load(&sites[here->first + i].is_taken) != 0)
			continue;
		if (!write_byte(here, address, TRAP)) {
			original[i] = TRAP;
			refused++;
		}
	}
	return refused;
}

static void arm_object(uint32_t number, const struct dl_phdr_info *info)
{
	struct ctx_rt_once_object *object = (struct ctx_rt_once_object *)(shared + 1) + number;
	struct armed *here = &armed[number];
	const uint32_t first = object->first, n = object->n;
	uint8_t *original = first <= n_sites && n <= n_sites - first ? ctx_rt_memory_map(n) : NULL;
	uint64_t refused = 0;

	if (original == NULL)
		return;
	memset(original, TRAP, n);
	*here = (struct armed){
		.base = info->dlpi_addr, .first = first, .n = n, .original = original, .is_writable = true};
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const struct text text = {info->dlpi_addr + segment->p_vaddr,
					  info->dlpi_addr + segment->p_vaddr + segment->p_filesz,
					  ((segment->p_flags & PF_R) != 0 ? PROT_READ : 0) | PROT_EXEC};

		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
			continue;
		if (here->is_writable && !make_writable(&text, true))
			here->is_writable = false;
		refused += arm_segment(here, original, &text);
	}
	atomic_fetch_add(&object->refused, refused);
	if (atomic_exchange(&object->is_taken, 1) == 0) {
		object->base = info->dlpi_addr;
		object->pid = (uint32_t)ctx_rt_syscall(SYS_getpid);
		atomic_store(&object->armed_ns, ctx_clock_ns(CLOCK_MONOTONIC));
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";

	(void)size;
	(void)context;
	for (uint32_t i = 0; i < n_objects; i++) {
		bool is_known = armed[i].original != NULL && armed[i].base == info->dlpi_addr;

		if (!is_known && is_file(object_of(i), path))
			arm_object(i, info);
	}
	return 0;
}

static struct ctx_rt_once_header *map_shared(void)
{
	int fd = ctx_rt_recorder_request(CTX_RT_ASK_ONCE);
	struct ctx_rt_once_header *header = fd >= 0 ? ctx_rt_memory_map_file(fd, PAGE) : NULL, *all = NULL,
				  copy;
	struct stat found;

	if (header != NULL) {
		memcpy(&copy, header, sizeof(copy));
		if (copy.magic == CTX_RT_ONCE_MAGIC && copy.version == CTX_RT_ONCE_VERSION &&
		    copy.bytes <= FILES_MAX && copy.n_objects <= OBJECTS_MAX &&
		    copy.bytes >= ctx_rt_once_bytes(copy.n_objects, copy.n_sites) &&
		    fstatat(fd, "", &found, AT_EMPTY_PATH) == 0 && (uint64_t)found.st_size == copy.bytes)
			all = ctx_rt_memory_map_file(fd, (size_t)copy.bytes);
		n_objects = copy.n_objects;
		n_sites = copy.n_sites;
		ctx_rt_memory_unmap(header, PAGE);
	}
	if (fd >= 0)
		ctx_rt_close(fd);
	return all;
}

static void arm_loaded(void)
{
	ctx_rt_mute();
	(void)dl_iterate_phdr(look_at, NULL);
	ctx_rt_unmute();
}

void ctx_rt_once_opened(void)
{
	int error = errno;

	if (shared != NULL && !ctx_rt_is_restricted())
		arm_loaded();
	errno = error;
}

/* Before the program's own functions. */
__attribute__((constructor)) static void start(void)
{
	int error = errno;

	if ((ctx_rt_begin() & CTX_RT_WHAT_ONCE) != 0 && !ctx_rt_is_restricted() && !ctx_rt_is_late()) {
		struct ctx_rt_once_header *all = map_shared();

		if (all != NULL && set_handler()) {
			shared = all;
			arm_loaded();
		}
	}
	errno = error;
}

/* Functions of signals, which the runtime stands in front of */

const sigset_t *ctx_rt_once_set(const sigset_t *set, sigset_t *room)
{
	if (shared == NULL || set == NULL)
		return set;
	*room = *set;
	(void)sigdelset(room, SIGTRAP);
	return room;
}

/* Of SIGTRAP the program's action is kept, and called where a trap is not ours. */
EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction changed;

	if (shared == NULL)
		return CTX_RT_REAL(sigaction)(signal, action, old);
	if (signal == SIGTRAP) {
		const struct sigaction before = program_action;

		if (action != NULL)
			program_action = *action;
		if (old != NULL)
			*old = before;
		return 0;
	}
	if (action == NULL)
		return CTX_RT_REAL(sigaction)(signal, action, old);
	changed = *action;
	(void)sigdelset(&changed.sa_mask, SIGTRAP);
	return CTX_RT_REAL(sigaction)(signal, &changed, old);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	sighandler_t before = program_action.sa_handler;

	if (shared == NULL || number != SIGTRAP)
		return CTX_RT_REAL(signal)(number, handler);
	program_action = (struct sigaction){.sa_handler = handler};
	return before;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return CTX_RT_REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : ctx_rt_once_set(set, &room), old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return CTX_RT_REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : ctx_rt_once_set(set, &room), old);
}

EXPORT int sigsuspend(const sigset_t *set)
{
	sigset_t room;

	return CTX_RT_REAL(sigsuspend)(ctx_rt_once_set(set, &room));
}
