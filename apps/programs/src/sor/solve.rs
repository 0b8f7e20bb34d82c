//! The parallel iteration: relax one colour, exchange border rows, relax the other, exchange, and
//! agree on the largest change (thesis 8.5.10).

use weft_app_common::{Blocks, Error, Exchange};

use crate::sor::grid::{Colour, Grid};
use crate::sor::problem::{Borders, Order, Problem};

/// End of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// Iterations done.
    pub iterations: usize,
    /// The largest change of a point in the last of them.
    pub change: f64,
}

impl Ended {
    /// True if the changes had become as small as the problem asks.
    pub fn converged(&self, problem: &Problem) -> bool {
        self.change <= problem.tolerance
    }
}

/// Iterates until the problem's tolerance or its last iteration is reached. Collective: every rank
/// of `exchange` calls it with its block of `blocks`. `progress` hears how many iterations are
/// done.
pub fn solve(
    grid: &mut Grid,
    problem: &Problem,
    blocks: Blocks,
    exchange: &mut impl Exchange,
    mut progress: impl FnMut(usize),
) -> Result<Ended, Error> {
    assert_eq!(grid.owned(), blocks.of(exchange.rank()), "a rank solves its own block");
    let mut ended = Ended { iterations: 0, change: f64::INFINITY };
    while ended.iterations < problem.iterations && !ended.converged(problem) {
        let mut change: f64 = 0.0;
        for colour in Colour::BOTH {
            change = change.max(grid.relax(colour));
            exchange.work(grid.owned().len() * problem.columns / 2);
            exchange_borders(grid, colour, blocks, problem.borders, exchange)?;
        }
        ended.change = largest_of_all(change, exchange)?;
        ended.iterations += 1;
        progress(ended.iterations);
    }
    Ok(ended)
}

/// The largest of all ranks' values, on all ranks.
pub fn largest_of_all(mine: f64, exchange: &mut impl Exchange) -> Result<f64, Error> {
    let all = exchange.gather(&[mine], |_| 1)?;
    let mut largest = [all.map_or(mine, |all| all.concat().into_iter().fold(mine, f64::max))];
    exchange.spread(&mut largest)?;
    Ok(largest[0])
}

/// Gives the neighbours the border rows of a colour that was just relaxed, and takes theirs.
///
/// By turns, even ranks send before they receive and odd ranks receive before they send: then it is
/// right however little the ranks' messages find room on their way. In the other orders all send
/// first, for which mailboxes have to have room for two rows (thesis 8.5.10).
fn exchange_borders(
    grid: &mut Grid,
    colour: Colour,
    blocks: Blocks,
    borders: Borders,
    exchange: &mut impl Exchange,
) -> Result<(), Error> {
    let owned = grid.owned();
    if owned.is_empty() {
        return Ok(());
    }
    // Ranks with rows are the first ones, so neighbours in the grid are neighbours in rank.
    let above = (owned.start > 0).then(|| exchange.rank() - 1);
    let below = (owned.end < blocks.rows()).then(|| exchange.rank() + 1);
    let colours = match borders.whole_rows {
        true => &[colour, colour.other()][..],
        false => &[colour],
    };
    let (upper, lower) = ((above, Side::Upper), (below, Side::Lower));
    let is_even = exchange.rank().is_multiple_of(2);
    let (first, second) = match borders.order {
        Order::Pairs if !is_even => (upper, lower),
        Order::Pairs | Order::SameWay => (lower, upper),
        Order::Turns => (upper, lower),
    };
    if borders.order == Order::Turns && !is_even {
        receive(grid, lower, colours, exchange)?;
        receive(grid, upper, colours, exchange)?;
        send(grid, lower, colours, exchange)?;
        return send(grid, upper, colours, exchange);
    }
    send(grid, first, colours, exchange)?;
    send(grid, second, colours, exchange)?;
    receive(grid, upper, colours, exchange)?;
    receive(grid, lower, colours, exchange)
}

/// Side of a rank's rows.
#[derive(Clone, Copy)]
enum Side {
    Upper,
    Lower,
}

fn send(
    grid: &Grid,
    (to, side): (Option<usize>, Side),
    colours: &[Colour],
    exchange: &mut impl Exchange,
) -> Result<(), Error> {
    let Some(to) = to else { return Ok(()) };
    let half = |&colour: &Colour| match side {
        Side::Upper => grid.first(colour),
        Side::Lower => grid.last(colour),
    };
    match colours {
        [one] => exchange.send(to, bytemuck::cast_slice(half(one))),
        all => {
            let row: Vec<f64> = all.iter().flat_map(half).copied().collect();
            exchange.send(to, bytemuck::cast_slice(&row))
        }
    }
}

fn receive(
    grid: &mut Grid,
    (from, side): (Option<usize>, Side),
    colours: &[Colour],
    exchange: &mut impl Exchange,
) -> Result<(), Error> {
    let Some(from) = from else { return Ok(()) };
    let mut row = vec![0.0; colours.len() * grid.half()];
    exchange.receive(from, bytemuck::cast_slice_mut(&mut row))?;
    for (&colour, values) in colours.iter().zip(row.chunks_exact(grid.half())) {
        let half = match side {
            Side::Upper => grid.above_mut(colour),
            Side::Lower => grid.below_mut(colour),
        };
        half.copy_from_slice(values);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
