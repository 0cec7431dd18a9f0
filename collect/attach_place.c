#include "collect/attach_place.h"

#include "base/mem.h"

#include <string.h>

bool ctx_attach_is_barred(const char *function)
{
	/* Beginnings of names. */
	static const char *const barred[] = {
		"malloc",      "__libc_malloc",
		"calloc",      "__libc_calloc",
		"realloc",     "__libc_realloc",
		"free",	       "__libc_free",
		"cfree",       "memalign",
		"valloc",      "__libc_memalign",
		"pvalloc",     "aligned_alloc",
		"mallinfo",    "posix_memalign",
		"mallopt",     "__libc_valloc",
		"dl",	       "__libc_dl",
		"_dl_",	       "fork",
		"vfork",       "__libc_pvalloc",
		"_Fork",       "__libc_fork",
		"exit",	       "_exit",
		"_Exit",       "quick_exit",
		"abort",       "pthread_create",
		"thrd_create", "__libc_freeres",
		"daemon",      "pthread_exit",
		"thrd_exit",   "posix_spawn",
		"popen",       "__libc_start",
		"__cxa_at",    "__cxa_finalize",
		"atexit",      "at_quick_exit",
		"on_exit",     "__register_atfork",
		"iconv",       "__gconv",
		"nss_",	       "__nss",
		"wordexp",     "pthread_atfork",
	};

	/* What calls main is a part of every stack. */
	if (strcmp(function, "__libc_start_main") == 0)
		return false;
	for (size_t i = 0; i < CTX_COUNT_OF(barred); i++) {
		if (strncmp(function, barred[i], strlen(barred[i])) == 0)
			return true;
	}
	return false;
}

bool ctx_attach_is_safe(const enum ctx_attach_frame *frames, size_t n)
{
	bool is_elsewhere = false;

	for (size_t i = 0; i < n; i++) {
		if (frames[i] == CTX_ATTACH_BARRED)
			return false;
		if (frames[i] != CTX_ATTACH_ELSEWHERE)
			continue;
		if (i != 0 && frames[i - 1] == CTX_ATTACH_INNER)
			return false;
		is_elsewhere = true;
	}
	/* A thread that is in the C library alone begins or ends. */
	return is_elsewhere;
}
