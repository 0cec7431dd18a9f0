/*
 * A source of reports and exports in another view, or without some frames: --view, --hide, --show,
 * --fold-object.
 *
 *	source --> hiding source: stacks in the view --> without hidden frames --> reports, exports
 *
 * Stacks of histograms and samples become those of the view (report/viewed_stacks.h) and lose their hidden
 * frames; their weight stays, so that it is the callers' (report/fold.h, calltree/restack.h). The CCT keeps its
 * nodes and gets further ones, so that all other stacks (of waits, of traced operations) mean what they meant. A call
 * of a hidden function is not there: what it ran in itself is its caller's. Of calls from a time on its caller has what
 * ended from then on.
 */
#ifndef CTX_REPORT_HIDING_SOURCE_H
#define CTX_REPORT_HIDING_SOURCE_H

#include "model/report_source.h"
#include "report/view_rules.h"

#include <stdbool.h>

#define CTX_HIDING_PATTERNS 8u

struct ctx_hiding {			       /* all zero: nothing is hidden. Strings are borrowed */
	const char *hide[CTX_HIDING_PATTERNS]; /* regular expressions: frames that match one are hidden */
	unsigned n_hide;
	const char *show;    /* frames that do not match it are hidden; NULL none */
	const char *objects; /* "libc,kernel": calls within each are one frame; NULL none */
	enum ctx_view view;
};

/* Whether frames are hidden, in any view. */
bool ctx_hiding_has_patterns(const struct ctx_hiding *hiding);

/*
 * Opens a source over `inner`, which is borrowed until it is closed; `*ret` is `inner` itself where nothing is
 * hidden and the view shows what is recorded. CTX_E_ARG: not a regular expression; CTX_E_NOMEM. O(CCT nodes *
 * depth + functions).
 */
CTX_MUST_CHECK enum ctx_status ctx_hiding_source_open(struct ctx_report_source *inner,
						      const struct ctx_hiding *hiding,
						      struct ctx_report_source **ret, struct ctx_err *err);
/* Does nothing with NULL. Never for `inner`. */
void ctx_hiding_source_close(struct ctx_report_source *base);

#endif
