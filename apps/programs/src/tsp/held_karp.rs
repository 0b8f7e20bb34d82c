//! The length of the shortest tour by dynamic programming over sets of towns (Held and Karp, 1962).

use crate::tsp::towns::Towns;

/// The most towns: there is a number for each set of them and each last town.
pub const MOST: usize = 20;

/// Length of the shortest tour.
///
/// # Panics
/// More than [`MOST`] towns.
pub fn shortest(towns: &Towns) -> u64 {
    let others = towns.count() - 1;
    assert!(towns.count() <= MOST, "{} towns", towns.count());
    // Town 0 is where it begins; the others are bits. By set and last town, the shortest way there.
    let mut ways = vec![u32::MAX; others << others];
    for last in 0..others {
        ways[(1 << last) * others + last] = towns.distance(0, last + 1);
    }
    for set in 1_usize..1 << others {
        for last in (0..others).filter(|last| set >> last & 1 == 1) {
            let way = ways[set * others + last];
            for next in (0..others).filter(|next| set >> next & 1 == 0) {
                let longer = &mut ways[(set | 1 << next) * others + next];
                *longer = (*longer).min(way + towns.distance(last + 1, next + 1));
            }
        }
    }
    let whole = &ways[((1 << others) - 1) * others..];
    let back =
        |(last, way): (usize, &u32)| u64::from(*way) + u64::from(towns.distance(last + 1, 0));
    whole.iter().enumerate().map(back).min().unwrap_or(0)
}

#[cfg(test)]
mod tests;
