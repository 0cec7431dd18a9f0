#include "model/vm_info.h"

#include "base/mem.h"

#include <string.h>

static const char *const names[CTX_VM_FIGURE_N] = {
	[CTX_VM_HEAP_USED] = "heap_used",
	[CTX_VM_HEAP_MAX] = "heap_max",
	[CTX_VM_CLASSES] = "classes",
	[CTX_VM_CLASS_LOAD_NS] = "class_load_ns",
	[CTX_VM_COMPILATIONS] = "compilations",
	[CTX_VM_COMPILE_NS] = "compile_ns",
	[CTX_VM_GC_COUNT] = "gc_count",
	[CTX_VM_GC_NS] = "gc_ns",
	[CTX_VM_SAFEPOINTS] = "safepoints",
	[CTX_VM_SAFEPOINT_NS] = "safepoint_ns",
	[CTX_VM_SAFEPOINT_SYNC_NS] = "safepoint_sync_ns",
};

const char *ctx_vm_figure_name(enum ctx_vm_figure figure)
{
	return names[figure];
}

struct ctx_vm_info ctx_vm_info_make(uint32_t process, uint64_t begin_ns)
{
	struct ctx_vm_info info = {.process = process,
				   .name = "",
				   .version = "",
				   .collector = "",
				   .command = "",
				   .life = {begin_ns, UINT64_MAX}};

	for (size_t i = 0; i < CTX_VM_FIGURE_N; i++)
		info.figures[i] = CTX_VM_UNKNOWN;
	return info;
}

static void update_text(const char **text, const char *more)
{
	if (more[0] != '\0')
		*text = more;
}

void ctx_vm_info_update(struct ctx_vm_info *info, const struct ctx_vm_info *more)
{
	update_text(&info->name, more->name);
	update_text(&info->version, more->version);
	update_text(&info->collector, more->collector);
	update_text(&info->command, more->command);
	if (more->life.end_ns != UINT64_MAX)
		info->life.end_ns = more->life.end_ns;
	for (size_t i = 0; i < CTX_VM_FIGURE_N; i++) {
		if (more->figures[i] != CTX_VM_UNKNOWN)
			info->figures[i] = more->figures[i];
	}
}

/* Those of JFR have the collector and its cause behind the name, or the kind of a safepoint's part. */
unsigned ctx_vm_span_of(const char *name)
{
	static const struct {
		const char *name;
		bool is_prefix;
		unsigned spans;
	} known[] = {{CTX_VM_NAME_GC, false, CTX_VM_SPAN_GC | CTX_VM_SPAN_GC_PAUSE},
		     {"GC: ", true, CTX_VM_SPAN_GC},
		     {"GC Phase Pause", false, CTX_VM_SPAN_GC_PAUSE},
		     {CTX_VM_NAME_SAFEPOINT, false, CTX_VM_SPAN_SAFEPOINT},
		     {"Safepoint Begin", false, CTX_VM_SPAN_SAFEPOINT_BEGIN},
		     {"Safepoint End", false, CTX_VM_SPAN_SAFEPOINT_END}};

	for (size_t i = 0; i < CTX_COUNT_OF(known); i++) {
		if (known[i].is_prefix ? strncmp(name, known[i].name, strlen(known[i].name)) == 0
				       : strcmp(name, known[i].name) == 0)
			return known[i].spans;
	}
	return CTX_VM_SPAN_NONE;
}

/* OpenJDK 8 to 25: Serial collects on the VM Thread, which does other things as well. */
bool ctx_vm_thread_collects(const char *name)
{
	static const char *const prefixes[] = {
		"GC Thread#",	 "ParGC Thread#",  "G1 Conc#", "G1 Main", "G1 Refine#", "G1 Service",
		"Shenandoah GC", "Shenandoah Con", "ZWorker",  "ZDriver", "ZDirector",	"Gang worker#"};

	for (size_t i = 0; i < CTX_COUNT_OF(prefixes); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}
