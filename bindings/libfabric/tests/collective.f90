! Collectives as programs in Fortran call them, by the module mpi or by mpi_f08 (-DMODERN): all of them, blocking and not, with
! MPI_IN_PLACE, and a buffer that a type finds from MPI_BOTTOM.
program collective
#ifdef MODERN
    use mpi_f08
#define HANDLE(kind) type(kind)
#else
    use mpi
#define HANDLE(kind) integer
#endif
    implicit none
    integer, parameter :: most = 64
    integer :: error, me, ranks, root, k
    HANDLE(MPI_Comm) :: world
    HANDLE(MPI_Datatype) :: absolute
    integer :: own(most), all(most), lengths(most), places(most)
    integer, volatile, target :: word
    double precision :: mine(3), sums(3)
    integer(kind=MPI_ADDRESS_KIND) :: address(1)

    call MPI_Init(error)
    world = MPI_COMM_WORLD
    call MPI_Comm_rank(world, me, error)
    call MPI_Comm_size(world, ranks, error)
    call MPI_Barrier(world, error)
    call check(error == MPI_SUCCESS, "barrier")
    do root = 0, ranks - 1
        own = -1
        if (me == root) own = root + 1
        call MPI_Bcast(own, most, MPI_INTEGER, root, world, error)
        call check(all_of(own == root + 1), "bcast")

        mine = [me + 1d0, 2d0, 3d0]
        sums = -1
        if (me == root) sums = mine
        if (me == root) then
            call MPI_Reduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, root, world, error)
            call check(sums(1) == ranks * (ranks + 1) / 2 .and. sums(3) == 3d0 * ranks, "reduce")
        else
            call MPI_Reduce(mine, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, root, world, error)
            call check(sums(1) == -1, "reduce elsewhere")
        end if

        all = -1
        own(1) = 10 * me
        call MPI_Gather(own, 1, MPI_INTEGER, all, 1, MPI_INTEGER, root, world, error)
        if (me == root) call check(all_of(all(1:ranks) == [(10 * k, k = 0, ranks - 1)]), "gather")
        own(1) = -1
        call MPI_Scatter(all, 1, MPI_INTEGER, own, 1, MPI_INTEGER, root, world, error)
        call check(own(1) == 10 * me, "scatter")

        lengths(1:ranks) = [(mod(k, 2), k = 1, ranks)]
        places(1:ranks) = [(k, k = 0, ranks - 1)]
        all = -1
        own(1) = 7 * me
        call MPI_Gatherv(own, lengths(me + 1), MPI_INTEGER, all, lengths, places, MPI_INTEGER, root, world, error)
        if (me == root) call check(all_of(all(1:ranks) == [(merge(7 * k, -1, mod(k, 2) == 0), k = 0, ranks - 1)]), "gatherv")
        own(1) = -1
        call MPI_Scatterv(all, lengths, places, MPI_INTEGER, own, lengths(me + 1), MPI_INTEGER, root, world, error)
        call check(own(1) == merge(7 * me, -1, mod(me, 2) == 0), "scatterv")
    end do

    own = me + 1
    call MPI_Allreduce(MPI_IN_PLACE, own, most, MPI_INTEGER, MPI_SUM, world, error)
    call check(all_of(own == ranks * (ranks + 1) / 2), "allreduce")
    mine = me + 1
    call MPI_Scan(mine, sums, 3, MPI_DOUBLE_PRECISION, MPI_MAX, world, error)
    call check(sums(2) == me + 1, "scan")
    sums = -1
    call MPI_Exscan(mine, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, world, error)
    if (me > 0) call check(sums(3) == me * (me + 1) / 2, "exscan")
    all(1:ranks) = [(k + me, k = 1, ranks)]
    call MPI_Reduce_scatter_block(all, own, 1, MPI_INTEGER, MPI_SUM, world, error)
    call check(own(1) == ranks * (me + 1) + ranks * (ranks - 1) / 2, "reduce_scatter_block")
    lengths = 1
    call MPI_Reduce_scatter(MPI_IN_PLACE, all, lengths, MPI_INTEGER, MPI_SUM, world, error)
    call check(all(1) == own(1), "reduce_scatter")

    all = -1
    all(me + 1) = me
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, world, error)
    call check(all_of(all(1:ranks) == [(k, k = 0, ranks - 1)]), "allgather")
    places(1:ranks) = [(ranks - k, k = 1, ranks)]
    own(1) = me
    call MPI_Allgatherv(own, 1, MPI_INTEGER, all, lengths, places, MPI_INTEGER, world, error)
    call check(all_of(all(1:ranks) == [(ranks - k, k = 1, ranks)]), "allgatherv")
    own(1:ranks) = [(100 * me + k, k = 0, ranks - 1)]
    call MPI_Alltoall(own, 1, MPI_INTEGER, all, 1, MPI_INTEGER, world, error)
    call check(all_of(all(1:ranks) == [(100 * k + me, k = 0, ranks - 1)]), "alltoall")
    places(1:ranks) = [(k, k = 0, ranks - 1)]
    all = -1
    call MPI_Alltoallv(own, lengths, places, MPI_INTEGER, all, lengths, places, MPI_INTEGER, world, error)
    call check(all_of(all(1:ranks) == [(100 * k + me, k = 0, ranks - 1)]), "alltoallv")

    word = merge(42, -1, me == 0)
    call MPI_Get_address(word, address(1), error)
    call MPI_Type_create_hindexed(1, [1], address, MPI_INTEGER, absolute, error)
    call MPI_Type_commit(absolute, error)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, world, error)
    call MPI_Type_free(absolute, error)
    call check(word == 42, "bcast from the bottom")
    call started
    if (me == 0) print "(i0, a)", ranks, " ranks have done all in Fortran"
    call MPI_Finalize(error)

