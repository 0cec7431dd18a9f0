#include "formats/perfdata/pd_facts_read.h"

#include "base/mem.h"

/* Lines of damage; one more says that there were more. */
#define DAMAGE_MAX 64u

enum ctx_status ctx_pd_fact_cut_short(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "cut short, or a text without an end");
}

const char *ctx_pd_fact_text(struct ctx_pe_wire *wire)
{
	uint32_t n = ctx_pe_wire_u32(wire);

	return ctx_pe_wire_text(wire, n);
}

enum ctx_status ctx_pd_fact_keep(struct ctx_pd_facts *facts, const char *text, const char **ret,
				 struct ctx_err *err)
{
	const char *copy = ctx_arena_strdup(&facts->arena, text);

	if (copy == NULL)
		return ctx_err_nomem(err);
	*ret = copy;
	return CTX_OK;
}

static const char *feature_name(uint32_t feature)
{
	switch (feature) {
	case CTX_PD_FEATURE_BUILD_ID:
		return "build ids";
	case CTX_PD_FEATURE_HOSTNAME:
		return "name of the host";
	case CTX_PD_FEATURE_OSRELEASE:
		return "release of the kernel";
	case CTX_PD_FEATURE_VERSION:
		return "version of perf";
	case CTX_PD_FEATURE_ARCH:
		return "architecture";
	case CTX_PD_FEATURE_NRCPUS:
		return "number of processors";
	case CTX_PD_FEATURE_CPUDESC:
	case CTX_PD_FEATURE_CPUID:
		return "name of the processors";
	case CTX_PD_FEATURE_TOTAL_MEM:
		return "memory";
	case CTX_PD_FEATURE_CMDLINE:
		return "command line";
	case CTX_PD_FEATURE_EVENT_DESC:
		return "names of events";
	case CTX_PD_FEATURE_CPU_TOPOLOGY:
		return "sockets and cores";
	case CTX_PD_FEATURE_NUMA_TOPOLOGY:
		return "NUMA nodes";
	case CTX_PD_FEATURE_BPF_PROG_INFO:
	case CTX_PD_FEATURE_BPF_BTF:
		return "BPF programs";
	case CTX_PD_FEATURE_HYBRID_TOPOLOGY:
		return "processors of each PMU";
	case CTX_PD_FEATURE_SAMPLE_TIME:
		return "times of the first and the last sample";
	case CTX_PD_FEATURE_CLOCKID:
	case CTX_PD_FEATURE_CLOCK_DATA:
		return "clock";
	case CTX_PD_FEATURE_DIR_FORMAT:
		return "version of the directory";
	case CTX_PD_FEATURE_COMPRESSED:
		return "compression";
	default:
		return "feature";
	}
}

static enum ctx_status add_damage(struct ctx_pd_facts *facts, uint32_t feature, const char *reason,
				  struct ctx_err *err)
{
	struct ctx_err line = {0};
	enum ctx_status status;

	if (facts->damage.n > DAMAGE_MAX)
		return CTX_OK;
	if (facts->damage.n == DAMAGE_MAX)
		ctx_err_set(&line, CTX_E_FORMAT, "header: more could not be read");
	else
		ctx_err_set(&line, CTX_E_FORMAT, "header: %s: %s", feature_name(feature), reason);
	status = ctx_grow(&facts->damage.lines, &facts->damage.cap, facts->damage.n + 1, err);
	if (status != CTX_OK)
		return status;
	facts->damage.lines[facts->damage.n] = ctx_arena_strdup(&facts->arena, line.msg);
	if (facts->damage.lines[facts->damage.n] == NULL)
		return ctx_err_nomem(err);
	facts->damage.n++;
	return CTX_OK;
}

enum ctx_status ctx_pd_fact_settle(struct ctx_pd_facts *facts, uint32_t feature, enum ctx_status status,
				   const struct ctx_err *reason, struct ctx_err *err)
{
	if (status == CTX_OK)
		return CTX_OK;
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	return add_damage(facts, feature, reason->msg, err);
}
