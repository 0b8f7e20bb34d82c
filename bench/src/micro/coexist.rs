//! Messages and TCP on one interface: one way of a message alone and while a TCP stream between the
//! same hosts carries 1 Gbit/s, and what that carries alone and beside the messages. The three are
//! measured in turns.

mod stream;

use crate::micro::launch::Spec;
use crate::micro::network::link;
use crate::micro::pair::hello::beside_messages;
use crate::micro::pair::side::Side;
use crate::micro::pair::sockets::Sockets;
use crate::micro::pair::wefts::{MessageLine, end_of};
use crate::micro::pair::{End, Line, bind_to_core};
use crate::micro::report::{Limit, median, quantile_of};
use anyhow::Result;
use rustix::thread::sched_getaffinity;
use std::time::Instant;
use stream::{By, Carried, LASTS, Stream};

/// Round trips between two looks at whether a part has ended.
const ROUND_TRIPS: usize = 500;
/// Samples asked for that a turn, with its tens of thousands, stands for.
const SAMPLES_A_TURN: usize = 60;
/// Limit on a message beside the stream, as a ratio to one alone.
const LIMIT: Limit = Limit::AtMost(2.0);

/// Traffic on the interface in a part of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Messages,
    Both,
    Stream,
}

const TURN: [Part; 3] = [Part::Messages, Part::Both, Part::Stream];

/// Figures that the first end has measured.
#[derive(Default, Debug)]
struct Figures {
    /// Of each part, nanoseconds one way of each message.
    latency: [Vec<f64>; 3],
    /// Of each part, what the stream carried in each turn.
    carried: [Vec<Carried>; 3],
}

/// A rank's part.
///
/// # Errors
/// It could not join, or the other was lost.
pub fn rank(spec: &Spec, interface: Option<&str>) -> Result<()> {
    let weft = weft::join()?;
    let end = end_of(weft.rank());
    let Sockets { mut side, tcp, .. } = beside_messages(&weft, interface)?;
    let there = tcp.into_stream().peer_addr()?.ip();
    let stream = Stream::open(end, there, sched_getaffinity(None)?, &mut side)?;
    bind_to_core(weft.rank().0.into())?;
    let bytes = vec![7; spec.size().max(1)];
    let mut pair = Pair { line: MessageLine::new(&weft)?, side, stream, end, bytes };
    let mut figures = Figures::default();
    // One turn does not count.
    for turn in 0..=spec.rounds.div_ceil(SAMPLES_A_TURN) {
        for part in TURN {
            let (latency, carried) = pair.measure(part)?;
            if turn > 0 {
                figures.latency[part as usize].extend(latency);
                figures.carried[part as usize].extend(carried);
            }
        }
    }
    if end == End::First {
        let again = weft.packets().statistics().protocol.retransmissions;
        figures.print(spec, pair.stream.by(), again);
    }
    drop(pair);
    Ok(weft.leave()?)
}

/// One end.
struct Pair<'a> {
    line: MessageLine<'a>,
    side: Side,
    stream: Stream,
    end: End,
    bytes: Vec<u8>,
}

impl Pair<'_> {
    /// Measures one part of a turn: the time of each message, and what the stream carried. They
    /// mean something at the first end only.
    fn measure(&mut self, part: Part) -> Result<(Vec<f64>, Option<Carried>)> {
        self.side.meet(|| Ok(()))?;
        let has_stream = self.end == End::First && part != Part::Messages;
        let run = if has_stream { Some(self.stream.run()?) } else { None };
        let (start, mut latency) = (Instant::now(), Vec::new());
        if part == Part::Stream {
            std::thread::sleep(LASTS);
        } else {
            let mut goes_on = true;
            while goes_on {
                self.round_trips(&mut latency)?;
                let own = match &run {
                    Some(run) => run.goes_on(),
                    None => start.elapsed() < LASTS,
                };
                let theirs = self.side.exchange(f64::from(u8::from(own)))? > 0.0;
                goes_on = if self.end == End::First { own } else { theirs };
            }
        }
        let carried = run.map(stream::Run::end).transpose()?;
        self.line.rest(&mut self.side)?;
        Ok((latency, carried))
    }

    fn round_trips(&mut self, latency: &mut Vec<f64>) -> Result<()> {
        let Pair { line, end, bytes, .. } = self;
        for _ in 0..ROUND_TRIPS {
            if *end == End::First {
                let start = Instant::now();
                line.send(bytes)?;
                line.receive(bytes.len())?;
                latency.push(start.elapsed().as_nanos() as f64 / 2.0);
            } else {
                line.receive(bytes.len())?;
                line.send(bytes)?;
            }
        }
        Ok(())
    }
}

