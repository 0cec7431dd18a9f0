/*
 * What a session does when its filter of wake-ups (session_woken.h) does not hold any more.
 */
#ifndef CTX_COLLECT_SESSION_WIDEN_H
#define CTX_COLLECT_SESSION_WIDEN_H

#include "collect/session.h"

/*
 * From now on the wake-ups of all threads are seen. `enabled`: state events with stacks are. A wake-up can be missed
 * meanwhile; where that fails, all stays as it is. Some 50 us for each CPU.
 */
void ctx_session_widen(struct ctx_session *session, bool enabled);

#endif
