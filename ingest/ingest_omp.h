/*
 * The state of OpenMP in an ingest, for its two files: ingest_omp.c makes spans and operations of events, omp_stacks.c puts the stacks of samples
 * together.
 */
#ifndef CTX_INGEST_INGEST_OMP_H
#define CTX_INGEST_INGEST_OMP_H

#include "ingest/ingest_impl.h"
#include "ingest/omp_threads.h"

#define CTX_OMP_PATH_MOST 1024u /* frames of a stack that is put together */

struct ctx_ingest_omp {
	struct ctx_omp_threads *threads;
	uint32_t first_metric;
	/* Locations of the functions of states: leaves of spans, and marks in the stacks of samples; CTX_NONE none. */
	uint32_t states[CTX_OMP_STATE_N], marks[CTX_OMP_STATE_N];
	bool is_gccs;		     /* constructs are compiled by gcc, and call libgomp */
	uint32_t graft;		     /* location of the mark behind the stack of another thread */
	uint32_t next_function;	     /* numbers of functions by name, from the highest down */
	struct ctx_map64 constructs; /* kind << 32 | location of the construct -> location of its function */
	struct ctx_map64 ids;	     /* location of a construct's function -> number of that by name */
	struct ctx_map64 functions;  /* index in texts -> location of the function */
	struct ctx_map64 containers; /* location of such a function -> index in names */
	struct ctx_strtab names;     /* of the functions that contain constructs */
	struct ctx_strtab texts;     /* of the functions that are made: they live as long as the ingest */
	struct ctx_map64 is_runtime; /* location -> whether it is in the runtime's code */
	struct ctx_map64 barriers;   /* location of a call of GOMP_barrier -> state */
	struct ctx_map64
		outlined; /* function that a compiler has made -> location of the construct's function */
	uint32_t skip;	  /* frames of the thread on the one that is put in next */
	/* Work-sharing constructs in stacks of samples: location of the function << 32 | n -> location; that -> n; raw stack -> location. */
	struct ctx_map64 insides, inside, inside_of;
	struct ctx_map64 shared;  /* raw stack of a work-sharing construct << 32 | raw stack -> with that */
	struct ctx_map64 marked;  /* state << 32 | raw stack -> with the mark of the state */
	struct ctx_map64 grafted; /* raw stack of the construct << 32 | raw stack -> together */
	uint32_t path[CTX_OMP_PATH_MOST + 1], nodes[CTX_OMP_PATH_MOST + 1];
};

/* Whether the leaf of a raw stack is in the code of a runtime, or of the recorder's library. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_omp_is_runtime(struct ingest *in, uint32_t raw, bool *ret,
							 struct ctx_err *err);

#endif
