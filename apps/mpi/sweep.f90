! Laplace's equation by symmetric Gauss-Seidel steps, as wavefronts: each point depends on those above and to the left of it
! on the way there, below and to the right on the way back. Each rank owns a block of columns, waits for the border of its
! neighbour's points in some rows, computes those rows, and passes its own border on. In Fortran, by MPI's module for it.
program sweep
    use, intrinsic :: iso_c_binding, only: c_int
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, output_unit
    use mpi
    implicit none
    include 'declarations.inc'

    character(len=*), parameter :: name = 'sweep'
    character(len=*), parameter :: help(*) = [character(len=100) :: &
        'Laplace''s equation by symmetric Gauss-Seidel steps, on all ranks.', &
        '', &
        '  --rows N          rows of points, 1 to 16384 [256]', &
        '  --columns N       points of a row, 1 to 16384 [256]', &
        '  --strip N         rows that are passed on at once, 1 to 16384 [8]', &
        '  --sweeps N        times there and back, 1 to 100000 [100]', &
        '  --speedup         rank 0 alone and all ranks together, three times in turn', &
        '  --help            this text', &
        '', &
        '  weft mpirun -n 4 ./sweep --rows 1000 --columns 1000', &
        '', &
        'Points are compared with those of one rank. There are at least as many columns as ranks.']
    type(number_option) :: numbers(4) = [ &
        number_option('--rows', 1, 16384, 256), number_option('--columns', 1, 16384, 256), &
        number_option('--strip', 1, 16384, 8), number_option('--sweeps', 1, 100000, 100)]

    integer :: rows, columns
    !> The points of this rank's columns as all ranks found them, and of all columns as rank 0 did.
    double precision, allocatable :: own(:, :), whole(:, :)
    character(len=120) :: text
    integer :: differ

    call start()
    rows = numbers(1)%value
    columns = numbers(2)%value
    if (columns < ranks) then
        write (text, '(i0,a,i0,a)') columns, ' columns are too few for ', ranks, ' ranks'
        call misused(text)
    end if
    call measure()
    differ = differences()
    if (rank == 0) write (*, '(4(a,i0),a)') 'sweep: ', rows, ' x ', columns, ' points, ', numbers(4)%value, &
        ' times there and back, passed on by ', numbers(3)%value, ' rows'
    write (text, '(2(i0,a))') differ, ' of ', rows*columns, ' points differ from those of one rank'
    call conclude(differ == 0, text)

contains

    include 'common.inc'

    !> The border has the values of x^2 - y^2, and all else begins at zero.
    double precision function first_value(row, column)
        integer, intent(in) :: row, column
        double precision :: side
        first_value = 0
        side = max(rows, columns) + 1
        if (row == 0 .or. column == 0 .or. row == rows + 1 .or. column == columns + 1) &
            first_value = (column/side)**2 - (row/side)**2
    end function

    subroutine solve(world)
        integer, intent(in) :: world
        integer :: me, all, first, count, i, row, column, error
        double precision, allocatable :: points(:, :)
        call MPI_Comm_rank(world, me, error)
        call MPI_Comm_size(world, all, error)
        first = rows_before(columns, me, all)
        count = rows_before(columns, me + 1, all) - first
        allocate (points(0:rows + 1, 0:count + 1))
        do column = 0, count + 1
            do row = 0, rows + 1
                points(row, column) = first_value(row, first + column)
            end do
        end do
        do i = 1, numbers(4)%value
            call there(world, points, count, merge(me - 1, MPI_PROC_NULL, me > 0), &
                       merge(me + 1, MPI_PROC_NULL, me + 1 < all))
            call back(world, points, count, merge(me - 1, MPI_PROC_NULL, me > 0), &
                      merge(me + 1, MPI_PROC_NULL, me + 1 < all))
        end do
        if (world == MPI_COMM_WORLD) own = points(1:rows, 1:count)
        if (world == MPI_COMM_SELF) whole = points(1:rows, 1:count)
    end subroutine

    !> From above and from the left; what is to the right is as the way back left it.
    subroutine there(world, points, count, left, right)
        integer, intent(in) :: world, count, left, right
        double precision, intent(inout) :: points(0:rows + 1, 0:count + 1)
        integer :: top, height, row, column, error
        do top = 1, rows, numbers(3)%value
            height = min(numbers(3)%value, rows - top + 1)
            call MPI_Recv(points(top, 0), height, MPI_DOUBLE_PRECISION, left, 1, world, MPI_STATUS_IGNORE, error)
            do column = 1, count
                do row = top, top + height - 1
                    points(row, column) = mean_around(points, count, row, column)
                end do
            end do
            call MPI_Send(points(top, count), height, MPI_DOUBLE_PRECISION, right, 1, world, error)
        end do
    end subroutine

    !> From below and from the right; what is to the left is as the way there left it.
    subroutine back(world, points, count, left, right)
        integer, intent(in) :: world, count, left, right
        double precision, intent(inout) :: points(0:rows + 1, 0:count + 1)
        integer :: top, bottom, height, row, column, error
        do bottom = rows, 1, -numbers(3)%value
            top = max(1, bottom - numbers(3)%value + 1)
            height = bottom - top + 1
            call MPI_Recv(points(top, count + 1), height, MPI_DOUBLE_PRECISION, right, 2, world, MPI_STATUS_IGNORE, error)
            do column = count, 1, -1
                do row = bottom, top, -1
                    points(row, column) = mean_around(points, count, row, column)
                end do
            end do
            call MPI_Send(points(top, 1), height, MPI_DOUBLE_PRECISION, left, 2, world, error)
        end do
    end subroutine

    pure double precision function mean_around(points, count, row, column)
        integer, intent(in) :: count, row, column
        double precision, intent(in) :: points(0:rows + 1, 0:count + 1)
        mean_around = 0.25d0*(points(row - 1, column) + points(row + 1, column) &
                              + points(row, column - 1) + points(row, column + 1))
    end function

    !> Points that differ from those of one rank, at rank 0.
    integer function differences()
        double precision, allocatable :: gathered(:, :)
        integer :: counts(ranks), places(ranks), i, error
        places = [(rows*rows_before(columns, i, ranks), i=0, ranks - 1)]
        counts = [(rows*rows_before(columns, i + 1, ranks), i=0, ranks - 1)] - places
        allocate (gathered(rows, merge(columns, 0, rank == 0)))
        call MPI_Gatherv(own, size(own), MPI_DOUBLE_PRECISION, gathered, counts, places, MPI_DOUBLE_PRECISION, 0, &
                         MPI_COMM_WORLD, error)
        differences = 0
        if (rank == 0) differences = count(.not. abs(gathered - whole) <= 0)
    end function

end program
