/*
 * phase_runs: how often noise alone makes phases, and how far found borders are from known ones, for
 * bench/results/phases.md.
 *
 * Noise: samples that are drawn independently; that stay in a class for so many samples in the mean, a Markov
 * chain; loops that go through all classes in turns, a hundred times in the run. Phases: four, A B A C, with
 * borders at random, each phase's classes drawn independently or in loops.
 *
 *	phase_runs [RUNS]	Markdown on standard output; 200 runs of each row
 */
#include "timetree/period.h"
#include "timetree/phase_bins.h"
#include "timetree/phase_segments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLASSES 64u
#define PHASES 4u

static uint64_t state;

static double chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

struct program {
	double weights[CLASSES]; /* add up to one */
	size_t n_classes;
	double stays; /* samples in a class in the mean; 0: loops */
	double turn;  /* samples of a loop in the mean */
	size_t now;
	double left;
};

static size_t draw(const struct program *program)
{
	double at = chance();
	size_t class = 0;

	while (class + 1 < program->n_classes && (at -= program->weights[class]) > 0)
		class ++;
	return class;
}

/* The class of the next sample. */
static size_t next(struct program *program)
{
	if (program->stays > 0) {
		if (chance() * program->stays < 1)
			program->now = draw(program);
		return program->now;
	}
	while (program->left <= 0) {
		program->now = (program->now + 1) % program->n_classes;
		program->left += program->weights[program->now] * program->turn * (0.5 + chance());
	}
	program->left--;
	return program->now;
}

/* Weights like those of functions: a few are heavy. */
static void make_program(struct program *program, size_t n_classes, double stays, double turn)
{
	double sum = 0;

	*program = (struct program){.n_classes = n_classes, .stays = stays, .turn = turn};
	for (size_t c = 0; c < n_classes; c++)
		sum += program->weights[c] = 1.0 / (1 + floor(chance() * (double)n_classes));
	for (size_t c = 0; c < n_classes; c++)
		program->weights[c] /= sum;
	program->now = draw(program);
}

static double cpu_ms(void)
{
	return (double)clock() * 1000 / CLOCKS_PER_SEC;
}

static void find(const double *cells, size_t n_bins, size_t n_classes, struct ctx_phase_segments *ret)
{
	struct ctx_err err;

	if (ctx_phases_find(&(struct ctx_phase_counts){cells, n_bins, n_classes}, ret, &err) == CTX_OK)
		return;
	fprintf(stderr, "phase_runs: %s\n", err.msg);
	exit(1);
}

