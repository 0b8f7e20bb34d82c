use super::{children, parent};

/// The members of the subtree at `root`, in the order in which they are combined.
fn combined(root: usize, size: usize) -> Vec<usize> {
    let below = children(root, size).flat_map(|child| combined(child, size));
    std::iter::once(root).chain(below).collect()
}

#[test]
fn the_tree_combines_all_members_in_order() {
    for size in 1..70 {
        assert_eq!(combined(0, size), (0..size).collect::<Vec<_>>());
        for member in 1..size {
            assert!(children(member, size).all(|child| parent(child) == member));
        }
    }
}
