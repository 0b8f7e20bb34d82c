//! Databases for tests.

use crate::awari::database::Databases;
use crate::awari::solve::Solver;
use std::sync::OnceLock;

/// Those of up to 6 stones, made by one rank.
pub fn known() -> &'static Databases {
    static KNOWN: OnceLock<Databases> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let weft = weft::join().unwrap();
        let solver = Solver::new(&weft, 16, None).unwrap();
        let mut known = Databases::default();
        for _ in 0..=6 {
            let (next, _) = solver.solve(&known, |_| ()).unwrap();
            known.push(next);
        }
        drop(solver);
        weft.leave().unwrap();
        known
    })
}
