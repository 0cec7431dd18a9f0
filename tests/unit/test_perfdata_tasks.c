/*
 * Processes, threads and maps: the emitted events and their times, as lines of text; and long
 * random histories compared with a slow model that copies everything at every fork.
 */
#include "formats/perfdata/pd_tasks.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/perfdata_reading.h"

#define SECOND UINT64_C(1000000000)

struct history { /* tasks under test, and the events that they emitted */
	struct ctx_pd_tasks tasks;
	struct ctx_pd_outbox out;
	struct pd_reading emitted;
	struct source_check check;
};

static const struct ctx_source_info any_time = {.duration_ns = UINT64_MAX, .n_metrics = 1};

static void begin(struct history *history)
{
	*history = (struct history){0};
	history->tasks.out = &history->out;
}

static void end(struct history *history)
{
	ctx_pd_tasks_deinit(&history->tasks);
	ctx_pd_outbox_deinit(&history->out);
	source_check_deinit(&history->check);
	pd_reading_deinit(&history->emitted);
}

/* Takes what waits in the outbox. */
static void take(struct history *history)
{
	while (history->out.at < history->out.n) {
		const struct ctx_event *event = &history->out.items[history->out.at++];

		source_check_event(&history->check, &any_time, event);
		pd_note(&history->emitted, event);
	}
}

static void fork_at(struct history *history, uint64_t time, int64_t pid, int64_t parent, int64_t tid)
{
	struct ctx_pd_fork record = {
		.time_ns = time, .pid = pid, .parent_pid = parent, .tid = tid, .parent_tid = parent};

	assert_int_equal(ctx_pd_tasks_fork(&history->tasks, &record, NULL), CTX_OK);
	take(history);
}

static void found(struct history *history, int64_t pid, int64_t parent, int64_t tid)
{
	struct ctx_pd_fork record = {.pid = pid, .parent_pid = parent, .tid = tid, .synthesized = true};

	assert_int_equal(ctx_pd_tasks_fork(&history->tasks, &record, NULL), CTX_OK);
	take(history);
}

static void comm(struct history *history, uint64_t time, int64_t pid, int64_t tid, const char *name,
		 bool exec)
{
	struct ctx_pd_comm comm = {.time_ns = time, .pid = pid, .tid = tid, .name = name, .is_exec = exec};

	assert_int_equal(ctx_pd_tasks_comm(&history->tasks, &comm, NULL), CTX_OK);
	take(history);
}

static void exit_at(struct history *history, uint64_t time, int64_t pid, int64_t tid)
{
	assert_int_equal(ctx_pd_tasks_exit(&history->tasks, time, pid, tid, NULL), CTX_OK);
	take(history);
}

static void expire(struct history *history, uint64_t now)
{
	assert_int_equal(ctx_pd_tasks_expire(&history->tasks, now, NULL), CTX_OK);
	take(history);
}

static enum ctx_status put_map(struct history *history, uint64_t time, int64_t pid, uint64_t address,
			       struct ctx_err *err)
{
	struct ctx_pd_map map = {.address = address, .size = 0x1000, .executable = true};
	struct ctx_strtab *names = &history->tasks.names;
	enum ctx_status status = ctx_strtab_add_text(names, "/lib", &map.path, err);

	if (status == CTX_OK)
		status = ctx_strtab_add_text(names, "", &map.build_id, err);
	map.function = map.build_id;
	return status == CTX_OK ? ctx_pd_tasks_map(&history->tasks, time, pid, &map, err) : status;
}

static void map_at(struct history *history, uint64_t time, int64_t pid, uint64_t address)
{
	assert_int_equal(put_map(history, time, pid, address, NULL), CTX_OK);
	take(history);
}

static void sample(struct history *history, uint64_t time, int64_t pid, int64_t tid, uint32_t process,
		   uint32_t thread)
{
	struct ctx_pd_task_at at = {.time_ns = time, .pid = pid, .tid = tid};
	struct ctx_pd_thread_numbers got = {77, 77};

	assert_int_equal(ctx_pd_tasks_sample(&history->tasks, &at, &got, NULL), CTX_OK);
	take(history);
	assert_int_equal(got.process, process);
	assert_int_equal(got.thread, thread);
	assert_true(process < history->check.n_processes);
	assert_true(thread < history->check.n_threads);
}

