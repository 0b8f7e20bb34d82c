//! The program that `weft compare` runs on Weft and on plain TCP: what `bench/peers/pair.c` is on
//! an MPI. Three figures, printed as a line each: name, median, processor time of a message in
//! nanoseconds.

use super::hello::beside_messages;
use super::sockets::{Sockets, Waiting};
use super::wefts::{MessageLine, end_of};
use super::{End, Line, Measured, Pattern, Shape, Unit, bind_to_core, measure};
use crate::micro::report::median;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use std::net::IpAddr;

/// The three figures: names and samples. `pair.c` has the same.
pub const FIGURES: [(&str, Shape); 3] = [
    ("latency", shape(Pattern::PingPong, 8, 100, Unit::OneWay)),
    ("rate", shape(Pattern::Stream, 64, 4096, Unit::PerSecond)),
    ("bandwidth", shape(Pattern::Stream, 1 << 20, 8, Unit::BytesPerSecond)),
];

const fn shape(pattern: Pattern, size: usize, count: u64, unit: Unit) -> Shape {
    Shape { pattern, size, count, unit, each: false }
}

/// One process of the program.
#[derive(Args, Clone, Debug)]
pub struct Program {
    /// Samples of each figure
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// On what
    #[command(subcommand)]
    on: On,
}

#[derive(Subcommand, Clone, Debug)]
enum On {
    /// A rank of a job
    Weft,
    /// The end of a TCP connection that waits
    TcpSecond {
        /// At this port
        port: u16,
    },
    /// The end that begins
    TcpFirst {
        /// Address of the other end
        address: IpAddr,
        /// Its port
        port: u16,
    },
}

/// Runs one process of the program.
///
/// # Errors
/// The other end cannot be reached, or is lost.
pub fn run(program: &Program) -> Result<()> {
    match program.on {
        On::Weft => on_weft(program.rounds),
        On::TcpSecond { port } => {
            bind_to_core(1)?;
            let sockets = Waiting::at(port)?.accept()?;
            on_tcp(sockets, program.rounds, End::Second)
        }
        On::TcpFirst { address, port } => {
            bind_to_core(0)?;
            on_tcp(reach(address, port)?, program.rounds, End::First)
        }
    }
}

/// Connects to an end that may not have started yet.
fn reach(address: IpAddr, port: u16) -> Result<Sockets> {
    let mut tries = 0;
    super::spin::spin("connecting", || {
        tries += 1;
        match Sockets::connect(port, &[address]) {
            Ok(sockets) => Ok(Some(sockets)),
            // Refused at once, while nobody listens yet.
            Err(_) if tries < 100_000 => Ok(None),
            Err(error) => Err(error),
        }
    })
}

fn on_tcp(mut sockets: Sockets, rounds: usize, end: End) -> Result<()> {
    for (name, shape) in &FIGURES {
        let lines: &mut [&mut dyn Line] = &mut [&mut sockets.tcp];
        print(name, end, measure(lines, shape, rounds, end, &mut sockets.side)?);
    }
    Ok(())
}

fn on_weft(rounds: usize) -> Result<()> {
    let weft = weft::join()?;
    if weft.size() != 2 {
        bail!("two ranks, please");
    }
    bind_to_core(usize::from(weft.rank().0))?;
    let end = end_of(weft.rank());
    let mut side = beside_messages(&weft, None)?.side;
    let mut line = MessageLine::new(&weft)?;
    for (name, shape) in &FIGURES {
        let lines: &mut [&mut dyn Line] = &mut [&mut line];
        print(name, end, measure(lines, shape, rounds, end, &mut side)?);
    }
    drop(line);
    Ok(weft.leave()?)
}

fn print(name: &str, end: End, measured: Vec<Measured>) {
    for Measured { samples, processor_ns } in measured {
        if end == End::First {
            weft_app_common::say!("{name} {:.3} {processor_ns:.3}", median(samples));
        }
    }
}
