/*
 * exec and posix_spawn: the program that is executed gets the runtime too, whatever environment it is
 * given, unless it cannot have it.
 *
 * Between vfork and exec the memory is the parent's: nothing is allocated, the environment is made on
 * the stack. (libc's system and popen do not come here, they hand on the environment as it is.)
 */
#include "runtime/rt_exec.h"
#include "runtime/program_check.h"
#include "runtime/rt_calls_sums.h"
#include "runtime/rt_environment.h"
#include "runtime/rt_filter.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/shared_layout.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define BYTES_MAX ((size_t)256 << 10) /* of the stack, for an environment; a larger one stays as it is */

#define LIBRARY "/libctxrt.so"
#define TOKEN "$LIB" /* in the name, by which the loader of each class finds its own */
#define DESCRIPTORS "/proc/self/fd/"

static char library[PATH_MAX]; /* as LD_PRELOAD has it */
static char own_file[PATH_MAX];
static bool has_token, has_32;
static char variable[256];
static struct ctx_rt_words words; /* library NULL: the runtime is off */

/* The name in LD_PRELOAD, where it is the first; else the file itself. False: too long. */
static bool find_library(void)
{
	const char *preload = getenv("LD_PRELOAD");
	size_t n = preload != NULL ? strcspn(preload, ": ") : 0, end = strlen(LIBRARY);

	if (n >= sizeof(library))
		return false;
	if (n < end || memcmp(preload + n - end, LIBRARY, end) != 0) {
		strcpy(library, own_file);
		return true;
	}
	memcpy(library, preload, n);
	library[n] = '\0';
	has_token = strstr(library, TOKEN) != NULL;
	return true;
}

void ctx_rt_exec_keep(const char *setting)
{
	Dl_info own;

	words = (struct ctx_rt_words){0};
	has_token = false;
	if (setting == NULL || strlen(setting) > sizeof(variable) - sizeof(CTX_RT_VARIABLE "=") ||
	    dladdr((void *)ctx_rt_exec_keep, &own) == 0 || strlen(own.dli_fname) >= sizeof(own_file))
		return;
	strcpy(own_file, own.dli_fname);
	if (!find_library())
		return;
	stpcpy(stpcpy(variable, CTX_RT_VARIABLE "="), setting);
	setting = strchr(setting, ':');
	has_32 = setting != NULL && strchr(setting, 'b') != NULL;
	words = (struct ctx_rt_words){library, variable};
}

/* As ctxrec set it: the program may change its environment later. */
__attribute__((constructor)) static void keep_settings(void)
{
	if (!ctx_rt_is_late())
		ctx_rt_exec_keep(getenv(CTX_RT_VARIABLE));
}

/* The name of a file that is executed by its descriptor. */
static void note_unfit(enum ctx_program program, const char *path)
{
	char name[256];
	ssize_t n = strncmp(path, DESCRIPTORS, strlen(DESCRIPTORS)) == 0
			    ? readlink(path, name, sizeof(name) - 1)
			    : 0;

	if (n > 0)
		name[n] = '\0';
	ctx_rt_note_unfit(program, n > 0 ? name : path);
}

/*
 * Whether a program is given the runtime's environment; one that cannot be looked at decides by itself. It may have
 * another root directory than this process had.
 */
static bool fits(const char *path)
{
	int error = errno;
	enum ctx_program program;

	if (ctx_rt_is_restricted()) /* what the program would need is forbidden */
		return false;
	if (words.library == NULL || path == NULL)
		return true;
	ctx_rt_mute();
	program = ctx_program_check(path);
	if ((program == CTX_PROGRAM_FITS || program == CTX_PROGRAM_FITS_32) && access(own_file, R_OK) != 0)
		program = CTX_PROGRAM_NOT_THERE;
	ctx_rt_unmute();
	if (program != CTX_PROGRAM_FITS && program != CTX_PROGRAM_UNKNOWN &&
	    !(program == CTX_PROGRAM_FITS_32 && has_32)) {
		note_unfit(program, path);
		errno = error;
		return has_token && ctx_program_hands_on(program);
	}
	errno = error;
	return true;
}

