use super::{Tree, children, parent};
use crate::exchange::Exchange;
use crate::threads::on_threads;

#[test]
fn every_place_has_one_parent() {
    for size in [1, 2, 3, 7, 8, 64, 65] {
        let mut below: Vec<usize> = (0..size).flat_map(|place| children(place, size)).collect();
        below.sort_unstable();
        assert_eq!(below, (1..size).collect::<Vec<_>>(), "{size} ranks");
        for place in 0..size {
            assert!(children(place, size).all(|child| parent(child) == place), "{size} ranks");
        }
    }
}

#[test]
fn broadcasts_of_each_rank_come_to_all() {
    for size in [2, 5, 8] {
        let all = on_threads(size, 0, |mut exchange| {
            let mut tree = Tree::new(&mut exchange);
            let mut heard = Vec::new();
            for root in 0..size {
                let mut bytes = [root as u8 + 1; 3];
                match tree.rank() == root {
                    true => tree.broadcast(&bytes).expect("all take part"),
                    false => {
                        bytes = [0; 3];
                        tree.receive(root, &mut bytes).expect("all take part");
                    }
                }
                heard.push(bytes);
            }
            heard
        });
        let expected: Vec<_> = (1..=size as u8).map(|byte| [byte; 3]).collect();
        assert!(all.iter().all(|heard| *heard == expected), "{size} ranks: {all:?}");
    }
}
