//! Tickets whose numbers come from one counter, by ranks that may be lost: no two that are left
//! have the same number, and all are drawn.

use clap::{Parser, value_parser};
use std::time::Duration;
use weft::prelude::*;

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- weft-example tickets
  weft run --on-loss continue -n 8 -- weft-example tickets --tickets 100000 --work 100
                                        kill any of its processes but one, whenever you like";

/// Draws tickets from one counter, and goes on when ranks are lost
#[derive(Clone, Debug, Parser)]
#[command(name = "tickets", after_help = EXAMPLES)]
pub struct TicketsOptions {
    /// Tickets to draw
    #[arg(long, value_name = "COUNT", default_value_t = 1000,
          value_parser = value_parser!(u64).range(10..=10_000_000))]
    tickets: u64,
    /// Time that each ticket takes
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0,
          value_parser = value_parser!(u64).range(..=1_000_000))]
    work: u64,
}

/// Draws all tickets, together with all ranks.
///
/// # Errors
/// A lost rank, in a job that does not go on.
pub fn tickets(weft: Weft, options: &TicketsOptions) -> weft::Result<()> {
    let mut team = weft.everyone().clone();
    let (mut counter, mut mine) = (None, Vec::new());
    let all = loop {
        match draw(&weft, options, &team, &mut counter, &mut mine) {
            Err(error) if weft.goes_on() && error.lost_rank().is_some() => team = team.shrink()?,
            all => break all?,
        }
    };
    let mut drawn: Vec<u64> = all.concat();
    drawn.sort_unstable();
    assert!(drawn.is_sorted_by(|one, next| one < next), "a number was drawn twice");
    println!(
        "rank {} drew {} tickets; {} of {} are with {} ranks that are left, no two the same",
        weft.rank(),
        mine.len(),
        drawn.len(),
        options.tickets,
        team.size(),
    );
    Ok(())
}

/// Draws tickets until there are none. Returns those of all members.
fn draw(
    weft: &Weft,
    options: &TicketsOptions,
    team: &Team,
    counter: &mut Option<Counter>,
    mine: &mut Vec<u64>,
) -> weft::Result<Vec<Vec<u64>>> {
    let counter = match counter {
        None => counter.insert(Counter::new(team)?),
        Some(counter) => {
            counter.move_to(team)?;
            counter
        }
    };
    loop {
        let number = counter.next()?;
        if number >= options.tickets {
            return Ok(team.all_gather_varied(mine)?);
        }
        mine.push(number);
        if number.is_multiple_of(options.tickets / 10) {
            println!("{number} of {} tickets are drawn", options.tickets);
        }
        let end = weft.now() + Duration::from_micros(options.work);
        while weft.now() < end {
            weft.work(100);
        }
    }
}
