/*
 * Two kernels like those of the NAS benchmarks, small: EP (pairs of random numbers are counted by size, all threads alone) and CG (conjugate
 * gradients of a sparse matrix: many short loops, reductions and barriers). openmp_kernels [THREADS]. Prints a checksum, and what its threads have
 * measured of their own work in both, in ns.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAIRS 3000000
#define ROWS 80000
#define BANDS 13
#define STEPS 60

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The n-th number of one sequence, whoever asks: in (-1, 1). */
static double number(uint64_t n)
{
	n = (n + 1) * 0x9e3779b97f4a7c15u;
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
	n = (n ^ n >> 27) * 0x94d049bb133111ebu;
	return (double)(int64_t)(n ^ n >> 31) / 9223372036854775808.0;
}

static long ep(int threads, int64_t *ret_ns)
{
	long inside = 0;
	int64_t ns = 0;

#pragma omp parallel num_threads(threads) reduction(+ : inside, ns) /* region ep */
	{
		int64_t begin = now_ns();

#pragma omp for schedule(static) nowait
		for (long i = 0; i < PAIRS; i++) {
			double x = number((uint64_t)(2 * i)), y = number((uint64_t)(2 * i + 1)),
			       t = x * x + y * y;

			if (t <= 1 && t > 0 && fabs(x * sqrt(-2 * log(t) / t)) < 1)
				inside++;
		}
		ns += now_ns() - begin;
	}
	*ret_ns = ns;
	return inside;
}

static double matrix[ROWS][BANDS], x[ROWS], r[ROWS], p[ROWS], q[ROWS];

static int column(int row, int band)
{
	return (row + (band - BANDS / 2) * 37 + ROWS) % ROWS;
}

static double dot, alpha, rho;

/* One region; what a thread waits in the barriers of its loops is not its work. */
static double cg(int threads, int64_t *ret_ns)
{
	int64_t ns = 0;

#pragma omp parallel num_threads(threads) reduction(+ : ns) /* region cg */
	{
		int64_t begin = now_ns();

#pragma omp for schedule(static) nowait
		for (int i = 0; i < ROWS; i++) {
			for (int k = 0; k < BANDS; k++)
				matrix[i][k] = k == BANDS / 2 ? 20 : -1;
			x[i] = 0;
			r[i] = p[i] = 1;
		}
		ns += now_ns() - begin;
		for (int step = 0; step < STEPS; step++) {
#pragma omp barrier
			begin = now_ns();
#pragma omp for schedule(static) nowait
			for (int i = 0; i < ROWS; i++) {
				q[i] = 0;
				for (int k = 0; k < BANDS; k++)
					q[i] += matrix[i][k] * p[column(i, k)];
			}
			ns += now_ns() - begin;
#pragma omp barrier
#pragma omp master
			{
				begin = now_ns();
				dot = rho = 0;
				for (int i = 0; i < ROWS; i++) {
					dot += p[i] * q[i];
					rho += r[i] * r[i];
				}
				alpha = rho / dot;
				ns += now_ns() - begin;
			}
#pragma omp barrier
			begin = now_ns();
#pragma omp for schedule(static) nowait
			for (int i = 0; i < ROWS; i++) {
				x[i] += alpha * p[i];
				r[i] -= alpha * q[i];
				p[i] = r[i] + 0.1 * p[i];
			}
			ns += now_ns() - begin;
		}
	}
	*ret_ns = ns;
	return x[0];
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	int64_t ep_ns, cg_ns;
	long inside = ep(threads, &ep_ns);
	double first = cg(threads, &cg_ns);

	printf("%ld:%.6f %lld %lld\n", inside, first, (long long)ep_ns, (long long)cg_ns);
	return 0;
}
