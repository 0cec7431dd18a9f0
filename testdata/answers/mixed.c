/*
 * A program of several hot functions, for the comparison of flat profiles (tests/flow/flat_profile.sh): a fixed amount of work, about 1.5 s of CPU
 * time, in functions of different shares, one recursive, one called by the C library, and one of which the compiler makes a clone.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define N 20000

struct node {
	struct node *left, *right;
	uint32_t key;
};

static uint32_t values[N];
static double matrix[3][64][64];

static NOINLINE uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static int by_value(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static NOINLINE uint32_t collatz(uint32_t n)
{
	uint32_t steps = 0;

	for (uint64_t x = n; x != 1; steps++)
		x = x % 2 == 0 ? x / 2 : 3 * x + 1;
	return steps;
}

static NOINLINE uint32_t hash(const void *bytes, size_t n)
{
	uint32_t value = 2166136261u;

	for (size_t i = 0; i < n; i++)
		value = (value ^ ((const uint8_t *)bytes)[i]) * 16777619u;
	return value;
}

/* Called with the same size only: gcc makes multiply.constprop.0. */
static NOINLINE void multiply(int to, int a, int b, int size)
{
	for (int i = 0; i < size; i++) {
		for (int j = 0; j < size; j++) {
			double sum = 0;

			for (int k = 0; k < size; k++)
				sum += matrix[a][i][k] * matrix[b][k][j];
			matrix[to][i][j] = sum / (i + j + 1);
		}
	}
}

static struct node *insert(struct node *root, struct node *item)
{
	if (root == NULL)
		return item;
	if (item->key < root->key)
		root->left = insert(root->left, item);
	else
		root->right = insert(root->right, item);
	return root;
}

static NOINLINE uint32_t depth(const struct node *root)
{
	uint32_t left = root->left != NULL ? depth(root->left) : 0;
	uint32_t right = root->right != NULL ? depth(root->right) : 0;

	return 1 + (left > right ? left : right);
}

int main(void)
{
	static struct node nodes[N];
	uint32_t state = 1, sum = 0;

	for (int i = 0; i < 64 * 64; i++)
		matrix[0][i / 64][i % 64] = matrix[1][i / 64][i % 64] = i % 7;
	for (int round = 0; round < 200; round++) {
		struct node *root = NULL;

		for (int i = 0; i < N; i++)
			values[i] = next_random(&state);
		for (int i = 0; i < N / 4; i++) {
			nodes[i] = (struct node){.key = values[i]};
			root = insert(root, &nodes[i]);
		}
		sum += depth(root);
		qsort(values, N, sizeof(values[0]), by_value);
		sum += hash(values, sizeof(values));
		for (uint32_t i = 1; i < 7000; i++)
			sum += collatz(i);
		for (int i = 0; i < 12; i++)
			multiply(2, 0, 1, 64);
		sum += (uint32_t)matrix[2][3][4];
	}
	printf("%u\n", sum);
	return 0;
}
