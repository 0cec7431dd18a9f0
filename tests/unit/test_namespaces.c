/*
 * Where a process is: texts of /proc, control groups of containers, reports about them.
 */
#include "base/mem.h"
#include "collect/namespaces.h"
#include "collect/procfs.h"
#include "model/container.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_cgroup(const char *text, const char *expected)
{
	char *copy = ctx_memdup0(text, strlen(text));
	const char *path;

	assert_non_null(copy);
	path = ctx_namespaces_parse_cgroup(copy);
	if (expected == NULL)
		assert_null(path);
	else
		assert_string_equal(path, expected);
	free(copy);
}

static void test_procfs__a_namespace_is_its_inode(void **state)
{
	char link[64] = "", want[64];
	uint64_t own = ctx_procfs_namespace(0, "mnt");

	(void)state;
	assert_true(readlink("/proc/self/ns/mnt", link, sizeof(link) - 1) > 0);
	snprintf(want, sizeof(want), "mnt:[%" PRIu64 "]", own);
	assert_string_equal(link, want);
	assert_int_equal(ctx_procfs_namespace(getpid(), "mnt"), own);
	assert_true(ctx_procfs_namespace(0, "pid") != own);
	/* Above pid_max. */
	assert_int_equal(ctx_procfs_namespace(5000000, "mnt"), 0);
	assert_int_equal(errno, ENOENT);
}

