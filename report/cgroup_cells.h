/*
 * Cells that tell containers apart: ids within pid namespaces, control groups.
 */
#ifndef CTX_REPORT_CGROUP_CELLS_H
#define CTX_REPORT_CGROUP_CELLS_H

#include "model/profile.h"
#include "report/out.h"

/* What is worth a column in text. */
struct ctx_cgroup_columns {
	bool inner_ids; /* a process has an id of its own in another pid namespace */
	bool cgroups;	/* two processes are in different control groups, or one is in a container */
};

struct ctx_cgroup_columns ctx_cgroup_columns(const struct ctx_profile *profile);

/* 0: empty. */
struct ctx_cell ctx_inner_id_cell(int64_t id);

/* JSON: the path of the control group; empty if unknown. */
struct ctx_cell ctx_cgroup_cell(const struct ctx_process_info *process);

/* The container (model/container.h); JSON: empty outside of one. Text of `out`'s arena. */
struct ctx_cell ctx_container_cell(struct ctx_out *out, const struct ctx_process_info *process);

/* The command; in text, with `tells_cgroup`, "[NAME]" follows: the container, or the path's last component. */
struct ctx_cell ctx_cgroup_command_cell(struct ctx_out *out, const struct ctx_process_info *process,
					bool tells_cgroup);

#endif