/* The events emitted since the last check. */
static void check_told(struct history *history, const char *want)
{
	ctx_buf_put_u8(&history->emitted.events, 0);
	assert_false(history->emitted.events.failed);
	assert_string_equal(pd_lines(&history->emitted.events), want);
	ctx_buf_clear(&history->emitted.events);
}

/* ---- when events are emitted ---- */

static void test_perfdata_tasks__nothing_is_emitted_before_the_first_sample(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "sh", false);
	map_at(&history, 0, 10, 0x1000);
	fork_at(&history, 5, 11, 10, 11);
	comm(&history, 6, 11, 11, "ls", true);
	exit_at(&history, 7, 11, 11);
	expire(&history, 10 * SECOND);
	expire(&history, UINT64_MAX);
	check_told(&history, "");
	sample(&history, 8, 10, 10, 0, 0);
	check_told(&history, "0 process 0 pid 10 of -1 sh []\n"
			     "8 map 0 1000+1000 /lib@0 id= f=\n"
			     "0 thread 0 tid 10 of 0 sh\n");
	end(&history);
}

static void test_perfdata_tasks__an_unannounced_process_is_named_by_its_number(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	sample(&history, 5, 7, 8, 0, 0);
	sample(&history, 6, 0, 0, 1, 1);
	sample(&history, 7, -1, -1, 2, 2);
	sample(&history, 8, 7, 7, 0, 3);
	sample(&history, 9, 7, 8, 0, 0);
	check_told(&history, "0 process 0 pid 7 of -1 :7 []\n"
			     "0 thread 0 tid 8 of 0 :7\n"
			     "0 process 1 pid 0 of -1 swapper []\n"
			     "0 thread 1 tid 0 of 1 swapper\n"
			     "0 process 2 pid -1 of -1 :-1 []\n"
			     "0 thread 2 tid -1 of 2 :-1\n"
			     "0 thread 3 tid 7 of 0 :7\n");
	end(&history);
}

static void test_perfdata_tasks__a_forked_child_has_the_name_and_the_maps_of_its_parent(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "make", false);
	map_at(&history, 0, 10, 0x1000);
	fork_at(&history, 5, 11, 10, 11);
	map_at(&history, 6, 10, 0x2000); /* the parent's alone */
	map_at(&history, 7, 11, 0x3000); /* the child's alone */
	sample(&history, 8, 11, 11, 1, 0);
	check_told(&history, "0 process 0 pid 10 of -1 make []\n"
			     "8 map 0 1000+1000 /lib@0 id= f=\n"
			     "8 map 0 2000+1000 /lib@0 id= f=\n"
			     "5 process 1 pid 11 of 0 make [_f1]\n"
			     "8 map 1 1000+1000 /lib@0 id= f=\n"
			     "8 map 1 3000+1000 /lib@0 id= f=\n"
			     "5 thread 0 tid 11 of 1 make\n");
	map_at(&history, 9, 10, 0x4000);
	check_told(&history, "9 map 0 4000+1000 /lib@0 id= f=\n");
	end(&history);
}

/* perf takes the name of the thread that forks, too: so does the kernel. */
static void test_perfdata_tasks__a_forked_process_has_the_name_of_the_thread(void **state)
{
	struct history history;
	struct ctx_pd_fork thread = {.time_ns = 6, .pid = 10, .parent_pid = 10, .tid = 12, .parent_tid = 11};
	struct ctx_pd_fork process = {.time_ns = 7, .pid = 20, .parent_pid = 10, .tid = 20, .parent_tid = 11};
	struct ctx_pd_fork untracked_task = {
		.time_ns = 8, .pid = 10, .parent_pid = 10, .tid = 13, .parent_tid = 20};

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "server", false);
	fork_at(&history, 4, 10, 10, 11);
	comm(&history, 5, 10, 11, "worker", false);
	assert_int_equal(ctx_pd_tasks_fork(&history.tasks, &thread, NULL), CTX_OK);
	assert_int_equal(ctx_pd_tasks_fork(&history.tasks, &process, NULL), CTX_OK);
	assert_int_equal(ctx_pd_tasks_fork(&history.tasks, &untracked_task, NULL), CTX_OK);
	sample(&history, 9, 10, 12, 0, 0);
	sample(&history, 9, 20, 20, 1, 1);
	sample(&history, 9, 10, 13, 0, 2);
	check_told(&history, "0 process 0 pid 10 of -1 server []\n"
			     "6 thread 0 tid 12 of 0 worker\n"
			     "7 process 1 pid 20 of 0 worker [_f1]\n"
			     "7 thread 1 tid 20 of 1 worker\n"
			     "8 thread 2 tid 13 of 0 server\n");
	end(&history);
}

