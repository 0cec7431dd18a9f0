/*
 * Memory of the runtime itself, by system calls: the C library's mmap is one of the functions that the
 * runtime stands in for.
 */
#ifndef CTX_RUNTIME_RT_MEMORY_H
#define CTX_RUNTIME_RT_MEMORY_H

#include "runtime/rt_filter.h"
#include "runtime/rt_syscall.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* i386's first system call of this name has other parameters; the offset is always 0 here. */
#ifdef SYS_mmap2
#define CTX_RT_SYS_MMAP SYS_mmap2
#else
#define CTX_RT_SYS_MMAP SYS_mmap
#endif

/* Of a file, shared. NULL: errno says why. */
static inline void *ctx_rt_memory_map_file(int fd, size_t bytes)
{
	long at = ctx_rt_syscall(CTX_RT_SYS_MMAP, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				 (off_t)0);

	return at != -1 ? (void *)at : NULL;
}

/* Of no file: zero. NULL: none, or the runtime makes no system calls any more. errno is kept. */
static inline void *ctx_rt_memory_map(size_t bytes)
{
	int error = errno;
	long at = -1;

	if (!ctx_rt_is_restricted())
		at = ctx_rt_syscall(CTX_RT_SYS_MMAP, NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, (off_t)0);
	errno = error;
	return at != -1 ? (void *)at : NULL;
}

static inline void ctx_rt_memory_unmap(void *memory, size_t bytes)
{
	int error = errno;

	(void)ctx_rt_syscall(SYS_munmap, memory, bytes);
	errno = error;
}

#endif
