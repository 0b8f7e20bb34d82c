use super::Layout;

#[test]
fn each_block_has_one_owner_who_counts_it_once() {
    for (blocks, ranks) in [(1, 1), (7, 4), (5, 6), (2, 12), (9, 7), (32, 64)] {
        let layout = Layout::new(blocks, ranks);
        let mut seen = 0;
        for rank in 0..ranks {
            for number in 0..layout.count_of(rank) {
                let place = layout.place(rank, number);
                assert!(place.0 < blocks && place.1 < blocks, "{blocks} {ranks}: {place:?}");
                assert_eq!(layout.find(place), (rank, number), "{blocks} {ranks}: {place:?}");
                assert!(layout.has_row(rank, place.0) && layout.has_column(rank, place.1));
                seen += 1;
            }
        }
        assert_eq!(seen, blocks * blocks, "{blocks} {ranks}");
    }
}

#[test]
fn the_grid_is_as_square_as_it_can_be() {
    let grid = |ranks| {
        let Layout { rows, columns, .. } = Layout::new(8, ranks);
        (rows, columns)
    };
    assert_eq!(
        [1, 2, 4, 6, 7, 12, 64].map(grid),
        [(1, 1), (1, 2), (2, 2), (2, 3), (1, 7), (3, 4), (8, 8)]
    );
}
