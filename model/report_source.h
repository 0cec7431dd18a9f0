/*
 * The interface between reports or exports and the source of their data for a selection.
 *
 *	query/store_source.c  (the store) ---+
 *	                                      +--> struct ctx_report_source --> report/, formats/export/
 *	a fake of a test                   ---+
 *
 * A report pulls only what it shows. Results are borrowed from the source and live until the source
 * is closed; repeated requests cost nothing. Functions return CTX_OK, CTX_E_NOMEM, or what reading
 * the database failed with; a result is written only on success. One thread uses a source at a
 * time. In a test's fake, functions that the report does not call may be NULL.
 */
#ifndef CTX_MODEL_REPORT_SOURCE_H
#define CTX_MODEL_REPORT_SOURCE_H

#include "base/buf.h"
#include "model/code.h"
#include "model/data_name.h"
#include "model/phase.h"
#include "model/profile.h"
#include "model/report_data.h"
#include "model/sample.h"

/* The selection. */
struct ctx_report_selection {
	const struct ctx_profile *profile;
	const char *path; /* the user's name of the recording */
	uint64_t
		clock_ns; /* times are shown as those of the day: CLOCK_REALTIME at time 0; 0: ms from the start */
	const struct ctx_interval
		*intervals; /* sorted, disjoint; the whole run: one, equal to profile->run */
	size_t n_intervals;
	const uint32_t *threads; /* ascending; NULL: all */
	size_t n_threads;
	const char *filter; /* other filters in words ("cpu 3"), "" none */
	const char *
		options; /* that select the same again, as typed into a shell: " -t 12 --hide std"; NULL or "": none */
	const uint32_t *metrics; /* the first is used by reports of one metric */
	size_t n_metrics;	 /* at least 1 */
	unsigned wait_states;	 /* of CTX_STATE_BIT, the waits among the metrics; 0: all waits */
};

/* Weights omitted from a result by --coverage top; 0 when it is exact. */
struct ctx_report_omitted {
	uint64_t weight, samples;
	uint64_t largest; /* the maximum for any stack among them */
};

struct ctx_parts_query {
	bool per_thread;   /* a part for each selected thread with samples; else one for all together */
	bool calls;	   /* calls are computed; otherwise they are 0, and fewer bytes are read */
	bool every_metric; /* histograms of all metrics of the selection; else of the first */
};

struct ctx_report_parts {
	const struct ctx_report_part *parts;
	size_t n;
	size_t n_metrics; /* histograms of each part */
	struct ctx_report_omitted omitted;
};

/* By thread id. Both NULL: the selection is the whole run, whose sums the profile has. */
struct ctx_report_thread_sums {
	const uint64_t *samples, *weight;
	struct ctx_report_omitted omitted;
};

/*
 * Samples of the first metric by what they are for virtual machines, by thread id; every sample of a thread is in one of the
 * three. All NULL: the recording has no virtual machine, and no function of one.
 */
struct ctx_report_vm_samples {
	const uint64_t *inside; /* a method, or a function of Python, is on the stack */
	const uint64_t *
		gc; /* of the others: of a thread that collects garbage, or while its thread held the others up to collect */
	const uint64_t *outside;
};

struct ctx_report_code {
	const struct ctx_code *code;
	const struct ctx_code_reader *reader; /* NULL: no instructions and texts are available */
};

/* Raw stacks of the recording in other code. */
struct ctx_index_raw {
	const struct ctx_code *code;
	const uint32_t *raw_of; /* by raw stack of the recording: that in `code` */
	size_t n;
};

/* The call stacks of an index where they are not those of the recording: some frames are hidden. */
struct ctx_index_stacks {
	const struct ctx_profile *profile; /* of the functions and objects of the answer */
	const uint32_t *stack_of;	   /* by CCT node of the recording: that of `profile` */
	size_t n;
	/* Called where a key is a line. */
	enum ctx_status (*raw)(void *context, struct ctx_index_raw *ret, struct ctx_err *err);
	void *context;
};

struct ctx_samples_query {
	uint32_t thread; /* CTX_NONE: all selected threads together, in order of time */
	bool whole_run;	 /* of all intervals and threads, whatever is selected; filters apply */
	bool has_metric; /* of `metric`, which is not a sum of others, instead of the selection's; spans are never cut */
	uint32_t metric; /* with has_metric */
};

/*
 * Called for every sample, which is valid during the call. Any status but CTX_OK ends the
 * enumeration with it.
 */
typedef enum ctx_status (*ctx_report_sample_fn)(void *context, const struct ctx_sample *sample,
						struct ctx_err *err);

/* The same for every call. `passes`: its thread and the filters select it, whenever it was. */
typedef enum ctx_status (*ctx_report_call_fn)(void *context, const struct ctx_traced *call, bool passes,
					      struct ctx_err *err);

struct ctx_report_source {
	struct ctx_report_selection selection;
	/* Of who shows other stacks (report/hiding_source.h): the functions of slices are those of these. NULL; borrowed. */
	const struct ctx_index_stacks *shown;
	/* Names of data. NULL: no debug information can be asked; borrowed. */
	const struct ctx_data_namer *data_namer;
	void *impl;

