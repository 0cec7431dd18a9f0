/*
 * What the files of indicators share: indicators.c makes and arms them, indicator_header.c describes them.
 */
#ifndef CTX_COLLECT_INDICATORS_IMPL_H
#define CTX_COLLECT_INDICATORS_IMPL_H

#include "collect/entry_counters.h"
#include "collect/indicator_places.h"
#include "collect/indicator_spec.h"
#include "collect/indicator_watch.h"
#include "collect/load_objects.h"
#include "collect/once.h"
#include "collect/uprobe_guard.h"
#include "collect/uprobe_keeper.h"
#include "collect/uprobes.h"

struct ctx_indicator {
	struct ctx_indicator_spec spec;
	struct ctx_indicator_places places;
	uint32_t metric, raised, slower; /* events of the session; the last two: CTX_NONE none */
	uint32_t sites;			 /* of coverage; CTX_NONE */
	size_t n_in_memory; /* places that are counted in the targets' memory; the others are by the kernel */
	bool is_breakpoint;
};

struct ctx_indicators {
	struct ctx_indicator *items; /* owned */
	size_t n;
	struct ctx_indicator_watch *watch; /* NULL: nothing depends on what was seen */
	struct ctx_load_objects objects;
	struct ctx_uprobes uprobes;
	struct ctx_uprobe_guard guard;
	struct ctx_uprobe_keeper keeper;
	struct ctx_once *once;		    /* NULL: no coverage */
	int once_fd;			    /* borrowed from it; -1 */
	struct ctx_entry_counters *entries; /* NULL: nothing is counted in the targets' memory */
	int entries_fd;			    /* borrowed from it; -1 */
	bool may_count_in_memory; /* the runtime can be in the targets, and nothing else of it changes entries */
	bool drops_others;	  /* only the command's own threads are recorded */
	bool has_registers;
	bool is_command;	   /* which is stopped at its exec */
	struct ctx_err no_uprobes; /* why there are none; status CTX_OK: there are */
};

/*
 * Decides, of all indicators together, which places are counted in the targets' memory: entries with room for a jump, where nothing that
 * the kernel does is needed, and no other indicator needs the kernel at the same place. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicators_choose_memory(struct ctx_indicators *indicators,
							    struct ctx_err *err);

/* The places of one indicator that are, once its metrics are known. Fails as ctx_entry_counters_add. */
CTX_MUST_CHECK enum ctx_status ctx_indicators_add_entries(struct ctx_indicators *indicators,
							  const struct ctx_indicator *indicator,
							  struct ctx_err *err);

#endif
