//! Each rank does its part, and one call adds all parts up.

use weft::collective::Sum;
use weft::prelude::*;

const STRIPS: usize = 100_000;

/// All ranks integrate 4 / (1 + x^2) from 0 to 1, which is pi.
///
/// # Errors
/// A lost rank.
pub fn pi(weft: Weft) -> weft::Result<()> {
    let width = 1.0 / STRIPS as f64;
    let mine = (weft.rank().index()..STRIPS).step_by(weft.size());
    weft.work(mine.len() as u64);
    let heights = mine.map(|strip| 4.0 / (1.0 + ((strip as f64 + 0.5) * width).powi(2)));
    let mut area = [heights.sum::<f64>() * width];
    weft.all_reduce(&mut area, Sum)?; // Now every rank has the sum.
    assert!((area[0] - std::f64::consts::PI).abs() < 1e-9, "pi is not {}", area[0]);
    if weft.rank() == 0 {
        println!("pi is {:.9}", area[0]);
    }
    Ok(())
}
