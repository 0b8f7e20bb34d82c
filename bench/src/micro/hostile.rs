//! Goodput beside adversaries: rank 0 sends rank 1 packets over UDP while a third host on their
//! bridge sends rank 1 frames that are forged, replayed, cut short, of another job or version, or
//! noise. In turns with that it sends the same bytes to another port of that host, where they are
//! nobody's affair, and nothing at all.
//!
//! Every packet carries its number and a pattern, so that one that adversaries had brought in would
//! show, and so would one that they had kept out. Links count what they refuse, and why.

mod adversary;
mod packet;

use crate::micro::launch::Spec;
use crate::micro::pair::End;
use crate::micro::pair::inside::{Seat, links, run};
use crate::micro::report::{Limit, median};
use adversary::{Adversary, Doing};
use anyhow::{Context, Result, bail};
use packet::{Check, Mark, Stream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weft_datagram::seal::{FrameRefused, Keys, Protection, Refusals, Secret};
use weft_link::wrap::InspectOnDrop;
use weft_netns::adversary::Attack;
use weft_netns::{Cluster, Options};

/// Attacks that are tried.
pub const ATTACKS: [Attack; 6] = [
    Attack::Forged,
    Attack::Replayed,
    Attack::Truncated,
    Attack::WrongJob,
    Attack::WrongVersion,
    Attack::Noise,
];
/// Frames of adversaries a second.
pub const RATE: u32 = 50_000;
/// Limit on the goodput beside hostile frames, as a ratio to that beside unrelated ones.
const LIMIT: Limit = Limit::AtLeast(0.95);
/// User bytes of a packet at most, on Ethernet.
const SIZE_MAX: usize = 1416;
/// Longest wait of an adversary for something to hear.
const PATIENCE: Duration = Duration::from_secs(10);
/// Packets that travel together.
const BURST: u64 = 64;

/// Plan of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Hostile frames at least, and as many unrelated ones.
    pub frames: u64,
    /// User bytes of each packet of the job.
    pub size: usize,
    /// For how long each of the three is measured at a time.
    pub slice: Duration,
}

/// Result of a measurement.
#[derive(Debug, Default)]
pub struct Report {
    /// Bytes a second in each slice in which adversaries did nothing.
    pub alone: Vec<f64>,
    /// In which they sent frames to somebody else.
    pub unrelated: Vec<f64>,
    /// In which they sent hostile ones.
    pub hostile: Vec<f64>,
    /// Unrelated frames sent.
    pub unrelated_frames: u64,
    /// Hostile frames sent, by the order of [`ATTACKS`].
    pub attacks: [u64; ATTACKS.len()],
    /// For how long adversaries sent frames.
    pub sending: Duration,
    /// Counts of the frames that rank 1 refused.
    pub refused: Refusals,
    /// Packets that rank 0 sent.
    pub sent: u64,
    /// Packets that arrived at rank 1, each once, in order and unchanged.
    pub arrived: u64,
    /// Packets at rank 1 that were not those.
    pub foreign: u64,
}

impl Report {
    /// Hostile frames sent, of all kinds.
    pub fn hostile_frames(&self) -> u64 {
        self.attacks.iter().sum()
    }

    /// Frames a second that adversaries reached, hostile and unrelated ones alike.
    pub fn rate(&self) -> f64 {
        (self.unrelated_frames + self.hostile_frames()) as f64 / self.sending.as_secs_f64()
    }

    /// The goodput beside hostile frames, in units of that beside unrelated ones.
    pub fn ratio(&self) -> f64 {
        median(self.hostile.clone()) / median(self.unrelated.clone())
    }
}

/// Measures.
///
/// # Errors
/// There can be no hosts here, or the ranks lost each other.
pub fn measure(plan: &Plan) -> Result<Report> {
    let cluster = Cluster::new(3, Options::default())
        .context("this is measured between three network namespaces")?;
    let keys = |rank| Keys::new(Secret::new([7; 16]), 1, rank, Protection::Tagged);
    let ([first, second], peers) = links(&cluster, keys)?;
    let refused = Arc::new(Mutex::new(Refusals::default()));
    let silent = InspectOnDrop::new(first, Box::new(|_: &_| {}) as Box<dyn FnMut(&_) + Send>);
    let into = Arc::clone(&refused);
    let keep = move |udp: &weft_udp::Udp| {
        *into.lock().unwrap_or_else(PoisonError::into_inner) = udp.counters().refused;
    };
    let shown = InspectOnDrop::new(second, Box::new(keep) as Box<dyn FnMut(&_) + Send>);
    let mut adversary = Adversary::start(&cluster, peers[1])?;
    let (report, other) = run(vec![[silent, shown]], |seat: &mut Seat| match seat.end {
        End::First => send(seat, plan, &adversary),
        End::Second => receive(seat),
    })?;
    adversary.end();
    let refused = *refused.lock().unwrap_or_else(PoisonError::into_inner);
    let Report { arrived, foreign, .. } = other;
    let (unrelated_frames, attacks) = (adversary.unrelated(), adversary.attacks());
    Ok(Report { arrived, foreign, refused, unrelated_frames, attacks, ..report })
}

fn send(seat: &mut Seat, plan: &Plan, adversary: &Adversary) -> Result<Report> {
    let mut stream = Stream::new(&seat.packets[0], plan.size);
    let mut report = Report::default();
    // The first round does not count.
    let mut round = 0;
    while round < 2 || adversary.least_sent() < plan.frames {
        show_frames(&mut stream, adversary)?;
        for doing in turn(round) {
            adversary.set(doing);
            let start = Instant::now();
            let goodput = slice(&mut stream, plan.slice)?;
            adversary.set(Doing::Nothing);
            report.sending +=
                if doing == Doing::Nothing { Duration::ZERO } else { start.elapsed() };
            let samples = match doing {
                Doing::Unrelated => &mut report.unrelated,
                Doing::Hostile => &mut report.hostile,
                _ => &mut report.alone,
            };
            if round > 0 {
                samples.push(goodput);
            }
        }
        round += 1;
    }
    stream.send(Mark::End)?;
    seat.packets[0].flush()?;
    seat.side.meet(|| Ok(()))?;
    report.sent = stream.sent();
    Ok(report)
}

