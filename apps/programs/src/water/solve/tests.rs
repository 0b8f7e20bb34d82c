use super::Problem;
use crate::water::potential::Space;

#[test]
fn each_pair_is_computed_once_and_all_have_as_many() {
    for molecules in [1, 2, 3, 8, 13] {
        let space = Space { side: 1.0, cutoff: 0.5 };
        let problem = Problem { molecules, space, step: 1.0, steps: 1 };
        let mut pairs: Vec<(usize, usize)> = (0..molecules)
            .flat_map(|one| {
                problem.partners(one).map(move |other| (one.min(other), one.max(other)))
            })
            .collect();
        pairs.sort_unstable();
        let wanted: Vec<(usize, usize)> = (0..molecules)
            .flat_map(|one| (one + 1..molecules).map(move |other| (one, other)))
            .collect();
        assert_eq!(pairs, wanted);
        let counts = (0..molecules).map(|one| problem.partners(one).count());
        let (least, most) = (counts.clone().min(), counts.max());
        assert!(most.unwrap_or(0) <= least.unwrap_or(0) + 1);
    }
}
