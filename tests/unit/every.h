/*
 * The step between the positions that a test damages one by one.
 */
#ifndef CTX_TESTS_UNIT_EVERY_H
#define CTX_TESTS_UNIT_EVERY_H

/*
 * Every one; with the sanitizers, which make each read ten times as expensive, every seventh: a
 * prime, so that no byte of a field is skipped in every record.
 */
#ifdef CTX_SANITIZED
#define EVERY 7
#else
#define EVERY 1
#endif

#endif
