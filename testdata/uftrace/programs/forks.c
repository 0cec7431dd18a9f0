/* A child that goes on in the functions of its parent, and one that executes the program named. */
#include <sys/wait.h>
#include <unistd.h>

int work(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

int child(const char *program)
{
	work(20);
	if (program != NULL)
		execl(program, program, "4", NULL);
	return work(30);
}

int spawn(const char *program)
{
	int pid = fork();

	if (pid == 0)
		return child(program);
	waitpid(pid, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	int first = getpid();

	spawn(NULL);
	if (getpid() == first && argc > 1)
		spawn(argv[1]);
	return work(5) < 0;
}
