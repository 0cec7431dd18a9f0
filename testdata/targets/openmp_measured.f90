! OpenMP that measures itself, in Fortran: openmp_measured [TIMES]. As openmp_measured.c: for each region its name, work and waits of its two
! threads, and the waits in its construct, in ns, by the program's own clock.
module clock
  implicit none
  integer(8) :: begins(0:1), dones(0:1), waits(0:1), works_ns = 0, waits_ns = 0, inside_ns = 0, tasks_ns = 0
contains
  integer(8) function now_ns()
    integer(8) :: count, rate
    call system_clock(count, rate)
    now_ns = count * (1000000000_8 / rate)
  end function

  subroutine spin(ns)
    integer(8), intent(in) :: ns
    integer(8) :: begin
    begin = now_ns()
    do while (now_ns() - begin < ns)
    end do
  end subroutine

  subroutine end_region()
    integer(8) :: finish
    finish = now_ns()
    works_ns = works_ns + sum(dones - begins - waits)
    waits_ns = waits_ns + sum(finish - dones + waits)
    inside_ns = inside_ns + sum(waits)
  end subroutine

  subroutine put(name)
    character(len=*), intent(in) :: name
    print '(a, 3(1x, i0))', name, works_ns, waits_ns, inside_ns
    works_ns = 0
    waits_ns = 0
    inside_ns = 0
  end subroutine

  recursive subroutine fib(n, result)
    integer, intent(in) :: n
    integer(8), intent(out) :: result
    integer(8) :: a, b, begin
    if (n < 2) then
      call spin(1000000_8)
      result = n
      return
    end if
    !$omp task shared(a) private(begin) ! task first
    begin = now_ns()
    call fib(n - 1, a)
    if (n - 1 < 2) then
      begin = now_ns() - begin
      !$omp atomic
      tasks_ns = tasks_ns + begin
    end if
    !$omp end task
    !$omp task shared(b) private(begin) ! task second
    begin = now_ns()
    call fib(n - 2, b)
    if (n - 2 < 2) then
      begin = now_ns() - begin
      !$omp atomic
      tasks_ns = tasks_ns + begin
    end if
    !$omp end task
    !$omp taskwait
    result = a + b
  end subroutine
end module

program openmp_measured
  use omp_lib
  use clock
  implicit none
  integer :: i, k, me, times = 1
  integer(8) :: before, result, a = 0, b = 0, c = 0
  character(len=16) :: argument

  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) times
  end if
  do k = 1, times
    !$omp parallel num_threads(2) private(me) ! region imbalanced
    me = omp_get_thread_num()
    waits(me) = 0
    begins(me) = now_ns()
    !$omp do schedule(static)
    do i = 1, 4
      call spin(merge(3000000_8, 1000000_8, i <= 2))
    end do
    !$omp end do nowait
    dones(me) = now_ns()
    !$omp end parallel
    call end_region()
  end do
  call put('imbalanced')
  do k = 1, times
    !$omp parallel num_threads(2) private(me, before, i) ! region critical
    me = omp_get_thread_num()
    waits(me) = 0
    begins(me) = now_ns()
    do i = 1, 4
      before = now_ns()
      !$omp critical
      waits(me) = waits(me) + now_ns() - before
      call spin(1000000_8)
      !$omp end critical
    end do
    dones(me) = now_ns()
    !$omp end parallel
    call end_region()
  end do
  call put('critical')
  do k = 1, times
    !$omp parallel num_threads(2) private(me, before) ! region ordered
    me = omp_get_thread_num()
    waits(me) = 0
    begins(me) = now_ns()
    !$omp do ordered schedule(static, 1)
    do i = 1, 6
      before = now_ns()
      !$omp ordered
      waits(me) = waits(me) + now_ns() - before
      call spin(1000000_8)
      !$omp end ordered
    end do
    !$omp end do nowait
    dones(me) = now_ns()
    !$omp end parallel
    call end_region()
  end do
  call put('ordered')
  do k = 1, times
    !$omp parallel num_threads(2) private(me, before) ! region barrier
    me = omp_get_thread_num()
    waits(me) = 0
    begins(me) = now_ns()
    call spin(merge(4000000_8, 1000000_8, me == 0))
    before = now_ns()
    !$omp barrier
    waits(me) = waits(me) + now_ns() - before
    call spin(merge(1000000_8, 3000000_8, me == 0))
    dones(me) = now_ns()
    !$omp end parallel
    call end_region()
  end do
  call put('barrier')
  call omp_set_max_active_levels(2)
  do k = 1, times
    !$omp parallel num_threads(2) private(me) ! region nested
    me = omp_get_thread_num()
    waits(me) = 0
    begins(me) = now_ns()
    call spin(100000_8)
    !$omp parallel num_threads(2) ! region inner
    call spin(merge(2000000_8, 1000000_8, omp_get_thread_num() == 0))
    !$omp end parallel
    dones(me) = now_ns()
    !$omp end parallel
    call end_region()
  end do
  call put('nested')
  do k = 1, times
    !$omp parallel num_threads(2) private(me) reduction(+:a, b, c) ! region reduction
    me = omp_get_thread_num()
    waits(me) = 0
    begins(me) = now_ns()
    call spin(2000000_8)
    a = a + 1
    b = b + 2
    c = c + 3
    dones(me) = now_ns()
    !$omp end parallel
    call end_region()
  end do
  call put('reduction')
  do k = 1, times
    !$omp parallel num_threads(2) ! region tasks
    !$omp single
    call fib(8, result)
    !$omp end single
    !$omp end parallel
  end do
  print '(a, 1x, i0)', 'tasks', tasks_ns
  tasks_ns = 0
  do k = 1, times
    !$omp parallel num_threads(2) ! region taskloop
    !$omp single
    !$omp taskloop num_tasks(10) private(before) ! task loop
    do i = 1, 20
      before = now_ns()
      call spin(250000_8)
      before = now_ns() - before
      !$omp atomic
      tasks_ns = tasks_ns + before
    end do
    !$omp end taskloop
    !$omp end single
    !$omp end parallel
  end do
  print '(a, 1x, i0)', 'taskloop', tasks_ns
  if (a + b + c /= 12 * times) stop 1
end program