static void test_perfdata_tasks__a_fork_only_for_an_exec_is_not_emitted(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "sh", false);
	map_at(&history, 0, 10, 0x1000);
	for (int64_t pid = 11; pid < 13; pid++) {
		fork_at(&history, 5, pid, 10, pid);
		comm(&history, 6, pid, pid, pid == 11 ? "ls" : "wc", true);
		map_at(&history, 7, pid, 0x5000);
	}
	sample(&history, 8, 12, 12, 1, 0);
	sample(&history, 9, 11, 11, 2, 1);
	check_told(&history, "0 process 0 pid 10 of -1 sh []\n"
			     "8 map 0 1000+1000 /lib@0 id= f=\n"
			     "6 process 1 pid 12 of 0 wc [_f2_x1]\n"
			     "8 map 1 5000+1000 /lib@0 id= f=\n"
			     "6 thread 0 tid 12 of 1 wc\n"
			     "6 process 2 pid 11 of 0 ls [_f1_x1]\n"
			     "9 map 2 5000+1000 /lib@0 id= f=\n"
			     "6 thread 1 tid 11 of 2 ls\n");
	end(&history);
}

/* perf's own child execs before its first sample: the history begins there. */
static void test_perfdata_tasks__the_root_process_is_the_executed_command(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "perf", false);
	map_at(&history, 0, 10, 0x1000);
	comm(&history, 3, 10, 10, "app", true);
	sample(&history, 4, 10, 10, 0, 0);
	comm(&history, 5, 10, 10, "app2", true);
	sample(&history, 6, 10, 10, 1, 1);
	expire(&history, UINT64_MAX);
	check_told(&history, "3 process 0 pid 10 of -1 app []\n"
			     "3 thread 0 tid 10 of 0 app\n"
			     "5 process 1 pid 10 of 0 app2 [_x1]\n"
			     "5 thread 1 tid 10 of 1 app2\n"
			     "5 end of thread 0\n"
			     "5 end of process 0\n");
	end(&history);
}

/*
 * The others exit, the first too; the one that calls exec takes its number, and the end of its own
 * number is not recorded.
 */
static void test_perfdata_tasks__a_thread_that_executes_a_program_ends_with_the_old_one(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "server", false);
	fork_at(&history, 4, 10, 10, 11);
	fork_at(&history, 4, 10, 10, 12);
	sample(&history, 5, 10, 10, 0, 0);
	sample(&history, 5, 10, 11, 0, 1);
	sample(&history, 5, 10, 12, 0, 2);
	exit_at(&history, 6, 10, 12);
	exit_at(&history, 6, 10, 10);
	comm(&history, 7, 10, 10, "app", true);
	sample(&history, 8, 10, 10, 1, 3);
	expire(&history, UINT64_MAX);
	check_told(&history, "0 process 0 pid 10 of -1 server []\n"
			     "0 thread 0 tid 10 of 0 server\n"
			     "4 thread 1 tid 11 of 0 server\n"
			     "4 thread 2 tid 12 of 0 server\n"
			     "7 process 1 pid 10 of 0 app [_x1]\n"
			     "7 thread 3 tid 10 of 1 app\n"
			     "6 end of thread 2\n"
			     "6 end of thread 0\n"
			     "7 end of thread 1\n"
			     "7 end of process 0\n");
	end(&history);
}

static void test_perfdata_tasks__synthesized_processes_inherit_nothing(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	found(&history, 1, 0, 1);
	comm(&history, 0, 1, 1, "init", false);
	map_at(&history, 0, 1, 0x1000);
	found(&history, 50, 1, 50);
	comm(&history, 0, 50, 50, "sshd", false);
	found(&history, 50, 50, 51); /* a thread of it */
	sample(&history, 4, 50, 51, 1, 0);
	check_told(&history, "0 process 0 pid 1 of -1 init []\n"
			     "4 map 0 1000+1000 /lib@0 id= f=\n"
			     "0 process 1 pid 50 of 0 sshd []\n"
			     "0 thread 0 tid 51 of 1 sshd\n");
	end(&history);
}

