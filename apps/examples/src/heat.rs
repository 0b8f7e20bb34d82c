//! Shared regions: each rank writes its own, and reads its neighbours'.

use weft::{Packets, Rank};
use weft_region::coherence::{Hint, Policy};
use weft_region::{Mapped, RegionId, Regions, Result};

/// Cells of the rod that each rank has.
const CELLS: usize = 20;
const STEPS: usize = 40;

/// Heat spreads along a rod, of which each rank has a piece in a region.
///
/// # Errors
/// A lost rank.
pub fn heat(packets: &Packets) -> Result<()> {
    let regions = Regions::open(packets);
    let (me, last) = (packets.rank().0, packets.size() as u16 - 1);

    // Readers get what is written without asking again.
    let policy = Policy { hint: Hint::Update, ..Policy::default() };
    regions.create(size_of::<[f64; CELLS]>() as u64, policy)?;
    regions.barrier()?; // All are there: the first that each rank has created.
    let piece = |rank| regions.map::<f64>(RegionId { home: Rank(rank), index: 0 });
    let mine = piece(me)?;
    let left = (me > 0).then(|| piece(me - 1)).transpose()?;
    let right = (me < last).then(|| piece(me + 1)).transpose()?;

    if me == 0 {
        mine.write()?[0] = 1000.0;
    }
    regions.barrier()?;
    for _ in 0..STEPS {
        let before = cell(&left, CELLS - 1)?;
        let after = cell(&right, 0)?;
        regions.barrier()?; // All have read;
        spread(&mut mine.write()?, before, after);
        packets.work(CELLS as u64);
        regions.barrier()?; // all have written.
    }

    let mut total = [mine.read()?.iter().sum::<f64>()];
    regions.reduce(&mut total, |a, b| a + b)?;
    if me == 0 {
        let pieces = (0..=last).map(|rank| Ok(piece(rank)?.read()?.to_vec()));
        assert_eq!(pieces.collect::<Result<Vec<_>>>()?.concat(), alone(packets.size() * CELLS));
        println!("after {STEPS} steps {:.1} degrees are left in the rod", total[0]);
    }
    drop((mine, left, right));
    regions.close()
}

/// One cell of a piece; 0 beyond the ends of the rod.
fn cell(piece: &Option<Mapped<f64>>, index: usize) -> Result<f64> {
    let Some(piece) = piece else { return Ok(0.0) };
    let cells = piece.read()?;
    Ok(cells[index])
}

/// Advances cells between two others by a step.
fn spread(cells: &mut [f64], mut before: f64, after: f64) {
    for index in 0..cells.len() {
        let cell = cells[index];
        let next = cells.get(index + 1).copied().unwrap_or(after);
        cells[index] += 0.25 * (before - 2.0 * cell + next);
        before = cell;
    }
}

/// Reference computation by one rank.
fn alone(cells: usize) -> Vec<f64> {
    let mut rod = vec![0.0; cells];
    rod[0] = 1000.0;
    (0..STEPS).for_each(|_| spread(&mut rod, 0.0, 0.0));
    rod
}