	/*
	 * Histograms by call stack. O(log n) nodes of time trees for each part; with filters a
	 * scan.
	 */
	enum ctx_status (*parts)(struct ctx_report_source *source, const struct ctx_parts_query *query,
				 struct ctx_report_parts *ret, struct ctx_err *err);
	/*
	 * All selected threads together by raw stack, of the first metric; calls are 0. Always
	 * exact, always a scan.
	 */
	enum ctx_status (*raw_histogram)(struct ctx_report_source *source, const struct ctx_histogram **ret,
					 struct ctx_err *err);
	/* Samples and weight of each thread, of the first metric. */
	enum ctx_status (*thread_sums)(struct ctx_report_source *source, struct ctx_report_thread_sums *ret,
				       struct ctx_err *err);
	/* A histogram of each thread, and a scan of the samples of threads that stop others to collect garbage. */
	enum ctx_status (*vm_samples)(struct ctx_report_source *source, struct ctx_report_vm_samples *ret,
				      struct ctx_err *err);
	/*
	 * The selected time of each thread by state: threads with any, by id. Only with
	 * profile->has_states.
	 */
	enum ctx_status (*states)(struct ctx_report_source *source, const struct ctx_report_states **ret,
				  size_t *ret_n, struct ctx_err *err);
	/*
	 * Waits grouped by waiter, waker and stacks, the longest first. Only with
	 * profile->has_states.
	 */
	enum ctx_status (*wakers)(struct ctx_report_source *source, const struct ctx_report_wakers **ret,
				  size_t *ret_n, struct ctx_err *err);
	/*
	 * Waits grouped by state and call stack, the longest first, recorded wakers or not. Only
	 * with profile->has_states. A scan.
	 */
	enum ctx_status (*waits)(struct ctx_report_source *source, const struct ctx_report_waits **ret,
				 size_t *ret_n, struct ctx_err *err);
	/* Traced operations of a kind, in order of time; of CTX_TRACED_MARK those of the whole run, whatever the intervals. */
	enum ctx_status (*traced)(struct ctx_report_source *source, enum ctx_traced_kind kind,
				  struct ctx_report_traced *ret, struct ctx_err *err);
	/*
	 * Heap operations of the whole run, of all threads, whatever is selected: which block an address was in. In order of
	 * time. Only where profile->traced has some.
	 */
	enum ctx_status (*allocations)(struct ctx_report_source *source, struct ctx_report_traced *ret,
				       struct ctx_err *err);
	/*
	 * The completed calls of the whole run one by one, in order of their ends, with those that are not
	 * selected: there may be more than memory holds. Those that end before `from_ns` are left out. Each
	 * call of this reads the database.
	 */
	enum ctx_status (*calls)(struct ctx_report_source *source, uint64_t from_ns, ctx_report_call_fn each,
				 void *context, struct ctx_err *err);
	/*
	 * Sums of every metric by the values of `by`, words and expressions separated by commas; NULL:
	 * those of --by. `stacks` NULL: as recorded; otherwise borrowed until the source is closed. A
	 * scan.
	 */
	enum ctx_status (*index)(struct ctx_report_source *source, const char *by,
				 const struct ctx_index_stacks *stacks, struct ctx_report_index *ret,
				 struct ctx_err *err);
	/*
	 * The chosen recordings of a fleet by the values of a key, the heaviest first: "host", "version", "recording", ... NULL: not a
	 * fleet.
	 */
	enum ctx_status (*fleet_groups)(struct ctx_report_source *source, const char *key,
					const struct ctx_report_fleet_group **ret, size_t *ret_n,
					struct ctx_err *err);
	/*
	 * The range from the first to the last interval in `per_thread` slices, for all together
	 * and for the `max_threads` heaviest threads, of the first metric.
	 */
	enum ctx_status (*slices)(struct ctx_report_source *source, size_t per_thread, size_t max_threads,
				  struct ctx_report_slices *ret, struct ctx_err *err);
	/*
	 * Phases, by the samples of the first metric: of what is selected, with all that is known of them; or of
	 * the whole run, and the first metric of the recording, the intervals alone.
	 */
	enum ctx_status (*phases)(struct ctx_report_source *source, bool of_run,
				  const struct ctx_phases **ret, struct ctx_err *err);
	/* The levels of the time tree of the first metric. */
	enum ctx_status (*levels)(struct ctx_report_source *source, const struct ctx_report_level **ret,
				  size_t *ret_n, struct ctx_err *err);
	/* Locations, sites and files of the recording, and the reader of instructions and texts. */
	enum ctx_status (*code)(struct ctx_report_source *source, struct ctx_report_code *ret,
				struct ctx_err *err);
	/*
	 * Samples one by one, in order of time; spans are cut at the intervals, and the parts of one
	 * that filters keep come together. Each call reads the database.
	 */
	enum ctx_status (*samples)(struct ctx_report_source *source, const struct ctx_samples_query *query,
				   ctx_report_sample_fn each, void *context, struct ctx_err *err);
	/* Where load objects were mapped. */
	enum ctx_status (*mappings)(struct ctx_report_source *source, const struct ctx_mapping_info **ret,
				    size_t *ret_n, struct ctx_err *err);
	/*
	 * Appends the recorded version of a load object's file to `out`. CTX_E_NOTFOUND: it is not
	 * available (any more); `out` is then as it was.
	 */
	enum ctx_status (*object_file)(struct ctx_report_source *source, uint32_t object, struct ctx_buf *out,
				       struct ctx_err *err);
};

#endif
