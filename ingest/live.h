/*
 * Live ingest: answers questions on the last while of a recording that still goes on.
 *
 *	source (exp_follow.h) --events--> the ingest's state --samples--> window
 *	                                                                    | at each question, in a
 *	                                                                    v process of its own
 *	                                        the rest of the ingest --> database in memory --> query, reports
 *
 * The same code as an ordinary ingest takes the events: address spaces, dictionaries of stacks,
 * symbols and thread states go on from event to event. Only what comes out, samples and spans of
 * states, goes into a window of the last seconds (window.h) and not into time trees. To answer, the
 * ingest is ended: open spans end now, the window's samples become time trees in memory, and
 * everything is asked as any database. So all reports and filters work, and show what they show for
 * this interval when the recording has ended.
 *
 * Ending uses the state up. A process that wants to go on forks and ends the ingest in the child: the
 * kernel's copy on write is the snapshot. The alternative, a copy of every table of the state, would
 * be code for each of them; a source of the reports that computes from the window itself would be a
 * second query/.
 *
 * Cost of an answer: the samples of the window, and a few passes over the entities (functions,
 * stacks, threads), which the store reads where they are; not the length of the recording. Memory: as an ingest, and the window.
 */
#ifndef CTX_INGEST_LIVE_H
#define CTX_INGEST_LIVE_H

#include "base/err.h"
#include "ingest/ingest_options.h"
#include "model/event_source.h"
#include "store/store.h"

struct ctx_live;

/*
 * `source` is borrowed, and what it says of itself (info) may change; of `options` the strings are.
 * one_thread is always so. Fails as ctx_ingest does.
 */
CTX_MUST_CHECK enum ctx_status ctx_live_create(struct ctx_event_source *source,
					       const struct ctx_ingest_options *options,
					       struct ctx_live **ret, struct ctx_err *err);
void ctx_live_destroy(struct ctx_live *live); /* NULL does nothing */

/*
 * Takes the events that there are, up to the source's CTX_END, and keeps samples from `begin_ns` on;
 * it never moves backwards. Fails as ctx_ingest does.
 */
CTX_MUST_CHECK enum ctx_status ctx_live_read(struct ctx_live *live, uint64_t begin_ns, struct ctx_err *err);

/*
 * Ends the ingest at the end of the source's run: the database of the window, which is borrowed from
 * `live`. Nothing else may be called afterwards, but ctx_live_destroy.
 */
CTX_MUST_CHECK enum ctx_status ctx_live_end(struct ctx_live *live, struct ctx_store **ret,
					    struct ctx_err *err);

#endif
