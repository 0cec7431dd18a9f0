#include "formats/gprofng/gp_archive.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define POLYNOMIAL 0x807u /* x^64 + x^11 + x^2 + x + 1, without the highest bit */
#define DIGITS 11
#define BASE_MAX 243u

static uint64_t crc64(const char *text, size_t n)
{
	uint64_t crc = 0;

	for (size_t i = 0; i < n; i++) {
		crc ^= (uint64_t)(uint8_t)text[i] << 56;
		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 63 != 0 ? POLYNOMIAL : 0);
	}
	return crc;
}

/* Eleven digits of six bits, least significant first. */
static void put_hash(char out[DIGITS + 1], uint64_t hash)
{
	static const char alphabet[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

	for (int i = 0; i < DIGITS; i++, hash >>= 6)
		out[i] = alphabet[hash & 63];
	out[DIGITS] = '\0';
}

void ctx_gp_archive_name(const char *path, char ret[CTX_GP_ARCHIVE_NAME])
{
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	char hash[DIGITS + 1];

	if (slash != NULL)
		put_hash(hash, crc64(path, (size_t)(base - path)));
	else
		put_hash(hash, crc64("./", 2));
	snprintf(ret, CTX_GP_ARCHIVE_NAME, "%.*s_%s", (int)BASE_MAX, base, hash);
}
