//! Laplace's equation by Jacobi's method, on grids over the ranks of a job: each rank checks its
//! rows against the same computed alone, bit for bit.
//!
//! ```text
//! cargo build --release --package weft-events --example jacobi
//! weft run -n 4 -- target/release/examples/jacobi [SIZE [ITERATIONS [traditional]]]
//! ```

use std::error::Error;
use weft_events::parallel::{Grid, Nodes};
use weft_events::{Events, Result, Settings};

fn jacobi(nodes: &Nodes, size: usize, iterations: usize) -> Result<Grid<'_, f64>> {
    let last = size - 1;
    let is_edge = |row, column| row == 0 || row == last || column == 0 || column == last;
    let edge = nodes.mask(size, size, is_edge);
    let mut heat = nodes.grid(size, size, |row, _| if row == 0 { 100.0 } else { 0.0 });
    for _ in 0..iterations {
        let [north, south, west, east] = heat.neighbours()?;
        heat = edge.choose(heat, (north + south + west + east) * 0.25);
    }
    Ok(heat)
}

/// The reference computation by one rank, without grids.
fn alone(size: usize, iterations: usize) -> Vec<f64> {
    let mut heat = vec![0.0; size * size];
    heat[..size].fill(100.0);
    for _ in 0..iterations {
        let old = heat.clone();
        for row in 1..size - 1 {
            for at in row * size + 1..(row + 1) * size - 1 {
                heat[at] = (old[at - size] + old[at + size] + old[at - 1] + old[at + 1]) * 0.25;
            }
        }
    }
    heat
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let size = words.next().map_or(Ok(256), |word| word.parse::<usize>())?.max(2);
    let iterations = words.next().map_or(Ok(200), |word| word.parse::<usize>())?;
    let settings = match words.next().as_deref() {
        Some("traditional") => Settings::traditional(),
        _ => Settings::default(),
    };
    let job = weft::join_packets()?;
    let nodes = Nodes::new(Events::open(job.packets(), settings)?);
    let start = job.packets().now();
    let heat = jacobi(&nodes, size, iterations)?;
    let time = job.packets().now() - start;
    let (rank, ranks) = (nodes.events().rank().index(), nodes.events().size());
    let first = size * rank / ranks * size;
    let expected = alone(size, iterations);
    let same = expected[first..first + heat.here().len()] == *heat.here();
    let wrong = nodes.grid(ranks, 1, |_, _| u32::from(!same)).sum()?;
    let mean = heat.sum()? / (size * size) as f64;
    drop(heat);
    nodes.close()?;
    job.leave()?;
    if wrong > 0 {
        return Err(format!("{wrong} of {ranks} ranks differ from one rank alone").into());
    }
    if rank == 0 {
        println!(
            "{size} x {size} points, {iterations} iterations: {:.1} us each, mean {mean:.6}, \
             verified bit for bit against one rank",
            time.as_secs_f64() * 1e6 / iterations.max(1) as f64
        );
    }
    Ok(())
}
