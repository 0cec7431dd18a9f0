/*
 * Abbreviated call stack of a wait or a waker: "take_batch < consumer < main".
 */
#ifndef CTX_REPORT_WAIT_CHAIN_H
#define CTX_REPORT_WAIT_CHAIN_H

#include "base/buf.h"
#include "model/profile.h"

/*
 * Appends the innermost functions of a stack, leaf first, safe for a terminal, without a zero byte.
 * It begins with the innermost user-space function that is not internal to a library's lock
 * (lll_lock_wait, pthread_mutex_lock, std::mutex::lock); if there is none, with the user-space
 * leaf, or else the kernel's leaf without its wake-up functions. Functions that start threads and
 * programs are left out. Appends nothing for stack 0.
 */
void ctx_wait_chain_put(const struct ctx_profile *profile, uint32_t stack, bool ascii, struct ctx_buf *buf);

/*
 * The same in `room` columns: all functions if they fit; otherwise without functions of the C and
 * C++ libraries that were called by such functions ("malloc < ... < printf < main"); otherwise the
 * innermost ones, at least four.
 */
void ctx_wait_chain_put_within(const struct ctx_profile *profile, uint32_t stack, size_t room, bool ascii,
			       struct ctx_buf *buf);

#endif
