! OpenMP whose regions and tasks are known, in Fortran.
program openmp
  use omp_lib
  implicit none
  integer :: i
  integer(8) :: total = 0
  integer(omp_lock_kind) :: lock

  call omp_init_lock(lock)
  !$omp parallel num_threads(2) ! region first
  !$omp critical
  total = total + 1
  !$omp end critical
  !$omp barrier
  call omp_set_lock(lock)
  total = total + 1
  call omp_unset_lock(lock)
  !$omp end parallel
  call summed(total)
  !$omp parallel num_threads(2) ! region tasks
  !$omp single
  do i = 1, 5
    !$omp task ! task counted
    !$omp atomic
    total = total + 1
    !$omp end task
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  call omp_destroy_lock(lock)
  print '(i0)', total
contains
  subroutine summed(total)
    integer(8), intent(inout) :: total
    integer :: k
    !$omp parallel do num_threads(2) schedule(dynamic) reduction(+:total) ! region summed
    do k = 1, 100
      total = total + k
    end do
    !$omp end parallel do
  end subroutine
end program
