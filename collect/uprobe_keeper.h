/*
 * Uprobe keeper: a process that has the recorder's descriptors, too, and closes them when it is no more.
 *
 * The kernel takes a uprobe out of a program when the last descriptor of its event is closed. If that happens in a process that is being
 * killed by SIGKILL, it can fail ("failed to unregister, leaking uprobe"): reading the program's page gives up with the pending
 * signal, and the trap stays. So another process, which nobody kills, closes them last. It is in a session of its own, ignores signals
 * that a terminal sends, and waits for the end of a pipe that the recorder alone writes to, and then of the recorder.
 */
#ifndef CTX_COLLECT_UPROBE_KEEPER_H
#define CTX_COLLECT_UPROBE_KEEPER_H

#include "base/err.h"

#include <sys/types.h>

struct ctx_uprobe_keeper {
	pid_t pid; /* 0: none */
	int fd;	   /* of the pipe */
};

/* Forks it, with all descriptors that are open now. Where that fails there is none, and the recording goes on. All zero is valid. */
void ctx_uprobe_keeper_begin(struct ctx_uprobe_keeper *keeper);

/* After the own descriptors are closed: it closes its ones, which has happened when this returns. */
void ctx_uprobe_keeper_end(struct ctx_uprobe_keeper *keeper);

#endif
