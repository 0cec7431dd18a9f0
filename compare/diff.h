/*
 * Differences of two sides, each of one or several recordings: by function, load object, line, call, stack, thread,
 * thread state or wait, or in a call tree (compare/diff_links.h).
 *
 *	sources --histograms, samples--> weight of each item --the heaviest--> bins --pairs or runs--> rows
 *
 * Items whose weight on both sides together is below a thousandth are not tested: their choice does not depend on
 * how much they changed, so that the tests of the others are not biased.
 */
#ifndef CTX_COMPARE_DIFF_H
#define CTX_COMPARE_DIFF_H

#include "compare/diff_links.h"
#include "compare/evidence.h"
#include "compare/weighting.h"

#define CTX_DIFF_RATE 0.05 /* of the rows with a verdict, the expected share of those by chance */
/* The assumed standard deviation of a program's times from run to run, where there is one run only. */
#define CTX_DIFF_NOISE 0.02
/* The same of a function of the kernel: what other programs do on the machine decides on its time. */
#define CTX_DIFF_KERNEL_NOISE 1.0
/* The same of the time in which threads slept or waited for each other. */
#define CTX_DIFF_WAIT_NOISE 0.25

enum ctx_verdict {
	CTX_VERDICT_NONE, /* no evidence */
	CTX_VERDICT_SLOWER,
	CTX_VERDICT_FASTER,
	CTX_VERDICT_NEW, /* on side B alone */
	CTX_VERDICT_GONE,
	CTX_VERDICT_N,
};

/* "no evidence", "slower": as in reports. */
const char *ctx_verdict_word(enum ctx_verdict verdict);

struct ctx_diff_side {
	struct ctx_report_source *const *sources; /* borrowed: one recording each */
	size_t n;				  /* at least 1 */
};

struct ctx_diff_spec {
	struct ctx_diff_side sides[CTX_COMPARE_SIDES];
	enum ctx_diff_subject subject;
	bool total; /* functions, objects, lines: the time in an item and what it called; else its own */
	bool folds; /* tree: recursion is its first instance */
	const struct ctx_renames *renames; /* of functions; borrowed; NULL: none */
	struct ctx_weighting weighting;
	const char *unit; /* what a source of a side is, for headings: "host"; NULL: "recording" */
};

struct ctx_diff_row {
	uint32_t item;
	double weight[CTX_COMPARE_SIDES]; /* the mean of the side's recordings, as the weighting has it */
	struct ctx_evidence evidence;
	enum ctx_verdict verdict;
	bool tested; /* heavy enough */
};

/* What is known of a side as a whole. */
struct ctx_diff_totals {
	double weight;	  /* mean of its recordings, as the weighting has it */
	double alone;	  /* of items that the other side does not have */
	uint64_t samples; /* of all of them */
	size_t blocks;	  /* independent ones, of everything by time; with several recordings their number */
	uint64_t length_ns; /* of a block; 0 with several recordings */
};

struct ctx_diff { /* owned by the caller (ctx_diff_deinit) */
	struct ctx_diff_items items;
	struct ctx_diff_row *rows; /* with a verdict first, then by the size of the change */
	size_t n;
	size_t n_tested;
	size_t n_splits; /* of several recordings: divisions into sides that were looked at; 0: none */
	struct ctx_diff_totals sides[CTX_COMPARE_SIDES];
	bool no_samples; /* of one recording of each side, one was archived without: no row has evidence */
	double displaced; /* of the change of everything: other programs may have caused so much (ctx_diff_make) */
	struct ctx_evidence total; /* of everything together */
	enum ctx_verdict total_verdict;
};

/*
 * One recording of each side with thread states: where threads waited less for a processor on one side and ran more,
 * the change is taken for chance as far as that waiting goes. Several recordings show themselves how much they differ.
 *
 * CTX_E_ARG: the first metrics of the sources differ, a recording has nothing selected, or lacks what the subject needs
 * (call stacks, thread states), or what it is divided by. Otherwise CTX_E_NOMEM and what a source fails with. Reads all samples of the selections, recording by recording: with several
 * of a side the bins of one are in memory at a time (at most 2 MB), else those of both.
 */
CTX_MUST_CHECK enum ctx_status ctx_diff_make(const struct ctx_diff_spec *spec, struct ctx_diff *ret,
					     struct ctx_err *err);
void ctx_diff_deinit(struct ctx_diff *diff);

#endif
