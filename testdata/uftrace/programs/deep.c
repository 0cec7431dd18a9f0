/* Deep recursion, direct and mutual. */
int odd(int n);

int even(int n)
{
	return n == 0 ? 1 : odd(n - 1);
}

int odd(int n)
{
	return n == 0 ? 0 : even(n - 1);
}

int down(int n)
{
	return n == 0 ? 0 : 1 + down(n - 1);
}

int main(void)
{
	return even(60) + down(80) == 0;
}