/* Bytes that the path of a program needs which is looked for. */
static size_t path_bytes(const char *name)
{
	const char *search = getenv("PATH");
	size_t n = strlen(name) + (search != NULL ? strlen(search) : 0) + sizeof("/usr/bin//");

	return n < PATH_MAX ? n : PATH_MAX;
}

static const char *find(const char *name, char *room, size_t size)
{
	int error = errno;
	const char *path = !ctx_rt_is_restricted() ? ctx_program_find(name, room, size) : NULL;

	errno = error;
	return path;
}

/* Its path, in the frame of the function that uses this. */
#define FOUND(name)                                                                                          \
	({                                                                                                   \
		size_t size_ = path_bytes(name);                                                             \
		find(name, alloca(size_), size_);                                                            \
	})

/* An environment may be NULL, as clearenv leaves it: it is empty. */
static char *const empty[] = {NULL};

/* `environment` with or without the runtime: made in the frame of the function that uses this. */
#define ADAPTED(environment, with)                                                                           \
	({                                                                                                   \
		char *const *given_ = (environment), *const *from_ = given_ != NULL ? given_ : empty;        \
		bool with_ = (with);                                                                         \
		size_t bytes_ = words.library != NULL ? ctx_rt_environment_bytes(&words, from_, with_) : 0;  \
		bytes_ != 0 && bytes_ <= BYTES_MAX                                                           \
			? ctx_rt_environment_make(&words, from_, with_, alloca(bytes_))                      \
			: given_;                                                                            \
	})

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	ctx_rt_sums_end(true);
	return CTX_RT_REAL(execve)(path, argv, ADAPTED(envp, fits(path)));
}

EXPORT int execv(const char *path, char *const argv[])
{
	ctx_rt_sums_end(true);
	return CTX_RT_REAL(execve)(path, argv, ADAPTED(environ, fits(path)));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	ctx_rt_sums_end(true);
	return CTX_RT_REAL(execvpe)(file, argv, ADAPTED(envp, fits(FOUND(file))));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	ctx_rt_sums_end(true);
	return CTX_RT_REAL(execvpe)(file, argv, ADAPTED(environ, fits(FOUND(file))));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	char path[32];

	snprintf(path, sizeof(path), DESCRIPTORS "%d", fd);
	ctx_rt_sums_end(true);
	return CTX_RT_REAL(fexecve)(fd, argv, ADAPTED(envp, fits(path)));
}

static size_t count_arguments(va_list *list)
{
	size_t n = 1;

	while (va_arg(*list, char *) != NULL)
		n++;
	return n;
}

/* With the NULL behind the last one: the list goes on there, for the caller too. */
static char **take_arguments(const char *first, va_list *list, char **argv, size_t n)
{
	argv[0] = (char *)first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(*list, char *);
	return argv;
}

/* The arguments behind `first`, as an array in the frame of the function that uses this. */
#define ARGUMENTS(first, list)                                                                               \
	({                                                                                                   \
		va_list counted_;                                                                            \
		size_t n_;                                                                                   \
		va_copy(counted_, list);                                                                     \
		n_ = count_arguments(&counted_);                                                             \
		va_end(counted_);                                                                            \
		take_arguments(first, &(list), alloca((n_ + 1) * sizeof(char *)), n_);                       \
	})

EXPORT int execl(const char *path, const char *arg, ...)
{
	va_list list;
	char **argv;

	va_start(list, arg);
	argv = ARGUMENTS(arg, list);
	va_end(list);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	va_list list;
	char **argv;

	va_start(list, arg);
	argv = ARGUMENTS(arg, list);
	va_end(list);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	va_list list;
	char **argv;

	va_start(list, arg);
	argv = ARGUMENTS(arg, list);
	envp = va_arg(list, char *const *);
	va_end(list);
	return execve(path, argv, envp);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return CTX_RT_REAL(posix_spawn)(pid, path, actions, attributes, argv, ADAPTED(envp, fits(path)));
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return CTX_RT_REAL(posix_spawnp)(pid, file, actions, attributes, argv,
					 ADAPTED(envp, fits(FOUND(file))));
}
