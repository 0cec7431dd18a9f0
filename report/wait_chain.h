/*
 * Where a thread waited, or what a waker did, in a few words: "take_batch < consumer < main".
 */
#ifndef CTX_REPORT_WAIT_CHAIN_H
#define CTX_REPORT_WAIT_CHAIN_H

#include "base/buf.h"
#include "model/profile.h"

/*
 * Appends the innermost functions of a stack, leaf first, safe for a terminal, without a zero byte. It begins with the first function of
 * user space that is not the inside of a lock of a library (lll_lock_wait, pthread_mutex_lock, std::mutex::lock), where there
 * is one; else with the leaf of user space; else with the kernel's, without how it wakes threads. What starts threads and programs is left out. Nothing for stack 0.
 */
void ctx_wait_chain_put(const struct ctx_profile *profile, uint32_t stack, bool ascii, struct ctx_buf *buf);

/*
 * The same in `room` columns: all functions if there is room; otherwise without those inside of the C and C++ libraries that were called by others of
 * them ("malloc < ... < printf < main"); otherwise the innermost, four at the least.
 */
void ctx_wait_chain_put_within(const struct ctx_profile *profile, uint32_t stack, size_t room, bool ascii,
			       struct ctx_buf *buf);

#endif
