#include "ctxan/terminal.h"

#include "base/fileio.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_WIDTH 120u
#define LEAST_WIDTH 40u

/* Columns of the terminal; 0: it is none, or does not say. */
static unsigned width_of(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 0;
	return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

/* Of the terminal that this is started from, although the output goes elsewhere. */
static unsigned width_of_session(void)
{
	unsigned width = width_of(STDERR_FILENO);
	int fd CTX_AUTO_CLOSE = -1;

	if (width != 0)
		return width;
	fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 ? width_of(fd) : 0;
}

static bool is_pipe(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
}

/*
 * The terminal's; otherwise COLUMNS; in a pipe, that may lead to a pager, that of the terminal
 * behind it; otherwise a width that fits most pages.
 */
static unsigned output_width(bool to_file)
{
	const char *columns = getenv("COLUMNS");
	unsigned width = to_file ? 0 : width_of(STDOUT_FILENO);
	long value = columns != NULL ? strtol(columns, NULL, 10) : 0;

	if (width != 0)
		return width;
	if (value >= (long)LEAST_WIDTH && value <= 10000)
		return (unsigned)value;
	if (!to_file && is_pipe(STDOUT_FILENO))
		width = width_of_session();
	return width != 0 ? width : DEFAULT_WIDTH;
}

/* ASCII on standard output where the locale is not UTF-8; files are UTF-8. */
static void choose_charset(struct ctx_options *options)
{
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return;
	setlocale(LC_CTYPE, "C.UTF-8");
	if (options->output.path == NULL)
		options->report.ascii = true;
}

bool ctx_terminal_is_output(const struct ctx_options *options)
{
	const char *term = getenv("TERM");

	return options->output.path == NULL && isatty(STDOUT_FILENO) && term != NULL &&
	       strcmp(term, "dumb") != 0;
}

/* https://no-color.org: an empty NO_COLOR does not count. */
static void choose_color(struct ctx_options *options)
{
	const char *no_color = getenv("NO_COLOR");
	bool wanted = (no_color == NULL || *no_color == '\0') && ctx_terminal_is_output(options);

	options->report.color =
		options->color == CTX_COLOR_ALWAYS || (options->color == CTX_COLOR_AUTO && wanted);
}

void ctx_terminal_choose(struct ctx_options *options)
{
	choose_charset(options);
	choose_color(options);
	if (options->report.width == 0)
		options->report.width = output_width(options->output.path != NULL);
}
