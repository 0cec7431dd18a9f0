/*
 * Calls that are summed where they happen (ctxrec --calls=summary): the tree of each thread (rt_call_tree.h) is written into its ring once a
 * second, and when the thread or the program ends.
 *
 *	period      |------- second 3 -------|------- second 4 -------|
 *	            first hook behind the border: what is since the last hook is divided there, the tree is written and begins anew
 *
 * Borders are whole seconds of the recording, as the thread's clock has them: both clocks are read once a second, and ticks go evenly
 * in between. A thread that calls nothing for some seconds writes them as one period when it goes on.
 *
 * What is written (enum ctx_rt_sum): when the period begins and ends, then for each path of calls that something happened on, in
 * depth-first order, a begin with how often it was called (0: it was open), and its ticks; then how long calls of each function took.
 */
#ifndef CTX_RUNTIME_RT_CALLS_SUMS_H
#define CTX_RUNTIME_RT_CALLS_SUMS_H

#include "runtime/rt_calls_work.h"

/* Of a thread's first call, and of the first one in a forked child: what is open is no call of it. False: there is no memory. errno is changed. */
bool ctx_rt_sums_begin(struct ctx_rt_calls *calls);

/* What a thread left that has ended without saying so is written; it is somebody else's from here on. */
void ctx_rt_sums_take_over(struct ctx_rt_calls *calls);

/* Ticks are beyond calls->border. */
void ctx_rt_sums_border(struct ctx_rt_calls *calls, uint64_t ticks);

/* Writes what there is, up to now. */
void ctx_rt_sums_write(struct ctx_rt_calls *calls);

/* The calling thread's, at its end. */
void ctx_rt_sums_end_thread(struct ctx_rt_calls *calls);

/* All threads': the program ends, or is about to execute another one. The others record nothing any more; `goes_on`: but they do. */
void ctx_rt_sums_end(bool goes_on);

#endif
