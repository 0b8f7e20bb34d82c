! Conjugate gradients on a sparse matrix of numbers that look random: each rank owns a block of rows, and each iteration all
! gather the whole direction, and agree twice on a sum. In Fortran, by MPI's module for it.
!
! The matrix is symmetric, and each entry of its diagonal is larger than all others of its row together: so it is positive
! definite. The right-hand side is the matrix times a vector that is known.
program sparse
    use, intrinsic :: iso_c_binding, only: c_int
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, output_unit
    use mpi
    implicit none
    include 'declarations.inc'

    character(len=*), parameter :: name = 'sparse'
    character(len=*), parameter :: help(*) = [character(len=100) :: &
        'A system of linear equations with a sparse matrix, on all ranks.', &
        '', &
        '  --rows N          equations, 2 to 10000000 [4000]', &
        '  --entries N       pairs of entries of a row beside the diagonal, 1 to 100 [8]', &
        '  --repeat N        solutions, one after the other, 1 to 10000 [30]', &
        '  --digits N        the residual becomes smaller by 10^-N, 1 to 12 [10]', &
        '  --speedup         rank 0 alone and all ranks together, three times in turn', &
        '  --help            this text', &
        '', &
        '  weft mpirun -n 4 ./sparse --rows 100000', &
        '', &
        'Every number is compared with the exact solution. There are at least as many rows as ranks.']
    type(number_option) :: numbers(4) = [ &
        number_option('--rows', 2, 10000000, 4000), number_option('--entries', 1, 100, 8), &
        number_option('--repeat', 1, 10000, 30), number_option('--digits', 1, 12, 10)]

    !> Rows of this rank, after the first `first`: columns and values of entries, and the diagonal; which rows all ranks have, and
    !> room for a whole vector.
    type :: block
        integer :: world, first
        integer, allocatable :: columns(:, :), counts(:), places(:)
        double precision, allocatable :: values(:, :), diagonal(:), whole(:)
    end type

    integer, parameter :: iterations_most = 500
    integer :: rows, iterations = 0
    double precision, allocatable :: found(:)
    character(len=120) :: text
    double precision :: error, most

    call start()
    rows = numbers(1)%value
    if (rows < ranks) then
        write (text, '(i0,a,i0,a)') rows, ' rows are too few for ', ranks, ' ranks'
        call misused(text)
    end if
    call measure()
    error = largest_error()
    most = 100*10d0**(-numbers(4)%value)
    if (rank == 0) write (*, '(4(a,i0),a)') 'sparse: ', rows, ' equations of ', 2*numbers(2)%value + 1, ' entries, ', &
        iterations, ' iterations, ', numbers(3)%value, ' times'
    write (text, '(a,es9.2,a,es9.2,a)') 'no number is further than', error, ' from the exact solution, and', most, ' is allowed'
    call conclude(error <= most, text)

contains

    include 'common.inc'

    !> A number between -1 and 1 for each pair of places, the same in both orders.
    elemental double precision function entry_at(one, other)
        integer, intent(in) :: one, other
        integer(int64) :: bits
        integer(int64), parameter :: prime = 2147483647_int64
        bits = modulo(min(one, other)*16807_int64 + max(one, other)*48271_int64 + 1, prime)
        bits = modulo(bits*69621_int64, prime)
        entry_at = 2d0*dble(bits)/dble(prime) - 1d0
    end function

    elemental double precision function exact(row)
        integer, intent(in) :: row
        exact = entry_at(row, 0)
    end function

    !> This rank's rows: each has as many entries before its diagonal as after it, cyclically.
    subroutine make(own, world)
        type(block), intent(out) :: own
        integer, intent(in) :: world
        integer :: me, all, pairs, i, k, stride, count, status
        call MPI_Comm_rank(world, me, status)
        call MPI_Comm_size(world, all, status)
        own%world = world
        own%places = [(rows_before(rows, i, all), i=0, all - 1)]
        own%counts = [(rows_before(rows, i + 1, all) - rows_before(rows, i, all), i=0, all - 1)]
        own%first = own%places(me + 1)
        count = own%counts(me + 1)
        pairs = numbers(2)%value
        allocate (own%columns(2*pairs, count), own%values(2*pairs, count), own%diagonal(count), own%whole(rows))
        do i = 1, count
            do k = 1, pairs
                stride = 1 + int(modulo(k*7919_int64*k, int(rows, int64)))
                own%columns(2*k - 1, i) = modulo(own%first + i - 1 + stride, rows) + 1
                own%columns(2*k, i) = modulo(own%first + i - 1 - stride, rows) + 1
            end do
            own%values(:, i) = entry_at(own%first + i, own%columns(:, i))
            own%diagonal(i) = 1.1d0*sum(abs(own%values(:, i))) + 0.1d0
        end do
    end subroutine

    !> This rank's part of the matrix times a vector, of which each rank has a part.
    subroutine multiply(own, part, product)
        type(block), intent(inout) :: own
        double precision, intent(in) :: part(:)
        double precision, intent(out) :: product(:)
        integer :: row, status
        call MPI_Allgatherv(part, size(part), MPI_DOUBLE_PRECISION, own%whole, own%counts, own%places, &
                            MPI_DOUBLE_PRECISION, own%world, status)
        do row = 1, size(part)
            product(row) = own%diagonal(row)*part(row) + sum(own%values(:, row)*own%whole(own%columns(:, row)))
        end do
    end subroutine

    !> The product of two vectors, of which each rank has a part.
    double precision function product_of_all(own, one, other) result(total)
        type(block), intent(in) :: own
        double precision, intent(in) :: one(:), other(:)
        integer :: status
        total = dot_product(one, other)
        call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, own%world, status)
    end function

    subroutine solve(world)
        integer, intent(in) :: world
        type(block) :: own
        integer :: i
        call make(own, world)
        do i = 1, numbers(3)%value
            call solve_once(own)
        end do
    end subroutine

    subroutine solve_once(own)
        type(block), intent(inout) :: own
        double precision, dimension(size(own%diagonal)) :: x, r, p, q
        double precision :: square, next, enough, step
        integer :: i
        p = [(exact(own%first + i), i=1, size(p))]
        call multiply(own, p, r)
        x = 0
        p = r
        square = product_of_all(own, r, r)
        enough = square*10d0**(-2*numbers(4)%value)
        iterations = 0
        do while (square > enough .and. iterations < iterations_most)
            call multiply(own, p, q)
            step = square/product_of_all(own, p, q)
            x = x + step*p
            r = r - step*q
            next = product_of_all(own, r, r)
            p = r + next/square*p
            square = next
            iterations = iterations + 1
        end do
        found = x
    end subroutine

    !> The largest distance from the exact solution, of all ranks.
    double precision function largest_error() result(largest)
        integer :: i, first, error
        first = rows_before(rows, rank, ranks)
        largest = maxval([0d0, (abs(found(i) - exact(first + i)), i=1, size(found))])
        call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    end function

end program
