#include "collect/session_woken.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define RANGE_BYTES 56u /* of the text, at most */
#define END_PART 8u	/* the ids begin anew soon in the last eighth of them */
#define FIRST_BYTES 24u /* "pid > ID" */

_Static_assert(FIRST_BYTES + CTX_WOKEN_RANGES * RANGE_BYTES < CTX_WOKEN_FILTER_BYTES, "a filter has room");

static int compare(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

/* The place with the largest gap in front of it that is not in `places` yet; 0: there is none. */
static size_t largest_gap(const struct ctx_ids *ids, const bool *is_begin)
{
	size_t found = 0;

	for (size_t i = 1; i < ids->n; i++) {
		if (!is_begin[i] && ids->items[i] - ids->items[i - 1] > 1 &&
		    (found == 0 ||
		     ids->items[i] - ids->items[i - 1] > ids->items[found] - ids->items[found - 1]))
			found = i;
	}
	return found;
}

/* Appends up to CTX_WOKEN_RANGES ranges that cover sorted ids. */
static void put_ranges(struct ctx_woken_filter *filter, const struct ctx_ids *ids, bool *is_begin)
{
	size_t at = strlen(filter->text), begin = 0;

	for (size_t n = 1, place; n < CTX_WOKEN_RANGES && (place = largest_gap(ids, is_begin)) != 0; n++)
		is_begin[place] = true;
	for (size_t i = 1; i <= ids->n; i++) {
		if (i < ids->n && !is_begin[i])
			continue;
		at += (size_t)snprintf(filter->text + at, sizeof(filter->text) - at,
				       " || (pid >= %d && pid <= %d)", (int)ids->items[begin],
				       (int)ids->items[i - 1]);
		begin = i;
	}
}

void ctx_woken_filter_make(struct ctx_woken_filter *ret, const struct ctx_ids *tids, int64_t last,
			   int64_t max)
{
	struct ctx_ids old = {0};
	bool *is_begin = ctx_calloc(tids->n + 1, sizeof(*is_begin));
	enum ctx_status status = is_begin != NULL ? CTX_OK : CTX_E_NOMEM;

	*ret = (struct ctx_woken_filter){.after = last, .before = max - max / END_PART};
	for (size_t i = 0; i < tids->n && status == CTX_OK; i++)
		status = tids->items[i] <= last ? ctx_ids_add(&old, tids->items[i], NULL) : CTX_OK;
	if (status == CTX_OK && last > 0 && last < ret->before) {
		snprintf(ret->text, sizeof(ret->text), "pid > %d", (int)last);
		if (old.n != 0) {
			qsort(old.items, old.n, sizeof(*old.items), compare);
			put_ranges(ret, &old, is_begin);
		}
	}
	free(is_begin);
	ctx_ids_deinit(&old);
}

int64_t ctx_woken_last_id(void)
{
	struct ctx_buf buf = {0};
	int64_t id = 0;

	/* "0.20 0.18 0.12 1/80 11206" */
	if (ctx_file_read("/proc/loadavg", 1 << 12, &buf, NULL) == CTX_OK) {
		const char *at;

		ctx_buf_put_u8(&buf, 0);
		at = buf.failed ? NULL : strrchr((const char *)buf.bytes, ' ');
		id = at != NULL ? strtoll(at, NULL, 10) : 0;
	}
	ctx_buf_deinit(&buf);
	return id > 0 && id <= INT32_MAX ? id : 0;
}

enum ctx_status ctx_woken_add(struct ctx_woken *woken, const struct ctx_woken_event *event,
			      struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&woken->items, &woken->cap, woken->n + 1, err);

	if (status != CTX_OK)
		return status;
	woken->items[woken->n++] = *event;
	/* A kernel without filters lets all of them through. */
	if (woken->filter.text[0] != '\0')
		(void)ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, woken->filter.text);
	return CTX_OK;
}

void ctx_woken_disable(const struct ctx_woken *woken)
{
	for (size_t i = 0; i < woken->n_fds; i++)
		(void)ioctl(woken->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

void ctx_woken_close(struct ctx_woken *woken)
{
	for (size_t i = 0; i < woken->n_fds; i++)
		close(woken->fds[i]);
	free(woken->fds);
	free(woken->items);
	*woken = (struct ctx_woken){0};
}
