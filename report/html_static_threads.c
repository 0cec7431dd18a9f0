/* Threads and processes with what they have of the selection; as report/threads.c and processes.c have them. */
#include "base/mem.h"
#include "report/html_static.h"
#include "report/order.h"

#include <stdio.h>
#include <sys/wait.h>

struct use {
	uint64_t samples, weight;
};

static void put_use(struct ctx_static_page *page, const struct use *use)
{
	ctx_static_count(page, use->samples);
	ctx_static_weight(page, use->weight);
	ctx_static_percent(page, use->weight);
}

static void put_thread(struct ctx_static_page *page, uint32_t thread, const struct use *use)
{
	const struct ctx_profile *profile = page->input->profile;
	const struct ctx_thread_info *info = &profile->threads[thread];

	ctx_buf_put_text(&page->buf, "<tr>");
	ctx_static_count(page, thread);
	if (info->process < profile->n_processes)
		ctx_static_signed(page, profile->processes[info->process].pid);
	else
		ctx_static_empty(page, 1);
	ctx_static_signed(page, info->tid);
	ctx_static_time(page, info->life.begin_ns);
	ctx_static_time(page, info->life.end_ns);
	put_use(page, use);
	ctx_static_text(page, info->name);
	ctx_buf_put_text(&page->buf, "</tr>\n");
}

static size_t select_threads(const struct ctx_report_selection *input, const struct use *uses,
			     struct ctx_order_item *items)
{
	uint32_t n_threads = input->profile->n_threads;
	size_t n = 0;

	for (uint32_t i = 0; input->threads == NULL && i < n_threads; i++)
		items[n++] = (struct ctx_order_item){.number = uses[i].weight, .index = i};
	for (size_t i = 0; input->threads != NULL && i < input->n_threads && n < n_threads; i++) {
		uint32_t thread = input->threads[i];

		if (thread < n_threads)
			items[n++] = (struct ctx_order_item){.number = uses[thread].weight, .index = thread};
	}
	ctx_order_sort(items, n);
	return n;
}

static void put_threads(struct ctx_static_page *page, const struct use *uses, struct ctx_order_item *items)
{
	char weight[64];
	const char *const titles[] = {"No",	 "PID",	 "TID", "Begin ms", "End ms",
				      "Samples", weight, "%",	"<Name",    NULL};
	size_t n = select_threads(page->input->selection, uses, items);

	snprintf(weight, sizeof(weight), "Weight %.40s", page->head.scale.unit);
	ctx_static_section(page, "threads", "Threads", false);
	ctx_static_table(page, NULL, titles);
	for (size_t i = 0; i < n && i < CTX_STATIC_THREADS; i++)
		put_thread(page, items[i].index, &uses[items[i].index]);
	ctx_static_table_end(page);
	ctx_static_more(page, n > CTX_STATIC_THREADS ? n - CTX_STATIC_THREADS : 0, "threads");
}

static void put_process(struct ctx_static_page *page, uint32_t process, const struct use *use)
{
	const struct ctx_profile *profile = page->input->profile;
	const struct ctx_process_info *info = &profile->processes[process];
	int status = info->exit_status;

	ctx_buf_put_text(&page->buf, "<tr>");
	ctx_static_count(page, process);
	ctx_static_signed(page, info->pid);
	if (info->parent < profile->n_processes)
		ctx_static_signed(page, profile->processes[info->parent].pid);
	else
		ctx_static_empty(page, 1);
	ctx_static_time(page, info->life.begin_ns);
	ctx_static_time(page, info->life.end_ns);
	/* As a shell tells it: the exit code, or 128 and the signal. */
	if (info->has_exit_status)
		ctx_static_signed(page, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	else
		ctx_static_empty(page, 1);
	put_use(page, use);
	ctx_static_text(page, info->command);
	ctx_buf_put_text(&page->buf, "</tr>\n");
}

static void put_processes(struct ctx_static_page *page, const struct use *uses)
{
	const struct ctx_profile *profile = page->input->profile;
	char weight[64];
	const char *const titles[] = {"No",	 "PID",	 "Parent", "Begin ms", "End ms", "Exit",
				      "Samples", weight, "%",	   "<Command", NULL};
	uint32_t n = profile->n_processes;

	snprintf(weight, sizeof(weight), "Weight %.40s", page->head.scale.unit);
	ctx_static_section(page, "processes", "Processes", true);
	ctx_static_table(page, NULL, titles);
	for (uint32_t i = 0; i < n && i < CTX_STATIC_THREADS; i++)
		put_process(page, i, &uses[i]);
	ctx_static_table_end(page);
	ctx_static_more(page, n > CTX_STATIC_THREADS ? n - CTX_STATIC_THREADS : 0, "processes");
}

enum ctx_status ctx_static_threads(struct ctx_static_page *page, struct ctx_err *err)
{
	const struct ctx_profile *profile = page->input->profile;
	struct use *threads CTX_AUTO_FREE = ctx_calloc(profile->n_threads, sizeof(*threads));
	struct use *processes CTX_AUTO_FREE = ctx_calloc(profile->n_processes, sizeof(*processes));
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(profile->n_threads, sizeof(*items));

	if (threads == NULL || processes == NULL || items == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < page->parts.n; i++) {
		const struct ctx_report_part *part = &page->parts.parts[i];
		uint32_t process;

		if (part->thread >= profile->n_threads)
			continue;
		threads[part->thread] = (struct use){part->histogram->samples, part->histogram->weight};
		process = profile->threads[part->thread].process;
		if (process >= profile->n_processes)
			continue;
		processes[process].samples += part->histogram->samples;
		processes[process].weight += part->histogram->weight;
	}
	put_threads(page, threads, items);
	put_processes(page, processes);
	return CTX_OK;
}
