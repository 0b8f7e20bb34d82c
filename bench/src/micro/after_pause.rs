//! The first messages after a pause: programs compute, then talk.
//!
//! Both ends compute for a while, outside of Weft; then one sends a message, which the other
//! answers, and so on a few times. The same over a spinning TCP connection, in turns. The other end
//! computes as long as the first does, or waits for the message all the time. Beside the times
//! stands what the kernel did for both processes meanwhile: each thread that was woken, each that
//! was taken off its core, each system call. Of TCP's turn that is what Weft's own threads did, of
//! which some see to what the turn before left behind.

use crate::micro::launch::Spec;
use crate::micro::network::link;
use crate::micro::pair::hello::beside_messages;
use crate::micro::pair::side::Side;
use crate::micro::pair::sockets::Sockets;
use crate::micro::pair::wefts::{MessageLine, end_of};
use crate::micro::pair::{End, Line, bind_to_core};
use crate::micro::report::{Limit, Row};
use crate::micro::switches::{SwitchCounters, Switches};
use anyhow::Result;
use std::time::{Duration, Instant};

/// Pauses that are measured, in milliseconds.
const PAUSES_MS: [u64; 4] = [1, 3, 10, 1000];
/// Longest time in all for the pauses of one row's line.
const LONGEST: Duration = Duration::from_secs(6);
/// Round trips after a pause.
const TRIPS: usize = 10;
/// Limit on the first message, as a ratio to TCP's.
const LIMIT: Limit = Limit::AtMost(1.5);

/// Occupation of the second end while the first computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meanwhile {
    Computes,
    Waits,
}

/// Figures of one line.
#[derive(Default)]
struct Figures {
    /// Nanoseconds one way: half of the first round trip, ...
    first: Vec<f64>,
    /// ... and of those after it.
    next: Vec<f64>,
    switches: Switches,
}

/// A rank's part.
///
/// # Errors
/// It could not join, or the other was lost.
pub fn rank(spec: &Spec, interface: Option<&str>) -> Result<()> {
    let weft = weft::join()?;
    let end = end_of(weft.rank());
    bind_to_core(weft.rank().0.into())?;
    let Sockets { mut side, mut tcp, .. } = beside_messages(&weft, interface)?;
    let mut line = MessageLine::new(&weft)?;
    let mut counters = SwitchCounters::open(spec.tracepoint)?;
    let bytes = vec![7; spec.size().max(1)];
    for pause in PAUSES_MS {
        for meanwhile in [Meanwhile::Computes, Meanwhile::Waits] {
            let pause = Duration::from_millis(pause);
            let mut turn = Turn { pause, meanwhile, end, bytes: &bytes, side: &mut side };
            let rounds = spec.rounds.min((LONGEST.as_millis() / pause.as_millis()) as usize);
            let (mut weft, mut beside) = (Figures::default(), Figures::default());
            // One round does not count.
            turn.take(&mut line, &mut counters, &mut Figures::default())?;
            for _ in 0..rounds {
                turn.take(&mut line, &mut counters, &mut weft)?;
                turn.take(&mut tcp, &mut counters, &mut beside)?;
            }
            weft.switches.add(&beside.switches.without_program());
            let counted = turn.of_both(&weft.switches)?;
            if end == End::First {
                print(spec, (pause, meanwhile), weft, beside, counted.of_a_turn(rounds));
            }
        }
    }
    drop(line);
    Ok(weft.leave()?)
}

/// A pause, and the messages after it.
struct Turn<'a> {
    pause: Duration,
    meanwhile: Meanwhile,
    end: End,
    bytes: &'a [u8],
    side: &'a mut Side,
}

impl Turn<'_> {
    fn take(
        &mut self,
        line: &mut dyn Line,
        counters: &mut SwitchCounters,
        figures: &mut Figures,
    ) -> Result<()> {
        self.side.meet(|| Ok(()))?;
        let before = counters.read()?;
        let start = Instant::now();
        if self.end == End::First || self.meanwhile == Meanwhile::Computes {
            while start.elapsed() < self.pause {
                std::hint::spin_loop();
            }
        }
        for trip in 0..TRIPS {
            let start = Instant::now();
            if self.end == End::First {
                line.send(self.bytes)?;
                line.receive(self.bytes.len())?;
            } else {
                line.receive(self.bytes.len())?;
                line.send(self.bytes)?;
            }
            let one_way = start.elapsed().as_nanos() as f64 / 2.0;
            if trip == 0 { &mut figures.first } else { &mut figures.next }.push(one_way);
        }
        figures.switches.add(&counters.read()?.since(&before));
        Ok(())
    }

    /// Counts of both ends; they mean something at the first only. Threads have the same names at
    /// both.
    fn of_both(&mut self, own: &Switches) -> Result<Switches> {
        let mut all = own.clone();
        for sleeps in all.sleeps.values_mut() {
            *sleeps += self.side.exchange(*sleeps)?;
        }
        all.preemptions += self.side.exchange(all.preemptions)?;
        let calls = self.side.exchange(all.system_calls.unwrap_or(f64::NAN))?;
        all.system_calls = all.system_calls.map(|own| own + calls).filter(|all| all.is_finite());
        Ok(all)
    }
}

fn print(
    spec: &Spec,
    (pause, meanwhile): (Duration, Meanwhile),
    weft: Figures,
    tcp: Figures,
    counted: Switches,
) {
    let other = if meanwhile == Meanwhile::Waits { "-waiting" } else { "" };
    let ranks = (2, spec.size().max(1));
    let row = |what: &str, samples, floor| {
        let name = format!("after-pause-{}ms{other}{what}", pause.as_millis());
        let mut row = Row::new(name, ranks, "ns", samples, vec![("tcp", floor)]);
        row.link = link(spec);
        row
    };
    let mut first = row("", weft.first, tcp.first);
    first.limit = Some(LIMIT);
    first.switches = Some(counted);
    first.print(spec);
    row("-next", weft.next, tcp.next).print(spec);
}
