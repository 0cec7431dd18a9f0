/*
 * From bytes of JSON to trace events, one by one. Streamed: memory for one event's values.
 *
 *	file --te_input--> pieces --yajl--> values --te_parse--> struct ctx_te_event --> take()
 *
 * An error in the list of events costs the event: reading goes on at the next line that begins with one.
 */
#ifndef CTX_FORMATS_TRACEEVENT_TE_PARSE_H
#define CTX_FORMATS_TRACEEVENT_TE_PARSE_H

#include "base/strtab.h"
#include "formats/traceevent/te_input.h"
#include "model/source_notes.h"

#define CTX_TE_NO_NAME UINT32_MAX
#define CTX_TE_ARGS_BYTES 2048u
/* ns; times are between, and half of it is the most that something lasts: differences of ends do not overflow */
#define CTX_TE_TIME_MAX (((int64_t)1 << 62) - 1)
#define CTX_TE_TIME_MIN (-((int64_t)1 << 61))
#define CTX_TE_DURATION_MAX ((int64_t)1 << 61)

/* Keys of an event whose values are kept. */
enum ctx_te_key {
	CTX_TE_PH,
	CTX_TE_TS,
	CTX_TE_DUR,
	CTX_TE_TTS,
	CTX_TE_TDUR,
	CTX_TE_PID,
	CTX_TE_TID,
	CTX_TE_NAME,
	CTX_TE_CAT,
	CTX_TE_ID,
	CTX_TE_ID2,
	CTX_TE_SCOPE,
	CTX_TE_ARGS,
	CTX_TE_OTHER_KEY,
};

struct ctx_te_event {
	unsigned has; /* 1 << enum ctx_te_key */
	char phase;
	int64_t ts_ns, dur_ns, tts_ns, tdur_ns;
	int64_t pid, tid;
	uint32_t pid_text, tid_text; /* names, if they are no numbers; CTX_TE_NO_NAME */
	uint32_t name, category;     /* names; CTX_TE_NO_NAME */
	uint64_t id;		     /* a hash of the id, where it counts, and the scope */
	/*
	 * Values in args: key, zero byte, 's' or 'n', text, zero byte; as many as fit.
	 */
	char args[CTX_TE_ARGS_BYTES];
	size_t n_args;
	bool is_arg_open; /* the value of the last key is missing */
};

struct ctx_te_parse {
	/* The caller's: */
	struct ctx_strtab *names; /* of events, categories, processes and threads that are no numbers */
	struct ctx_source_notes *notes;
	enum ctx_status (*take)(void *context, const struct ctx_te_event *event, struct ctx_err *err);
	void *context;
	/* Results: */
	uint64_t n_events;
	/* Its own: */
	struct ctx_te_event event;
	struct ctx_err *err;
	enum ctx_status status;
	enum ctx_te_key key;
	unsigned depth;	     /* of open objects and lists */
	unsigned list_depth; /* inside of the list of events; 0: it has not begun */
	bool is_list_next;   /* the last key of the file's object was traceEvents */
	bool is_file_object; /* the file begins with an object, not with the list */
	bool is_done;	     /* the list has ended */
};

/*
 * Reads a file up to the end of its list of events. CTX_E_FORMAT: there is no such list; what take() fails with; CTX_E_IO,
 * CTX_E_NOTFOUND, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_te_parse_file(struct ctx_te_parse *parse, const char *path,
						 struct ctx_err *err);

/* A number in microseconds as ns, cut towards zero. False: none, or too large. */
bool ctx_te_parse_us(const char *text, size_t n, int64_t *ret_ns);

#endif
