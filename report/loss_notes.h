/*
 * What was lost in a selection: for the header of every report, for JSON, the strips and the page.
 */
#ifndef CTX_REPORT_LOSS_NOTES_H
#define CTX_REPORT_LOSS_NOTES_H

#include "base/buf.h"
#include "model/report_source.h"

/* Whether the whole time of the run is selected. */
bool ctx_loss_notes_of_run(const struct ctx_report_selection *selection);

/* Whether a loss touches the selected time: all do for the whole run, else those with a time in it. */
bool ctx_loss_notes_touch(const struct ctx_report_selection *selection, const struct ctx_loss *loss);

/*
 * Appends "12 records were lost on CPU 1 between 312.000 and 340.000 ms: the kernel's buffer was full" and
 * nothing if none touches the selection. Calls are not among them. At most three places are named: close ones are joined.
 */
void ctx_loss_notes_put(const struct ctx_report_selection *selection, struct ctx_buf *out);

/* The same of calls: "12 begins and ends of calls were lost in thread 812 between 312.000 and 340.000 ms: ...". */
void ctx_loss_notes_put_calls(const struct ctx_report_selection *selection, struct ctx_buf *out);

/*
 * How many records were lost in a time, spread evenly over their losses: at least 1 where a loss touches it. O(losses).
 */
uint64_t ctx_loss_notes_count(const struct ctx_profile *profile, struct ctx_interval time);

#endif
