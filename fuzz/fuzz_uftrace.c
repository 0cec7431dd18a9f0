/*
 * Reads arbitrary bytes as the files of a uftrace directory: each part is as many bytes as two bytes in front of it say; the
 * last ones are records of thread 7.
 */
#include "base/fileio.h"
#include "formats/uftrace/uftrace.h"
#include "fuzz/call_source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/ctx-fuzz-uftrace-XXXXXX";

static void remove_directory(void)
{
	if (ctx_dir_remove(directory, NULL) != CTX_OK)
		fputs("cannot remove the directory\n", stderr);
}

static void put(const char *name, const uint8_t *bytes, size_t n)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"task.txt", "sid-1.map", "app.sym", "perf-cpu0.dat", "8.dat"};
	static const uint8_t info[40] = "Ftrace!\0\4\0\0\0\50\0\1\2";
	static bool has_directory;
	struct ctx_event_source *source;
	struct ctx_err err = {0};

	if (!has_directory) {
		require(mkdtemp(directory) != NULL);
		atexit(remove_directory);
		has_directory = true;
	}
	put("info", info, sizeof(info));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = size >= 2 ? (size_t)data[0] | (size_t)data[1] << 8 : 0;
		size_t head = size >= 2 ? 2 : size;

		if (n > size - head)
			n = size - head;
		put(names[i], data + head, n);
		data += head + n;
		size -= head + n;
	}
	put("7.dat", data, size);
	if (ctx_uftrace_open(directory, &source, &err) == CTX_OK)
		check_source(source);
	else
		require(err.msg[0] != '\0');
	return 0;
}
