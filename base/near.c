#include "base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COMPARED 48u
#define SHOWN 120u

static bool differ(char a, char b)
{
	return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/*
 * The edit distance (changed, added and removed characters); long names are compared by their
 * beginnings.
 */
static size_t edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t row[COMPARED + 1];

	n_a = n_a < COMPARED ? n_a : COMPARED;
	n_b = n_b < COMPARED ? n_b : COMPARED;
	for (size_t j = 0; j <= n_b; j++)
		row[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t best = corner + (differ(a[i - 1], b[j - 1]) ? 1 : 0);

			corner = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[n_b];
}

static bool holds(const char *name, const char *text, size_t want)
{
	for (; want != 0 && *name != '\0'; name++) {
		if (strncasecmp(name, text, want) == 0)
			return true;
	}
	return false;
}

void ctx_near_consider(struct ctx_near *near, const char *name, size_t n, const char *text, size_t want)
{
	size_t distance, at;

	if (holds(name, text, want)) {
		distance = n - (want < n ? want : n);
	} else {
		distance = edit_distance(name, strcspn(name, "(<"), text, want);
		if (distance > want / 3)
			return;
		distance += 1000;
	}
	for (size_t i = 0; i < near->n; i++) {
		if (near->lengths[i] == n && strncmp(near->names[i], name, n) == 0)
			return;
	}
	for (at = near->n; at > 0 && near->distances[at - 1] > distance; at--) {
		if (at < CTX_NEAR_MAX) {
			near->names[at] = near->names[at - 1];
			near->lengths[at] = near->lengths[at - 1];
			near->distances[at] = near->distances[at - 1];
		}
	}
	if (at == CTX_NEAR_MAX)
		return;
	near->names[at] = name;
	near->lengths[at] = n;
	near->distances[at] = distance;
	near->n += near->n < CTX_NEAR_MAX ? 1 : 0;
}

void ctx_near_list(const struct ctx_near *near, char *out, size_t size)
{
	size_t used = 0;

	if (size != 0)
		out[0] = '\0';
	for (size_t i = 0; i < near->n && used < size; i++) {
		size_t n = near->lengths[i];

		used += (size_t)snprintf(out + used, size - used, "%s'%.*s%s'", i == 0 ? "" : ", ",
					 (int)(n < SHOWN ? n : SHOWN), near->names[i],
					 n < SHOWN ? "" : "...");
	}
}