static void test_perfdata_tasks__names_of_threads_are_emitted_when_they_change(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "app", false);
	fork_at(&history, 1, 10, 10, 11);
	comm(&history, 2, 10, 11, "worker 1", false);
	sample(&history, 3, 10, 11, 0, 0);
	comm(&history, 4, 10, 11, "worker 2", false);
	comm(&history, 5, 10, 10, "main", false);
	sample(&history, 6, 10, 10, 0, 1);
	check_told(&history, "0 process 0 pid 10 of -1 app []\n"
			     "1 thread 0 tid 11 of 0 worker 1\n"
			     "4 name of 0: worker 2\n"
			     "0 thread 1 tid 10 of 0 main\n");
	end(&history);
}

/* ---- ends ---- */

static void test_perfdata_tasks__samples_just_after_the_end_are_of_the_same_thread(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "app", false);
	sample(&history, 1, 10, 10, 0, 0);
	exit_at(&history, SECOND, 10, 10);
	exit_at(&history, SECOND + 1, 10, 10); /* recorded twice: ended once */
	expire(&history, SECOND + SECOND / 20);
	sample(&history, SECOND + SECOND / 20, 10, 10, 0, 0);
	check_told(&history, "0 process 0 pid 10 of -1 app []\n"
			     "0 thread 0 tid 10 of 0 app\n");
	expire(&history, 2 * SECOND);
	check_told(&history, "1050000000 end of thread 0\n"
			     "1050000000 end of process 0\n");
	sample(&history, 2 * SECOND, 10, 10, 0, 1); /* much later it is another life of that number */
	check_told(&history, "2000000000 thread 1 tid 10 of 0 app\n");
	end(&history);
}

static void test_perfdata_tasks__a_process_ends_with_its_last_thread(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "app", false);
	fork_at(&history, 1, 10, 10, 11);
	fork_at(&history, 1, 10, 10, 12); /* never sampled */
	sample(&history, 2, 10, 10, 0, 0);
	sample(&history, 2, 10, 11, 0, 1);
	exit_at(&history, 3, 10, 10);
	exit_at(&history, 4, 10, 11);
	exit_at(&history, 4, 99, 12); /* of another process: not this one */
	check_told(&history, "0 process 0 pid 10 of -1 app []\n"
			     "0 thread 0 tid 10 of 0 app\n"
			     "1 thread 1 tid 11 of 0 app\n");
	expire(&history, SECOND);
	check_told(&history, "3 end of thread 0\n4 end of thread 1\n");
	exit_at(&history, SECOND, 10, 12);
	expire(&history, UINT64_MAX);
	check_told(&history, "1000000000 end of process 0\n");
	end(&history);
}

static void test_perfdata_tasks__a_number_that_is_used_again_is_another_thread_and_process(void **state)
{
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 10, 10, "sh", false);
	fork_at(&history, 1, 11, 10, 11);
	sample(&history, 2, 11, 11, 1, 0);
	exit_at(&history, 3, 11, 11);
	fork_at(&history, 4, 11, 10, 11); /* at once */
	sample(&history, 5, 11, 11, 2, 1);
	fork_at(&history, 6, 11, 10, 11); /* although its end got lost */
	sample(&history, 7, 11, 11, 3, 2);
	check_told(&history, "0 process 0 pid 10 of -1 sh []\n"
			     "1 process 1 pid 11 of 0 sh [_f1]\n"
			     "1 thread 0 tid 11 of 1 sh\n"
			     "4 process 2 pid 11 of 0 sh [_f2]\n"
			     "4 thread 1 tid 11 of 2 sh\n"
			     "6 process 3 pid 11 of 0 sh [_f3]\n"
			     "6 thread 2 tid 11 of 3 sh\n");
	expire(&history, UINT64_MAX);
	check_told(&history, "3 end of thread 0\n3 end of process 1\n"
			     "6 end of thread 1\n6 end of process 2\n");
	end(&history);
}

/* ---- long and wide ---- */

