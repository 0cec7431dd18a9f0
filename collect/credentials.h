/*
 * The user of a process, and opening files with that user's rights: root's recorder reads no file
 * that the recorded process could not have read itself.
 */
#ifndef CTX_COLLECT_CREDENTIALS_H
#define CTX_COLLECT_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#define CTX_CREDENTIALS_GROUPS_MAX 64u /* further groups are left out: fewer rights, never more */

struct ctx_credentials {
	uint32_t uid, gid; /* as the file system checks them */
	uint32_t groups[CTX_CREDENTIALS_GROUPS_MAX];
	uint32_t n_groups;
};

/* Of a process, from /proc/PID/status. False: it has ended. */
bool ctx_credentials_read(int64_t pid, struct ctx_credentials *ret);

/* Of this process. */
struct ctx_credentials ctx_credentials_own(void);

/* A user without any rights of its own, for processes whose user was never seen. */
struct ctx_credentials ctx_credentials_nobody(void);

bool ctx_credentials_equal(const struct ctx_credentials *a, const struct ctx_credentials *b);

struct ctx_credentials_before { /* what to go back to */
	struct ctx_credentials own;
	int dumpable; /* PR_GET_DUMPABLE */
	bool is_taken;
};

/*
 * Takes over the rights of `user` on files, for the calling thread. Only root does; anybody else
 * has no more rights than its own. False: refused by the kernel; nothing must be opened then.
 */
bool ctx_credentials_take(const struct ctx_credentials *user, struct ctx_credentials_before *before);

/* Ends what take began, also after it has failed. */
void ctx_credentials_give_back(const struct ctx_credentials_before *before);

/*
 * Opens a regular file for reading with the rights of a user; anything else is not touched. The
 * caller closes it; -1: not allowed, or not a regular file.
 */
int ctx_credentials_open(const struct ctx_credentials *user, const char *path);

#endif
