/* Is opened by opens.c. */
int library_leaf(int n)
{
	return n + 1;
}

int library_call(int n)
{
	return library_leaf(n) + library_leaf(n + 1);
}
