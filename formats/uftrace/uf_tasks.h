/*
 * task.txt: sessions (images of programs), tasks (threads), forks and opened libraries, as images and lives.
 *
 *	SESS timestamp=1.000000000 pid=7 sid=0123456789abcdef exename="/bin/app"
 *	TASK timestamp=1.000000010 tid=7 pid=7
 *	FORK timestamp=1.000000020 pid=8 ppid=7
 *	DLOP timestamp=1.000000030 tid=7 sid=0123456789abcdef base=7f0000000000 libname="/lib/libx.so"
 *
 * A session of a process that has one already is an exec: the old image ends. A tid that is announced again is
 * another thread's. Old recordings have tid= for pid= in SESS.
 */
#ifndef CTX_FORMATS_UFTRACE_UF_TASKS_H
#define CTX_FORMATS_UFTRACE_UF_TASKS_H

#include "base/map64.h"
#include "model/source_notes.h"

#define CTX_UF_SID_MAX 16

struct ctx_uf_session {
	char sid[CTX_UF_SID_MAX + 1];
	const char *exe;
};

struct ctx_uf_image { /* a process of the source; its number is that of the array */
	uint64_t begin_ns, end_ns;
	int64_t pid;
	uint32_t session;    /* CTX_NONE: none is known */
	uint32_t parent;     /* image; CTX_NONE */
	const char *lineage; /* "_f1_x1" */
	uint32_t n_forks, n_execs;
	bool is_fork;
};

struct ctx_uf_life { /* of a thread; its number is that of the array */
	uint64_t begin_ns, end_ns;
	int64_t tid;
	uint32_t image;
	bool is_announced; /* by TASK, not only by its image */
};

struct ctx_uf_library {
	uint64_t time_ns, base;
	const char *path;
	uint32_t session;
};

struct ctx_uf_tasks {
	struct ctx_uf_session *sessions; /* owned, like the other arrays; their texts are in `arena` */
	size_t n_sessions, sessions_cap;
	struct ctx_uf_image *images; /* by begin */
	size_t n_images, images_cap;
	struct ctx_uf_life *lives; /* by begin */
	size_t n_lives, lives_cap;
	struct ctx_uf_library *libraries; /* by time */
	size_t n_libraries, libraries_cap;
	struct ctx_map64 image_of_pid, life_of_tid; /* the last ones */
	struct ctx_arena arena;
};

void ctx_uf_tasks_deinit(struct ctx_uf_tasks *tasks);

/*
 * Reads task.txt of a directory. Lines that cannot be understood are damage in `notes`. CTX_E_NOTFOUND, CTX_E_IO,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_uf_tasks_read(struct ctx_uf_tasks *tasks, const char *directory,
						 struct ctx_source_notes *notes, struct ctx_err *err);

/* Adds a thread that no line announces, in a process of its own, with the first session. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uf_tasks_add_unknown(struct ctx_uf_tasks *tasks, int64_t tid,
							uint64_t begin_ns, struct ctx_err *err);

/* Extends a life to a time of it, which may be before its begin, and its image. */
void ctx_uf_tasks_extend(struct ctx_uf_tasks *tasks, uint32_t life, uint64_t time_ns);

#endif