/* Each forks the next: emitted from the first to the last, with lineages of limited length. */
static void test_perfdata_tasks__a_long_chain_of_forks_is_emitted_in_order(void **state)
{
	enum { N = 50000 };
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 1, 1, "first", false);
	map_at(&history, 0, 1, 0x1000);
	for (int64_t pid = 2; pid <= N; pid++)
		fork_at(&history, (uint64_t)pid, pid, pid - 1, pid);
	sample(&history, N, N, N, N - 1, 0);
	assert_int_equal(history.check.n_processes, N);
	end(&history);
}

static void test_perfdata_tasks__a_line_of_execs_is_passed_over(void **state)
{
	enum { N = 50000 };
	struct history history;

	(void)state;
	begin(&history);
	comm(&history, 0, 1, 1, "sh", false);
	fork_at(&history, 0, 2, 1, 2);
	for (uint64_t i = 1; i <= N; i++)
		comm(&history, i, 2, 2, "step", true);
	sample(&history, N, 2, 2, 1, 0);
	assert_int_equal(history.check.n_processes, 2);
	end(&history);
}

static void test_perfdata_tasks__lines_of_descent_never_close(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct history history;
		uint64_t draw = seed;
		struct ctx_pd_thread_numbers got;

		begin(&history);
		for (int i = 0; i < 40; i++) {
			int64_t pid = (int64_t)pd_random(&draw, 8), parent = (int64_t)pd_random(&draw, 8);

			if (pd_random(&draw, 5) == 0)
				fork_at(&history, (uint64_t)i, pid, parent, pid);
			else
				found(&history, pid, parent, pid);
		}
		for (int64_t pid = 0; pid < 8; pid++) {
			struct ctx_pd_task_at at = {.time_ns = 50, .pid = pid, .tid = pid};

			assert_int_equal(ctx_pd_tasks_sample(&history.tasks, &at, &got, NULL), CTX_OK);
		}
		take(&history);
		end(&history);
	}
}

/* ---- against a slow model ---- */

enum { PIDS = 10, TIDS = 30, IMAGES = 4000, MAPS = 64 };

struct model_image {
	int64_t pid;
	uint32_t number; /* as announced */
	uint64_t maps[MAPS];
	size_t n_maps;
};

struct model_task {
	int image; /* -1: no such thread now */
	bool ended, emitted;
	uint64_t end_ns;
};

struct model {
	struct model_image images[IMAGES];
	int n_images;
	int image_of_pid[PIDS];
	struct model_task tasks[TIDS];
};

static int model_image(struct model *model, int64_t pid)
{
	int *known = &model->image_of_pid[pid];

	if (*known < 0) {
		assert_true(model->n_images < IMAGES);
		*known = model->n_images++;
		model->images[*known] = (struct model_image){.pid = pid, .number = CTX_NONE};
	}
	return *known;
}

static int model_new_image(struct model *model, int64_t pid)
{
	model->image_of_pid[pid] = -1;
	return model_image(model, pid);
}

static void model_set_task(struct model *model, int64_t tid, int image)
{
	model->tasks[tid] = (struct model_task){.image = image};
}

static struct model_task *model_task(struct model *model, int64_t pid, int64_t tid)
{
	struct model_task *task = &model->tasks[tid];

	if (task->image < 0 || task->emitted || model->images[task->image].pid != pid)
		model_set_task(model, tid, model_image(model, pid));
	return task;
}

static void model_fork(struct model *model, int64_t pid, int64_t parent, int64_t tid)
{
	int from = model_image(model, parent), image = from;

	if (pid != parent) {
		image = model_new_image(model, pid);
		memcpy(model->images[image].maps, model->images[from].maps, sizeof(model->images[from].maps));
		model->images[image].n_maps = model->images[from].n_maps;
	}
	model_set_task(model, tid, image);
}

static void model_exec(struct model *model, uint64_t time, int64_t pid, int64_t tid)
{
	int old = model_image(model, pid);

	for (int i = 0; i < TIDS; i++) {
		if (model->tasks[i].image == old && !model->tasks[i].ended) {
			model->tasks[i].ended = true;
			model->tasks[i].end_ns = time;
		}
	}
	model_set_task(model, tid, model_new_image(model, pid));
}