static void test_procfs__process_exists_until_it_is_waited_for(void **state)
{
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(ctx_procfs_exists(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(ctx_procfs_exists(pid));
	assert_true(ctx_procfs_exists(getpid()));
	assert_true(ctx_procfs_exists(1)); /* not ours, where this is no container's first process */
}

static void test_namespaces__control_group_is_that_of_the_unified_hierarchy(void **state)
{
	(void)state;
	assert_cgroup("0::/user.slice/session-1.scope\n", "/user.slice/session-1.scope");
	assert_cgroup("4:memory:/a\n0::/b\n", "/b");
	/* Hybrid: nothing is in the unified hierarchy. */
	assert_cgroup("9:name=systemd:/\n4:memory:/docker/x\n1:cpu:/other\n0::/\n", "/docker/x");
	assert_cgroup("2:cpu,cpuacct:/with:colon\n", "/with:colon");
	assert_cgroup("0::/\n", "/");
	assert_cgroup("0::/../../outside\n", "/../../outside");
	assert_cgroup("0::/gone (deleted)\n", "/gone");
	assert_cgroup("0::/ (deleted)\n", "/");
	assert_cgroup("1:cpu:/\n", NULL);
	assert_cgroup("", NULL);
	assert_cgroup("nonsense\n0:\n0::\n0::relative\n::", NULL);
	assert_cgroup("0::/no-newline", "/no-newline");
}

static void test_namespaces__inner_id_is_the_last_of_several(void **state)
{
	(void)state;
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\nNSpid:\t4026\t17\t1\nNSpgid:\t9\t8\n"), 1);
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\nNSpid:\t4026\t17\n"), 17);
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\nNSpid:\t4026\n"), 0);
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\n"), 0);
	assert_int_equal(ctx_namespaces_parse_inner(""), 0);
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\nNSpid:"), 0);
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\nNSpid:\t\n17"), 0);
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\nNSpid:\t5\t-3\n"), 0);
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tx\nNSpid:\t5\t99999999999999999999\n"), 0);
	/* A name can hold the key, not its newline: /proc escapes that. */
	assert_int_equal(ctx_namespaces_parse_inner("Name:\tNSpid:\t5\t6\nNSpid:\t7\n"), 0);
}

#define ID "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"

static void assert_container(const char *cgroup, const char *expected)
{
	char name[CTX_CONTAINER_NAME];

	assert_int_equal(ctx_container_of_cgroup(cgroup, name), expected != NULL);
	assert_string_equal(name, expected != NULL ? expected : "");
}

static void test_namespaces__container_is_known_by_its_control_group(void **state)
{
	char name[CTX_CONTAINER_NAME], longest[300] = "/lxc/";

	(void)state;
	assert_container("/docker/" ID, "0123456789ab");
	assert_container("/system.slice/docker-" ID ".scope", "0123456789ab");
	assert_container("/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", "0123456789ab");
	assert_container("/machine.slice/libpod-" ID ".scope/container", "0123456789ab");
	assert_container("/kubepods/burstable/pod0123/" ID "/init", "0123456789ab");
	assert_container("/lxc/web/user.slice", "web");
	assert_container("/lxc.payload.web", "web");
	assert_container("/machine.slice/machine-debian.scope", "debian");
	/* A container in a container: the inner one. */
	assert_container("/docker/f" ID "/docker/" ID, "0123456789ab");
	assert_container("/lxc/outer/docker/" ID, "0123456789ab");
	assert_container("/user.slice/user-1000.slice/session-2.scope", NULL);
	assert_container("/system.slice/" ID "0", NULL); /* 65 digits */
	assert_container("/process/0123456789abcdef0123456789abcdef", NULL);
	assert_container("/lxc/", NULL);
	assert_container("/lxc.payload.", NULL);
	assert_container("machine-.scope", NULL);
	assert_container("/", NULL);
	assert_container("", NULL);
	assert_container(NULL, NULL);
	memset(longest + strlen(longest), 'x', 200);
	assert_true(ctx_container_of_cgroup(longest, name));
	assert_int_equal(strlen(name), CTX_CONTAINER_NAME - 1);
}

static void test_namespaces__own_process_has_no_inner_id(void **state)
{
	struct ctx_namespaces own = {0}, child = {0};
	bool moved;

	(void)state;
	assert_int_equal(ctx_namespaces_look(getpid(), &own, &moved, NULL), CTX_OK);
	assert_int_equal(moved, own.cgroup != NULL);
	assert_int_equal(own.inner_pid, 0);
	assert_false(own.is_inner);
	assert_int_equal(ctx_namespaces_inner_tid(&own, getpid(), getpid()), 0);
	assert_int_equal(ctx_namespaces_look(getpid(), &own, &moved, NULL), CTX_OK);
	assert_false(moved);
	assert_int_equal(ctx_namespaces_fork(&own, getpid(), &child, NULL), CTX_OK);
	if (own.cgroup != NULL)
		assert_string_equal(child.cgroup, own.cgroup);
	ctx_namespaces_deinit(&own);
	ctx_namespaces_deinit(&child);
}

/* A process that has ended keeps what was known; one that moved is told apart. */
static void test_namespaces__process_that_is_gone_keeps_what_was_known(void **state)
{
	struct ctx_namespaces known = {
		.cgroup = ctx_memdup0("/elsewhere", 10), .inner_pid = 7, .is_inner = true};
	struct ctx_namespaces child;
	bool moved = true;

	(void)state;
	assert_non_null(known.cgroup);
	assert_int_equal(ctx_namespaces_look(INT32_MAX, &known, &moved, NULL), CTX_OK);
	assert_false(moved);
	assert_string_equal(known.cgroup, "/elsewhere");
	assert_int_equal(known.inner_pid, 7);
	assert_int_equal(ctx_namespaces_inner_tid(&known, 100, 100), 7);
	assert_int_equal(ctx_namespaces_inner_tid(&known, INT32_MAX, INT32_MAX - 1), 0);
	assert_int_equal(ctx_namespaces_fork(&known, INT32_MAX, &child, NULL), CTX_OK);
	assert_string_equal(child.cgroup, "/elsewhere");
	assert_int_equal(child.inner_pid, 0);
	assert_true(child.is_inner);
	ctx_namespaces_deinit(&child);
	ctx_namespaces_deinit(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_procfs__a_namespace_is_its_inode),
		cmocka_unit_test(test_procfs__process_exists_until_it_is_waited_for),
		cmocka_unit_test(test_namespaces__control_group_is_that_of_the_unified_hierarchy),
		cmocka_unit_test(test_namespaces__inner_id_is_the_last_of_several),
		cmocka_unit_test(test_namespaces__container_is_known_by_its_control_group),
		cmocka_unit_test(test_namespaces__own_process_has_no_inner_id),
		cmocka_unit_test(test_namespaces__process_that_is_gone_keeps_what_was_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
