/*
 * How far apart the places are that a test damages one by one.
 */
#ifndef CTX_TESTS_UNIT_EVERY_H
#define CTX_TESTS_UNIT_EVERY_H

/*
 * Every one; with the sanitizers, which make each read ten times as expensive, every seventh: a prime, so
 * that no byte of a field is passed over in all of its records.
 */
#ifdef CTX_SANITIZED
#define EVERY 7
#else
#define EVERY 1
#endif

#endif