static void model_exit(struct model *model, uint64_t time, int64_t pid, int64_t tid)
{
	struct model_task *task = &model->tasks[tid];

	if (task->image < 0 || model->images[task->image].pid != pid || task->ended)
		return;
	task->ended = true;
	task->end_ns = time;
}

/* Ends are emitted in order: the first that is too recent delays the others. Steps are so long that
 * none is. */
static void model_expire(struct model *model, uint64_t now)
{
	for (int tid = 0; tid < TIDS; tid++) {
		struct model_task *task = &model->tasks[tid];

		if (task->image >= 0 && task->ended && now - task->end_ns >= SECOND / 10)
			task->emitted = true;
	}
}

static void model_sample(struct model *model, struct history *history, uint64_t time, int64_t pid,
			 int64_t tid)
{
	struct model_task *task = model_task(model, pid, tid);
	struct model_image *image = &model->images[task->image];
	struct ctx_pd_task_at at = {.time_ns = time, .pid = pid, .tid = tid};
	struct ctx_pd_thread_numbers got;

	if (task->ended && time > task->end_ns)
		task->end_ns = time;
	assert_int_equal(ctx_pd_tasks_sample(&history->tasks, &at, &got, NULL), CTX_OK);
	if (image->number == CTX_NONE)
		image->number = got.process;
	assert_int_equal(got.process, image->number);
}

/* The maps of each process, from the events. */
struct emitted_maps {
	uint64_t maps[MAPS];
	size_t n;
};

static void take_maps(struct history *history, struct emitted_maps *emitted)
{
	for (; history->out.at < history->out.n; history->out.at++) {
		const struct ctx_event *event = &history->out.items[history->out.at];

		source_check_event(&history->check, &any_time, event);
		if (event->kind != CTX_EV_MAP)
			continue;
		assert_true(event->process < IMAGES && emitted[event->process].n < MAPS);
		emitted[event->process].maps[emitted[event->process].n++] = event->map.address;
	}
}

static void step(struct model *model, struct history *history, uint64_t *seed, uint64_t time)
{
	int64_t pid = (int64_t)pd_random(seed, PIDS), parent = (int64_t)pd_random(seed, PIDS);
	int64_t tid = pd_random(seed, 2) != 0 ? pid : pid + PIDS * (1 + (int64_t)pd_random(seed, 2));
	uint64_t address = time << 12;
	int image;

	switch (pd_random(seed, 12)) {
	case 0:
		fork_at(history, time, pid, parent, pid);
		model_fork(model, pid, parent, pid);
		break;
	case 1:
		fork_at(history, time, pid, pid, tid);
		model_fork(model, pid, pid, tid);
		break;
	case 2:
		found(history, pid, parent, tid);
		model_image(model, pid);
		model_image(model, parent);
		model_task(model, pid, tid);
		break;
	case 3:
		comm(history, time, pid, tid, "exec", true);
		model_exec(model, time, pid, tid);
		break;
	case 4:
		comm(history, time, pid, tid, "name", false);
		model_image(model, pid);
		model_task(model, pid, tid);
		break;
	case 5:
		exit_at(history, time, pid, tid);
		model_exit(model, time, pid, tid);
		break;
	case 6:
		expire(history, time);
		model_expire(model, time);
		break;
	case 7:
	case 8:
	case 9:
		image = model_image(model, pid);
		if (model->images[image].n_maps == MAPS)
			break;
		model->images[image].maps[model->images[image].n_maps++] = address;
		assert_int_equal(put_map(history, time, pid, address, NULL), CTX_OK);
		break;
	default:
		model_sample(model, history, time, pid, tid);
	}
}

static void check_maps(const struct model *model, const struct emitted_maps *emitted)
{
	for (int i = 0; i < model->n_images; i++) {
		const struct model_image *image = &model->images[i];

		if (image->number == CTX_NONE)
			continue;
		assert_int_equal(emitted[image->number].n, image->n_maps);
		assert_memory_equal(emitted[image->number].maps, image->maps,
				    image->n_maps * sizeof(image->maps[0]));
	}
}