/// Sends until the adversary has heard some frames, to make others of.
fn show_frames(stream: &mut Stream, adversary: &Adversary) -> Result<()> {
    let (start, before) = (Instant::now(), adversary.heard());
    adversary.set(Doing::Listening);
    while adversary.heard() == before {
        slice(stream, Duration::ZERO)?;
        if start.elapsed() > PATIENCE {
            bail!("the adversary hears no frame of the job");
        }
    }
    Ok(())
}

/// The order of a round: each of the three begins in its turn.
fn turn(round: usize) -> [Doing; 3] {
    let mut all = [Doing::Nothing, Doing::Unrelated, Doing::Hostile];
    all.rotate_left(round % 3);
    all
}

/// Sends for this time, and waits until all has been read; returns bytes a second.
fn slice(stream: &mut Stream, length: Duration) -> Result<f64> {
    let (start, before) = (Instant::now(), stream.sent());
    loop {
        let is_last = start.elapsed() >= length;
        for _ in 1..BURST {
            stream.send(Mark::More)?;
        }
        if is_last {
            stream.send(Mark::Answer)?;
            stream.wait_for_answer()?;
            let bytes = (stream.sent() - before) * stream.size() as u64;
            return Ok(bytes as f64 / start.elapsed().as_secs_f64());
        }
        stream.send(Mark::Pause)?;
    }
}

fn receive(seat: &mut Seat) -> Result<Report> {
    let packets = &seat.packets[0];
    let arrived = packet::check(packets);
    let mut answered = 0;
    loop {
        packets.poll_until(|| arrived.has_ended() || arrived.asked() > answered)?;
        if arrived.has_ended() {
            // What is acknowledged at once lets the other end go.
            seat.side.meet(|| Ok(packets.poll().map(drop)?))?;
            let Check { arrived, foreign } = arrived.counted();
            return Ok(Report { arrived, foreign, ..Report::default() });
        }
        answered += 1;
        packet::answer(packets)?;
    }
}

/// Measures as `spec` says, and prints.
///
/// # Errors
/// Those of [`measure`]; or an adversary brought a packet in, or kept one out.
pub(crate) fn measure_all(spec: &Spec) -> Result<()> {
    let size = spec.size();
    if !(packet::SIZE_MIN..=SIZE_MAX).contains(&size) {
        let least = packet::SIZE_MIN;
        bail!("--size {size} is outside {least} to {SIZE_MAX} bytes for this benchmark");
    }
    let plan = Plan { frames: spec.frames, size, slice: Duration::from_millis(200) };
    let report = measure(&plan)?;
    if spec.json {
        weft_app_common::say!("{}", json(&plan, &report));
    } else {
        print(&plan, &report);
    }
    let Report { sent, arrived, foreign, .. } = report;
    if (arrived, foreign) != (sent, 0) {
        bail!("of {sent} packets {arrived} arrived as they were, and {foreign} that were others");
    }
    Ok(())
}

fn medians(report: &Report) -> [f64; 3] {
    [&report.alone, &report.unrelated, &report.hostile].map(|samples| median(samples.clone()))
}

fn print(plan: &Plan, report: &Report) {
    let [alone, unrelated, hostile] = medians(report).map(|goodput| goodput / 1e6);
    let (size, slices) = (plan.size, report.hostile.len());
    weft_app_common::say!(
        "hostile: frames of adversaries beside packets of {size} B, 2 ranks, udp:"
    );
    weft_app_common::say!("  goodput {alone:.1} MB/s alone   ({slices} slices of each)");
    weft_app_common::say!(
        "  goodput {unrelated:.1} MB/s beside {} unrelated frames   {:.3} x alone",
        report.unrelated_frames,
        unrelated / alone
    );
    weft_app_common::say!(
        "  goodput {hostile:.1} MB/s beside {} hostile frames   {:.3} x unrelated   ({})",
        report.hostile_frames(),
        report.ratio(),
        LIMIT.text(report.ratio())
    );
    weft_app_common::say!("  {:.0} frames of the adversary a second", report.rate());
    for (attack, sent) in ATTACKS.into_iter().zip(report.attacks) {
        let refused = report.refused.of(attack.refused());
        weft_app_common::say!("  {sent} sent, {refused} refused: {}", attack.refused());
    }
    let Report { sent, arrived, foreign, .. } = report;
    weft_app_common::say!(
        "  {foreign} of them delivered; {arrived} of {sent} packets once and in order"
    );
}

fn json(plan: &Plan, report: &Report) -> serde_json::Value {
    let [alone, unrelated, hostile] = medians(report);
    let refused: serde_json::Map<_, _> = FrameRefused::ALL
        .into_iter()
        .map(|reason| (format!("{reason:?}").to_lowercase(), report.refused.of(reason).into()))
        .collect();
    serde_json::json!({
        "bench": "hostile", "link": "udp", "ranks": 2, "size": plan.size, "unit": "bytes_per_second",
        "alone": alone, "unrelated": unrelated, "hostile": hostile, "ratio": report.ratio(),
        "slices": report.hostile.len(), "unrelated_frames": report.unrelated_frames,
        "hostile_frames": report.hostile_frames(), "frames_per_second": report.rate(),
        "refused": refused, "sent": report.sent, "arrived": report.arrived, "foreign": report.foreign,
    })
}