impl Figures {
    fn latency(&self, part: Part, quantile: f64) -> f64 {
        quantile_of(self.latency[part as usize].clone(), quantile)
    }

    fn carried(&self, part: Part) -> f64 {
        median(self.carried[part as usize].iter().map(|run| run.bytes_per_second).collect())
    }

    /// Segments that TCP sent again, and those of them that were lost.
    fn sent_again(&self, part: Part) -> (u64, u64) {
        let runs = &self.carried[part as usize];
        let again = runs.iter().map(|run| run.sent_again).sum();
        (again, runs.iter().map(|run| run.sent_again.saturating_sub(run.arrived_twice)).sum())
    }

    fn print(&self, spec: &Spec, by: By, again: u64) {
        let [alone, beside] = [Part::Messages, Part::Both].map(|part| self.latency(part, 0.5));
        let [alone_99, beside_99] =
            [Part::Messages, Part::Both].map(|part| self.latency(part, 0.99));
        let [stream, shared] = [Part::Stream, Part::Both].map(|part| self.carried(part));
        let [(stream_again, stream_lost), (shared_again, shared_lost)] =
            [Part::Stream, Part::Both].map(|part| self.sent_again(part));
        let messages = 2 * self.latency.iter().map(Vec::len).sum::<usize>();
        let (size, ratio) = (spec.size(), beside / alone);
        if spec.json {
            let row = serde_json::json!({
                "bench": "coexist", "link": link(spec), "ranks": 2, "size": size, "unit": "ns",
                "alone": alone, "alone_p99": alone_99, "beside": beside, "beside_p99": beside_99,
                "ratio": ratio, "messages_answered": messages, "packets_sent_again": again,
                "tcp_by": by.name(), "tcp_alone": stream, "tcp_beside": shared,
                "tcp_segments_sent_again_alone": stream_again,
                "tcp_segments_sent_again_beside": shared_again,
                "tcp_segments_lost_alone": stream_lost, "tcp_segments_lost_beside": shared_lost,
            });
            weft_app_common::say!("{row}");
            return;
        }
        let us = |ns: f64| format!("{:.1} us", ns / 1e3);
        let gbit = |bytes: f64| format!("{:.3} Gbit/s", bytes * 8.0 / 1e9);
        weft_app_common::say!(
            "coexist: messages of {size} B beside a TCP stream of 1 Gbit/s by {}, 2 ranks, {}:",
            by.name(),
            link(spec)
        );
        weft_app_common::say!("  one way alone   p50 {}   p99 {}", us(alone), us(alone_99));
        weft_app_common::say!("  beside TCP      p50 {}   p99 {}", us(beside), us(beside_99));
        weft_app_common::say!("  {ratio:.2} x alone   ({})", LIMIT.text(ratio));
        weft_app_common::say!("  all {messages} messages answered; {again} packets sent again");
        let kept = if shared_lost == 0 { "kept" } else { "NOT KEPT" };
        weft_app_common::say!(
            "  TCP alone       {}   {stream_lost} segments lost, {stream_again} sent again",
            gbit(stream)
        );
        weft_app_common::say!(
            "  beside messages {}   {shared_lost} segments lost (0: {kept}), {shared_again} sent again",
            gbit(shared)
        );
    }
}