static void test_perfdata_tasks__maps_are_those_of_a_model_that_copies_them_at_every_fork(void **state)
{
	static struct model model;
	static struct emitted_maps emitted[IMAGES];

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct history history;
		uint64_t draw = seed, time = 1;

		memset(emitted, 0, sizeof(emitted));
		model.n_images = 0;
		for (int i = 0; i < PIDS; i++)
			model.image_of_pid[i] = -1;
		for (int i = 0; i < TIDS; i++)
			model.tasks[i].image = -1;
		begin(&history);
		for (int i = 0; i < 1500; i++) {
			time += SECOND; /* so that ends are emitted in time */
			step(&model, &history, &draw, time);
			take_maps(&history, emitted);
		}
		check_maps(&model, emitted);
		end(&history);
	}
}

/* ---- memory that runs out ---- */

static enum ctx_status run_short(struct history *history, struct ctx_err *err)
{
	struct ctx_pd_tasks *tasks = &history->tasks;
	enum ctx_status status = CTX_OK;
	struct ctx_pd_thread_numbers got;

	for (int64_t pid = 1; pid < 40 && status == CTX_OK; pid++) {
		struct ctx_pd_fork record = {.time_ns = 5, .pid = pid, .parent_pid = pid / 2, .tid = pid};

		status = ctx_pd_tasks_fork(tasks, &record, err);
		if (status == CTX_OK)
			status = put_map(history, 5, pid / 2, 0x1000, err);
		if (status == CTX_OK)
			status = put_map(history, 5, pid, 0x1000, err);
		if (status == CTX_OK)
			status = ctx_pd_tasks_comm(tasks,
						   &(struct ctx_pd_comm){.time_ns = 6,
									 .pid = pid,
									 .tid = pid,
									 .name = "a name",
									 .is_exec = pid % 3 == 0},
						   err);
		if (status == CTX_OK && pid % 5 == 0)
			status = ctx_pd_tasks_sample(
				tasks, &(struct ctx_pd_task_at){.time_ns = 7, .pid = pid, .tid = pid}, &got,
				err);
		if (status == CTX_OK)
			status = ctx_pd_tasks_exit(tasks, 8, pid, pid, err);
	}
	return status == CTX_OK ? ctx_pd_tasks_expire(tasks, UINT64_MAX, err) : status;
}

static void test_perfdata_tasks__out_of_memory_fails_without_leaks(void **state)
{
	enum ctx_status status = CTX_E_NOMEM;
	long n;

	(void)state;
	for (n = 0; status != CTX_OK; n++) {
		struct history history;
		struct ctx_err err = {0};

		begin(&history);
		fail_after = n;
		status = run_short(&history, &err);
		if (fail_after < 0)
			assert_int_equal(status, CTX_E_NOMEM);
		fail_after = -1;
		end(&history);
	}
	assert_true(n > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_tasks__nothing_is_emitted_before_the_first_sample),
		cmocka_unit_test(test_perfdata_tasks__an_unannounced_process_is_named_by_its_number),
		cmocka_unit_test(test_perfdata_tasks__a_forked_child_has_the_name_and_the_maps_of_its_parent),
		cmocka_unit_test(test_perfdata_tasks__a_forked_process_has_the_name_of_the_thread),
		cmocka_unit_test(test_perfdata_tasks__a_fork_only_for_an_exec_is_not_emitted),
		cmocka_unit_test(test_perfdata_tasks__the_root_process_is_the_executed_command),
		cmocka_unit_test(test_perfdata_tasks__a_thread_that_executes_a_program_ends_with_the_old_one),
		cmocka_unit_test(test_perfdata_tasks__synthesized_processes_inherit_nothing),
		cmocka_unit_test(test_perfdata_tasks__names_of_threads_are_emitted_when_they_change),
		cmocka_unit_test(test_perfdata_tasks__samples_just_after_the_end_are_of_the_same_thread),
		cmocka_unit_test(test_perfdata_tasks__a_process_ends_with_its_last_thread),
		cmocka_unit_test(
			test_perfdata_tasks__a_number_that_is_used_again_is_another_thread_and_process),
		cmocka_unit_test(test_perfdata_tasks__a_long_chain_of_forks_is_emitted_in_order),
		cmocka_unit_test(test_perfdata_tasks__a_line_of_execs_is_passed_over),
		cmocka_unit_test(test_perfdata_tasks__lines_of_descent_never_close),
		cmocka_unit_test(
			test_perfdata_tasks__maps_are_those_of_a_model_that_copies_them_at_every_fork),
		cmocka_unit_test(test_perfdata_tasks__out_of_memory_fails_without_leaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