static void noise(const char *name, size_t samples, size_t n_classes, double stays, unsigned runs)
{
	size_t n_bins = ctx_phase_bins_wanted(samples);
	double *cells = calloc(n_bins * n_classes, sizeof(*cells)), dispersion = 0, before = cpu_ms();
	unsigned wrong = 0;

	for (unsigned run = 0; run < runs && cells != NULL; run++) {
		struct ctx_phase_segments found;
		struct program program;

		state = 88172645463325252u + run * 2654435761u;
		make_program(&program, n_classes, stays, (double)samples / 100);
		memset(cells, 0, n_bins * n_classes * sizeof(*cells));
		for (size_t i = 0; i < samples; i++)
			cells[i * n_bins / samples * n_classes + next(&program)]++;
		find(cells, n_bins, n_classes, &found);
		wrong += found.n > 1;
		dispersion += found.dispersion / runs;
		ctx_phase_segments_deinit(&found);
	}
	printf("| %s | %zu | %zu | %.1f %% | %.1f | %.1f |\n", name, samples, n_classes, 100.0 * wrong / runs,
	       dispersion, (cpu_ms() - before) / runs);
	free(cells);
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* The distance of a border from the nearest one that was found, as a share of the run. */
static double error_of(const struct ctx_phase_segments *found, size_t n_bins, double border)
{
	double best = 1;

	for (size_t i = 1; i < found->n; i++) {
		double error = fabs((double)found->items[i].begin / (double)n_bins - border);

		best = error < best ? error : best;
	}
	return best;
}

static void borders(const char *name, size_t samples, size_t n_classes, double stays, unsigned runs)
{
	static const unsigned kinds[PHASES] = {0, 1, 0, 2};
	size_t n_bins = ctx_phase_bins_wanted(samples), n_errors = 0, exact = 0, letters = 0, close = 0;
	double *cells = calloc(n_bins * n_classes, sizeof(*cells));
	double *errors = calloc((size_t)runs * (PHASES - 1), sizeof(*errors));

	for (unsigned run = 0; run < runs && cells != NULL && errors != NULL; run++) {
		struct ctx_phase_segments found;
		struct program programs[PHASES];
		double begins[PHASES + 1] = {0, 0.15 + 0.15 * chance(), 0.45 + 0.1 * chance(),
					     0.7 + 0.2 * chance(), 1};

		state = 88172645463325252u + run * 2654435761u;
		for (size_t i = 0; i < PHASES; i++)
			make_program(&programs[i], n_classes, stays, (double)samples / 200);
		memset(cells, 0, n_bins * n_classes * sizeof(*cells));
		for (size_t i = 0, phase = 0; i < samples; i++) {
			while ((double)i >= begins[phase + 1] * (double)samples)
				phase++;
			cells[i * n_bins / samples * n_classes + next(&programs[kinds[phase]])]++;
		}
		find(cells, n_bins, n_classes, &found);
		exact += found.n == PHASES;
		letters += found.n == PHASES && found.items[0].letter == found.items[2].letter &&
			   found.n_letters == 3;
		for (size_t i = 1; i < PHASES; i++) {
			errors[n_errors] = error_of(&found, n_bins, begins[i]);
			close += errors[n_errors++] <= 0.02;
		}
		ctx_phase_segments_deinit(&found);
	}
	qsort(errors, n_errors, sizeof(*errors), ascending);
	printf("| %s | %zu | %zu | %.1f %% | %.1f %% | %.1f %% | %.2f %% | %.2f %% |\n", name, samples,
	       n_classes, 100.0 * (double)exact / runs, 100.0 * (double)letters / runs,
	       100.0 * (double)close / (double)n_errors, 100 * errors[n_errors / 2],
	       100 * errors[n_errors * 95 / 100]);
	free(cells);
	free(errors);
}

/* On and off: a period with jitter, or Markov noise of the same length. */
static void periods(const char *name, size_t steps, double jitter, unsigned runs)
{
	double *series = calloc(steps, sizeof(*series)), length = 0, found_jitter = 0;
	unsigned found = 0;

	for (unsigned run = 0; run < runs && series != NULL; run++) {
		double begin = 0, until = 0, on = 0;
		struct ctx_period period;

		state = 88172645463325252u + run * 2654435761u;
		for (size_t i = 0; i < steps; i++) {
			if (jitter < 0 && chance() < 1.0 / 8)
				on = 1 - on;
			if (jitter >= 0 && (double)i >= begin) {
				double sum = -6;

				for (unsigned k = 0; k < 12; k++)
					sum += chance();
				until = (double)i + 5;
				begin += 16.67 + jitter * sum;
			}
			series[i] = jitter < 0 ? on : (double)i < until;
		}
		if (ctx_period_find(series, steps, &period, NULL) != CTX_OK)
			continue;
		found++;
		length += period.length;
		found_jitter += period.jitter;
	}
	printf("| %s | %zu | %.1f %% | %.2f | %.2f |\n", name, steps, 100.0 * found / runs,
	       found != 0 ? length / found : 0, found != 0 ? found_jitter / found : 0);
	free(series);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {300, 1000, 10000, 100000}, classes[] = {2, 8, 64};
	unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 200;

	if (runs == 0)
		return 1;
	printf("| noise | samples | classes | runs with a phase | dispersion | CPU ms "
	       "|\n|---|---:|---:|---:|---:|---:|\n");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
			noise("independent", sizes[s], classes[c], 1, runs);
			noise("stays for a 100th of the run", sizes[s], classes[c], (double)sizes[s] / 100,
			      runs);
			noise("a hundred loops", sizes[s], classes[c], 0, runs);
		}
	}
	printf("\n| phases A B A C | samples | classes | four found | letters A B A C | borders within 2 %% "
	       "| median error | 95th percentile |\n");
	printf("|---|---:|---:|---:|---:|---:|---:|---:|\n");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t c = 1; c < sizeof(classes) / sizeof(classes[0]); c++) {
			borders("independent", sizes[s], classes[c], 1, runs);
			borders("two hundred loops", sizes[s], classes[c], 0, runs);
		}
	}
	printf("\n| series | steps | runs with a period | length | jitter |\n|---|---:|---:|---:|---:|\n");
	for (size_t s = 0; s < 3; s++) {
		periods("16.67 steps", sizes[s], 0, runs);
		periods("16.67 steps, jitter 2", sizes[s], 2, runs);
		periods("on and off for 8 steps in the mean, by chance", sizes[s], -1, runs);
	}
	return 0;
}
