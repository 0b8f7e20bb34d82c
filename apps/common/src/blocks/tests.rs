use super::Blocks;
use proptest::prelude::*;

#[test]
fn more_ranks_than_rows_leave_the_last_ranks_empty() {
    let blocks = Blocks::new(3, 5);
    let sizes: Vec<usize> = (0..5).map(|rank| blocks.of(rank).len()).collect();
    assert_eq!(sizes, [1, 1, 1, 0, 0]);
}

proptest! {
    #[test]
    fn every_row_has_the_one_owner_whose_block_holds_it(rows in 0_usize..300, ranks in 1_usize..70) {
        let blocks = Blocks::new(rows, ranks);
        let listed: Vec<usize> = (0..ranks).flat_map(|rank| blocks.of(rank)).collect();
        prop_assert_eq!(listed, (0..rows).collect::<Vec<_>>());
        for row in 0..rows {
            prop_assert!(blocks.of(blocks.owner(row)).contains(&row));
        }
    }

    #[test]
    fn sizes_differ_by_at_most_one_and_never_grow(rows in 0_usize..300, ranks in 1_usize..70) {
        let blocks = Blocks::new(rows, ranks);
        let sizes: Vec<usize> = (0..ranks).map(|rank| blocks.of(rank).len()).collect();
        prop_assert!(sizes.is_sorted_by(|a, b| a >= b));
        prop_assert!(sizes[0] - sizes[ranks - 1] <= 1);
    }
}
