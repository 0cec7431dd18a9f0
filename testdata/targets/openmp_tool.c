/* A tool for OpenMP (OMPT) that counts parallel regions and prints how many there were: in a program, or as a library for OMP_TOOL_LIBRARIES. */
#include <stdint.h>
#include <stdio.h>

typedef void any_function(void);
typedef any_function *lookup_function(const char *name);
typedef int set_callback_function(int which, any_function *callback);

struct start_tool_result {
	int (*initialize)(lookup_function *lookup, int device, void *tool);
	void (*finalize)(void *tool);
	uint64_t tool;
};

static int n_regions;

static void on_parallel_begin(void)
{
	n_regions++;
}

static int initialize(lookup_function *lookup, int device, void *tool)
{
	set_callback_function *set = (set_callback_function *)lookup("ompt_set_callback");

	(void)device;
	(void)tool;
	(void)set(3, on_parallel_begin);
	return 1;
}

static void finalize(void *tool)
{
	(void)tool;
	printf("tool: %d regions\n", n_regions);
}

struct start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct start_tool_result result = {initialize, finalize, 0};

	(void)version;
	(void)runtime;
	return &result;
}
