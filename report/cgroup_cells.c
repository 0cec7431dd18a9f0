#include "report/cgroup_cells.h"

#include "model/container.h"

#include <string.h>

static const char *cgroup_of(const struct ctx_process_info *process)
{
	return process->cgroup != NULL ? process->cgroup : "";
}

struct ctx_cgroup_columns ctx_cgroup_columns(const struct ctx_profile *profile)
{
	struct ctx_cgroup_columns columns = {0};
	char container[CTX_CONTAINER_NAME];
	const char *first = NULL;

	for (uint32_t i = 0; i < profile->n_processes; i++) {
		const char *cgroup = cgroup_of(&profile->processes[i]);

		columns.inner_ids = columns.inner_ids || profile->processes[i].inner_pid != 0;
		if (cgroup[0] == '\0' || (first != NULL && strcmp(cgroup, first) == 0))
			continue;
		columns.cgroups =
			columns.cgroups || first != NULL || ctx_container_of_cgroup(cgroup, container);
		first = cgroup;
	}
	return columns;
}

struct ctx_cell ctx_inner_id_cell(int64_t id)
{
	return id != 0 ? ctx_cell_signed(id) : ctx_cell_name(NULL);
}

struct ctx_cell ctx_cgroup_cell(const struct ctx_process_info *process)
{
	const char *cgroup = cgroup_of(process);

	return ctx_cell_name(cgroup[0] != '\0' ? cgroup : NULL);
}

struct ctx_cell ctx_container_cell(struct ctx_out *out, const struct ctx_process_info *process)
{
	char container[CTX_CONTAINER_NAME];

	if (!ctx_container_of_cgroup(process->cgroup, container))
		return ctx_cell_name(NULL);
	return ctx_cell_name(ctx_out_format(out, "%s", container));
}

struct ctx_cell ctx_cgroup_command_cell(struct ctx_out *out, const struct ctx_process_info *process,
					bool tells_cgroup)
{
	struct ctx_cell cell = ctx_cell_name(process->command);
	const char *cgroup = cgroup_of(process);

	if (!tells_cgroup || cgroup[0] == '\0')
		return cell;
	cell.object = ctx_container_cell(out, process).name;
	if (cell.object == NULL)
		cell.object = cgroup;
	return cell;
}
