/*
 * Python in recorded processes: its functions become frames of samples, between the frames of the interpreter.
 *
 *	maps of processes --python_file--> where the interpreter is --+--> probe: which processes it reads
 *	probe's record --> the chain of frames of the next sample ----+
 *	sample's native stack + chain --python_match--> stack, with frames by name (python_code: names, lines)
 *
 * CPython 3.11 (python_layout.h). A sample of which the interpreter's calls and Python's frames do not match keeps its
 * native stack, and is counted.
 */
#ifndef CTX_COLLECT_PYTHON_H
#define CTX_COLLECT_PYTHON_H

#include "collect/perfrecord.h"
#include "collect/python_probe.h"
#include "collect/session.h"
#include "formats/experiment/exp_writer.h"

#include <stdbool.h>

struct ctx_python;

/* Opens the probe at the events of a session, before it is enabled. Fails as ctx_python_probe_create. */
CTX_MUST_CHECK enum ctx_status ctx_python_create(struct ctx_session *session, struct ctx_python **ret,
						 struct ctx_err *err);
void ctx_python_destroy(struct ctx_python *python);

/* Borrowed, for functions; before any stack. */
void ctx_python_begin(struct ctx_python *python, struct ctx_exp_writer *writer);

/* A process that runs already: what it has mapped. */
CTX_MUST_CHECK enum ctx_status ctx_python_scan(struct ctx_python *python, int64_t pid, struct ctx_err *err);

/* Looks at a record that is no sample: processes, and what they map.. */
CTX_MUST_CHECK enum ctx_status ctx_python_record(struct ctx_python *python,
						 const struct ctx_perf_record *record, struct ctx_err *err);

/* Takes a sample if it is a record of the probe. */
bool ctx_python_is_chain(const struct ctx_python *python, const struct ctx_perf_record *record);
void ctx_python_take_chain(struct ctx_python *python, const struct ctx_perf_record *record);

/* The chain of a sample; NULL: none. Borrowed until the next chain of its processor is taken. */
const struct ctx_python_chain *ctx_python_chain_of(struct ctx_python *python,
						   const struct ctx_perf_record *record);

struct ctx_python_stack {
	uint32_t pid;
	uint32_t process; /* in the experiment */
	uint64_t time_ns;
	const struct ctx_python_chain *chain;
	const uint64_t *frames; /* leaf first */
	size_t n;
};

/*
 * The first such stack of a process makes it a virtual machine of the recording. The stack with Python's frames, in `*ret`, or as it is. Borrowed until the next call. Fails as the writer does. True in
 * *ret_named: it has some.
 */
CTX_MUST_CHECK enum ctx_status ctx_python_name(struct ctx_python *python,
					       const struct ctx_python_stack *stack,
					       struct ctx_python_stack *ret, bool *ret_named,
					       struct ctx_err *err);

/* A line for users and headers of reports, for i below CTX_PYTHON_TEXTS. False: nothing to say. */
#define CTX_PYTHON_TEXTS 4u
#define CTX_PYTHON_TEXT_MAX 512u
bool ctx_python_text(const struct ctx_python *python, unsigned i, char text[CTX_PYTHON_TEXT_MAX]);

#endif