contains
    ! All that do not block, several of them under way at once.
    subroutine started
        HANDLE(MPI_Request) :: requests(12)
        integer, asynchronous :: one(most), two(most), three(most), four(most), sums(most, 6), parts(most, 4)
        integer, asynchronous :: lengths(most), places(most)
        integer :: at
        lengths = 1
        places(1:ranks) = [(k, k = 0, ranks - 1)]
        one = me + 1
        two = merge(5, -1, me == ranks - 1)
        sums = -1
        parts = -1
        three(1:ranks) = [(100 * me + k, k = 0, ranks - 1)]
        four = -1
        call MPI_Ibarrier(world, requests(1), error)
        call MPI_Ibcast(two, most, MPI_INTEGER, ranks - 1, world, requests(2), error)
        call MPI_Ireduce(one, sums(:, 1), most, MPI_INTEGER, MPI_SUM, 0, world, requests(3), error)
        call MPI_Iallreduce(one, sums(:, 2), most, MPI_INTEGER, MPI_SUM, world, requests(4), error)
        call MPI_Iscan(one, sums(:, 3), most, MPI_INTEGER, MPI_SUM, world, requests(5), error)
        call MPI_Iexscan(one, sums(:, 4), most, MPI_INTEGER, MPI_SUM, world, requests(6), error)
        call MPI_Ireduce_scatter_block(one, sums(:, 5), 1, MPI_INTEGER, MPI_SUM, world, requests(7), error)
        call MPI_Ireduce_scatter(one, sums(:, 6), lengths, MPI_INTEGER, MPI_MAX, world, requests(8), error)
        call MPI_Iallgather(one, 1, MPI_INTEGER, parts(:, 1), 1, MPI_INTEGER, world, requests(9), error)
        call MPI_Igather(one, 1, MPI_INTEGER, parts(:, 2), 1, MPI_INTEGER, 0, world, requests(10), error)
        call MPI_Iallgatherv(one, 1, MPI_INTEGER, parts(:, 3), lengths, places, MPI_INTEGER, world, requests(11), error)
        call MPI_Igatherv(one, 1, MPI_INTEGER, parts(:, 4), lengths, places, MPI_INTEGER, 0, world, requests(12), error)
        call MPI_Waitall(12, requests, MPI_STATUSES_IGNORE, error)
        call check(all_of(two == 5), "ibcast")
        if (me == 0) call check(all_of(sums(:, 1) == ranks * (ranks + 1) / 2), "ireduce")
        call check(all_of(sums(:, 2) == ranks * (ranks + 1) / 2), "iallreduce")
        call check(all_of(sums(:, 3) == (me + 1) * (me + 2) / 2), "iscan")
        if (me > 0) call check(all_of(sums(:, 4) == me * (me + 1) / 2), "iexscan")
        call check(sums(1, 5) == ranks * (ranks + 1) / 2 .and. sums(1, 6) == ranks, "ireduce_scatter")
        do at = 1, 4
            if (me == 0 .or. mod(at, 2) == 1) call check(all_of(parts(1:ranks, at) == [(k, k = 1, ranks)]), "igather")
        end do

        call MPI_Ialltoall(three, 1, MPI_INTEGER, four, 1, MPI_INTEGER, world, requests(1), error)
        call MPI_Ialltoallv(three, lengths, places, MPI_INTEGER, parts(:, 1), lengths, places, MPI_INTEGER, world, requests(2), &
            error)
        call MPI_Iscatter(three, 1, MPI_INTEGER, parts(:, 2), 1, MPI_INTEGER, 0, world, requests(3), error)
        call MPI_Iscatterv(three, lengths, places, MPI_INTEGER, parts(:, 3), 1, MPI_INTEGER, 0, world, requests(4), error)
        do at = 4, 1, -1
            call MPI_Wait(requests(at), MPI_STATUS_IGNORE, error)
        end do
        call check(all_of(four(1:ranks) == [(100 * k + me, k = 0, ranks - 1)]), "ialltoall")
        call check(all_of(parts(1:ranks, 1) == four(1:ranks)), "ialltoallv")
        call check(parts(1, 2) == me .and. parts(1, 3) == me, "iscatter")
    end subroutine

    logical function all_of(which)
        logical, intent(in) :: which(:)
        all_of = count(which) == size(which)
    end function

    subroutine check(is_so, what)
        logical, intent(in) :: is_so
        character(*), intent(in) :: what
        if (is_so) return
        print *, "rank", me, ": ", what
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine
end program
