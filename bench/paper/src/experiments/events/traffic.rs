//! Traffic patterns of programs on events (careful-protocols 6.2), drawn from their traces.

use super::{Cluster, Table, flooding, jacobi, latency};
use crate::claim::Claim;
use crate::experiment::Setting;
use crate::picture::{Picture, matrix, spacetime};
use crate::results::{Results, percent};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Duration;
use weft_events::{Header, Kind, Protocol};
use weft_report::Analysis;
use weft_report::analysis::arrows::Arrow;
use weft_report::units::{self, thousands};
use weft_wire::Tag;

/// Nodes of the pictures.
const NODES: u16 = 4;
/// Points of a side of Jacobi's grid.
const SIZE: usize = 16;
/// Words of a fragment of the flood.
const WORDS: usize = 1000;
/// Nothing new happens to a flood after so long: whoever has not ended yet never will.
const LIMIT: Duration = Duration::from_millis(1500);

/// Fragments of the broadcasts that end a job.
const CLOSING: u64 = NODES as u64 * (NODES as u64 - 1);

/// A program of section 6.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Program {
    /// A message of a word goes around the ring.
    Ring,
    /// Jacobi's method on a grid of 16 x 16 points.
    Jacobi,
    /// Everybody broadcasts before it receives.
    Flood,
}

impl Program {
    /// All of them.
    pub const ALL: [Program; 3] = [Program::Ring, Program::Jacobi, Program::Flood];

    fn name(self) -> &'static str {
        match self {
            Program::Ring => "ring",
            Program::Jacobi => "Jacobi",
            Program::Flood => "flood",
        }
    }
}

/// Class of a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// A fragment on its first way.
    Fragment,
    /// Careful: a window update in a frame of its own.
    Update,
    /// Traditional: an explicit acknowledgement.
    Acknowledgement,
    /// Traditional: a request for what is missing.
    Request,
    /// Traditional: a fragment sent again.
    Again,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 5] =
        [Class::Fragment, Class::Update, Class::Acknowledgement, Class::Request, Class::Again];

    fn drawn(self) -> spacetime::Class {
        let (name, colour) = match self {
            Class::Fragment => ("fragments", "#444c58"),
            Class::Update => ("window updates", "#009e73"),
            Class::Acknowledgement => ("acknowledgements", "#0072b2"),
            Class::Request => ("requests", "#cc3311"),
            Class::Again => ("sent again", "#cc79a7"),
        };
        spacetime::Class { name, colour }
    }
}

/// Frames of a run, and how its nodes spent their time.
pub struct Traffic {
    /// Program.
    pub program: Program,
    /// Protocol.
    pub protocol: Protocol,
    /// Analysis of its trace.
    pub analysis: Analysis,
    /// Class of each of its [`Analysis::arrows`].
    pub classes: Vec<Class>,
}

impl Traffic {
    /// Traffic of a program on four nodes.
    ///
    /// # Errors
    /// Those of [`Cluster::trace`], and frames that are none of events.
    pub fn of(program: Program, protocol: Protocol) -> Result<Self> {
        let cluster = Cluster { nodes: NODES, protocol };
        let trace = match program {
            Program::Ring => {
                cluster.trace(LIMIT, |events| latency::pass_around(events, 1, false))?
            }
            Program::Jacobi => cluster.trace(LIMIT, |events| jacobi::iterate(events, SIZE))?,
            Program::Flood => {
                cluster.trace(LIMIT, |events| flooding::broadcast_ahead(events, WORDS, false))?
            }
        };
        let mut analysis = Analysis::new(&trace);
        // Of what the packet layer says for itself the protocols know nothing.
        analysis.arrows.retain(|arrow| arrow.packet.tag.is_data());
        analysis.arrows.sort_by_key(|arrow| (arrow.left, arrow.from, arrow.to));
        let classes = classes(&analysis.arrows).context("a frame that is none")?;
        Ok(Traffic { program, protocol, analysis, classes })
    }

    /// Number of packets of a class.
    pub fn count(&self, class: Class) -> u64 {
        self.classes.iter().filter(|of| **of == class).count() as u64
    }

    /// Fragments and their ways, the first ones.
    fn fragments(&self) -> impl Iterator<Item = &Arrow> {
        let arrows = self.analysis.arrows.iter().zip(&self.classes);
        arrows.filter(|(_, class)| **class == Class::Fragment).map(|(arrow, _)| arrow)
    }

    /// Part of the time of all nodes in which they wait.
    fn idle(&self) -> f64 {
        let sum = |of: fn(&weft_report::analysis::balance::RankTime) -> u64| {
            self.analysis.findings.time.iter().map(of).sum::<u64>() as f64
        };
        sum(|time| time.waiting_ns + time.asleep_ns) / sum(|time| time.total()) * 100.0
    }

    /// Number of fragments from each node to each other.
    fn matrix(&self) -> matrix::Matrix {
        let mut packets = vec![vec![0; NODES.into()]; NODES.into()];
        for arrow in self.fragments() {
            packets[arrow.from as usize][arrow.to as usize] += 1;
        }
        matrix::Matrix { heading: self.program.name().to_owned(), packets }
    }

    fn protocol_name(&self) -> &'static str {
        match self.protocol {
            Protocol::Traditional => "traditional",
            Protocol::Careful => "careful",
        }
    }

    /// Time at which the first packet of a class leaves; 0 if there is none.
    fn first(&self, class: Class) -> u64 {
        let arrows = self.analysis.arrows.iter().zip(&self.classes);
        arrows.filter(|(_, of)| **of == class).map(|(arrow, _)| arrow.left).min().unwrap_or(0)
    }

    /// Nanoseconds for which the protocol handles a packet, on average.
    fn handling(&self) -> u64 {
        let time = self.analysis.findings.time.iter().map(|time| time.handler_ns).sum::<u64>();
        time / self.classes.len().max(1) as u64
    }

    /// Nanoseconds from one fragment to the next of what goes around a ring.
    fn hop(&self) -> u64 {
        let left: Vec<u64> = self
            .fragments()
            .filter(|arrow| arrow.packet.tag != Tag::Mcast)
            .map(|arrow| arrow.left)
            .collect();
        left.windows(2).map(|pair| pair[1] - pair[0]).sum::<u64>() / (left.len() as u64 - 1).max(1)
    }

    /// Number of updates that leave a node while it has a fragment to pass on: it has received one
    /// since it sent one.
    fn updates_first(&self) -> usize {
        let updates = self.analysis.arrows.iter().zip(&self.classes);
        let updates = updates.filter(|(_, class)| **class == Class::Update).map(|(arrow, _)| arrow);
        let has_one = |update: &&Arrow| {
            let before = |time: u64| (time < update.left).then_some(time);
            let of = |arrow: &&Arrow| arrow.packet.tag != Tag::Mcast;
            let mine = self.fragments().filter(of).filter(|arrow| arrow.from == update.from);
            let theirs = self.fragments().filter(of).filter(|arrow| arrow.to == update.from);
            theirs.filter_map(|arrow| before(arrow.arrived)).max()
                > mine.filter_map(|arrow| before(arrow.left)).max()
        };
        updates.filter(has_one).count()
    }

    fn panel(&self, begin: u64) -> spacetime::Panel<'_> {
        let arrows = self.analysis.arrows.iter().zip(&self.classes);
        spacetime::Panel {
            heading: self.protocol_name().to_owned(),
            lives: &self.analysis.lives,
            arrows: arrows.map(|(arrow, class)| (arrow, class.drawn())).collect(),
            begin,
        }
    }
}

/// Class of each packet; they are in the order in which they left. `None` if one is no frame.
fn classes(arrows: &[Arrow]) -> Option<Vec<Class>> {
    let mut known = BTreeSet::new();
    let class = |arrow: &Arrow| {
        let header = Header::decode(&arrow.packet.head)?.0;
        Some(match header.kind {
            Kind::Update => Class::Update,
            Kind::Acknowledge => Class::Acknowledgement,
            Kind::Request => Class::Request,
            Kind::Fragment => {
                let fragment = (arrow.from, arrow.to, header.event, header.index);
                if known.insert(fragment) { Class::Fragment } else { Class::Again }
            }
        })
    };
    arrows.iter().map(class).collect()
}

static CLAIMS: LazyLock<Vec<Claim>> =
    LazyLock::new(|| vec![Claim::statement("CP-62-pattern"), Claim::statement("CP-62-adaptive")]);

const NOTES: &str = "\
The paper's runs wrote traces \"in a format that can be read by the ParaGraph visualization tool\" (6.2), whose pictures \
it does not print; what it says of them is that \"all communication was either broadcast messages or messages sent to the \
left or right neighbor\". Below is what ParaGraph draws, space-time diagrams and a communication matrix, of runs of three of \
the programs of 6.1 on four nodes, under both protocols. The simulator writes the traces, as for `weft sim --trace`, and `weft \
report`'s analysis reads them. Arrows go from when a frame is put on the ring to when its receiver takes it from its board.";

/// Section 6.2.
pub const TABLE: Table = Table {
    name: "events-traffic",
    title: "Traffic patterns, drawn (6.2)",
    claims: &CLAIMS,
    settings: &[] as &[Setting],
    notes: NOTES,
    counters: &[],
    run,
};

/// Runs of all programs, under the traditional protocol and the careful one.
///
/// # Errors
/// Those of [`Traffic::of`].
pub fn all() -> Result<Vec<[Traffic; 2]>> {
    let both = |program| {
        let of = |protocol| Traffic::of(program, protocol);
        Ok([of(Protocol::Traditional)?, of(Protocol::Careful)?])
    };
    Program::ALL.into_iter().map(both).collect()
}

fn run(results: &mut Results) -> Result<()> {
    let runs = all()?;
    pattern(&runs, results);
    predictable(&runs, results);
    for picture in pictures(&runs) {
        results.picture(picture);
    }
    Ok(())
}

/// Records who receives fragments.
fn pattern(runs: &[[Traffic; 2]], results: &mut Results) {
    let (mut evidence, mut others) = (String::new(), 0);
    for [_, careful] in runs {
        let mut ways =
            BTreeMap::from([("right", 0u64), ("left", 0), ("everybody", 0), ("others", 0)]);
        for arrow in careful.fragments() {
            let by = (arrow.to + u32::from(NODES) - arrow.from) % u32::from(NODES);
            let way = match (arrow.packet.tag, by) {
                (Tag::Mcast, _) => "everybody",
                (_, 1) => "right",
                (_, by) if by + 1 == u32::from(NODES) => "left",
                _ => "others",
            };
            *ways.entry(way).or_default() += 1;
        }
        others += ways["others"];
        let some = ways.iter().filter(|(_, fragments)| **fragments > 0);
        let some: Vec<_> = some.map(|(way, number)| format!("{number} to {way}")).collect();
        let _ = write!(evidence, "{} {}; ", careful.program.name(), some.join(", "));
    }
    results.statement("CP-62-pattern", others == 0, format!("{evidence}{others} to others"));
}

/// Records how often the next receiver is the one that followed the same receiver last time.
fn predictable(runs: &[[Traffic; 2]], results: &mut Results) {
    let (mut right, mut all) = (0, 0);
    for [_, careful] in runs {
        let mut sent: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let alone = careful.fragments().filter(|arrow| arrow.packet.tag != Tag::Mcast);
        alone.for_each(|arrow| sent.entry(arrow.from).or_default().push(arrow.to));
        for receivers in sent.values() {
            let mut next = BTreeMap::new();
            for pair in receivers.windows(2) {
                right += u64::from(next.insert(pair[0], pair[1]) == Some(pair[1]));
                all += 1;
            }
        }
    }
    let part = right as f64 / all as f64 * 100.0;
    let evidence = format!(
        "of fragments to one node, {} go to whom they went to the last time after the same node",
        percent(part)
    );
    results.statement("CP-62-adaptive", part > 90.0, evidence);
}

fn pictures(runs: &[[Traffic; 2]]) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = runs.iter().map(diagram).collect();
    let matrices: Vec<_> = runs.iter().map(|[_, careful]| careful.matrix()).collect();
    let title = "Fragments from each node to each other under the careful protocol".to_owned();
    pictures.push(Picture {
        name: "careful-matrix",
        svg: matrix::draw(&title, &matrices),
        title,
        says: format!("{MATRIX}\n\n{}", table(runs)),
    });
    pictures
}

/// The space-time diagram of a program under both protocols.
pub fn diagram(both: &[Traffic; 2]) -> Picture {
    let [traditional, careful] = both;
    let (name, what, says) = match careful.program {
        Program::Ring => ("careful-ring", "A message of one word around the ring", ring(both)),
        Program::Jacobi => ("careful-jacobi", "Jacobi's method on 16 x 16 points", jacobi(both)),
        Program::Flood => {
            ("careful-flood", "Everybody broadcasts 1,000 words at a time", flood(both))
        }
    };
    let (begins, length) = match careful.program {
        // A round before windows are told, from the same fragment on.
        Program::Ring => {
            let first = careful.first(Class::Update);
            let before = careful.fragments().filter(|arrow| arrow.left < first).count();
            let from = |of: &Traffic| {
                of.fragments().nth(before.saturating_sub(3)).map_or(0, |arrow| arrow.left)
            };
            (both.each_ref().map(from), 1_000_000)
        }
        Program::Jacobi => ([0; 2], 1_000_000),
        // The last fragments before somebody asks for one.
        Program::Flood => {
            ([traditional.first(Class::Request).saturating_sub(8_000_000); 2], 80_000_000)
        }
    };
    let title = format!("{what}, {NODES} nodes");
    let panels = [traditional.panel(begins[0]), careful.panel(begins[1])];
    let svg = spacetime::draw(&title, &panels, length);
    Picture { name, title, svg, says }
}

const MATRIX: &str = "\
\"All communication was either broadcast messages or messages sent to the left or right neighbor (i.e., node p sends to node \
p - 1 or p + 1)\" (6.2). So it is here, if the ends of the line are neighbours: the ring's go to the right, Jacobi's to both \
sides, the flood's to everybody. The one fragment from each node to each is the broadcast that ends a job. Frames \
in the same runs, each counted once for each of its receivers; the flood under the traditional protocol is what it sent until \
it was ended:";

fn ring(both: &[Traffic; 2]) -> String {
    let [traditional, careful] = both;
    let [hop, careful_hop] = both.each_ref().map(|of| units::time(of.hop()));
    format!(
        "\"The traditional protocol does not send explicit ACKs\" (6.1): its {} fragments around the ring take the \
         acknowledgements along, and only when the job ends does each node tell the others what it has, in {} \
         frames. It is the careful protocol that sends something besides, because nothing travels against the ring \
         that could take a window along: {} updates, each when \"half of the maximum advertised window\" (5.3) is owed, 16 \
         frames. {} of them leave while their node has the message, and hold it up; the others after it. Still a hop takes \
         {careful_hop} under the careful protocol and {hop} under the traditional one, of which handling the packet (green) \
         takes {} and {}. All others wait meanwhile.",
        traditional.count(Class::Fragment) - CLOSING,
        traditional.count(Class::Acknowledgement),
        careful.count(Class::Update),
        careful.updates_first(),
        units::time(careful.handling()),
        units::time(traditional.handling()),
    )
}

fn jacobi(both: &[Traffic; 2]) -> String {
    let [traditional, careful] = both;
    format!(
        "\"In each iteration, a node p sends the first row it owns to the node above and the last row it owns to the node \
         below. It then receives a row from the node above and below\" (6.1). Both protocols send the same {} \
         fragments for that, and neither sends anything besides before the end: {} window updates, and {} acknowledgements \
         that end the job. Rows travel both ways, and take windows and acknowledgements along. What differs is how long a \
         node handles a packet, of which it gets two an iteration: {} under the traditional protocol, with which the run \
         takes {} and nodes wait {} of it; {} under the careful one, with which it takes {} and they wait {}. What they are \
         spared they partly wait for, because rows are as long on the ring as before.",
        careful.count(Class::Fragment) - CLOSING,
        careful.count(Class::Update),
        traditional.count(Class::Acknowledgement),
        units::time(traditional.handling()),
        units::time(traditional.analysis.findings.duration_ns),
        percent(traditional.idle()),
        units::time(careful.handling()),
        units::time(careful.analysis.findings.duration_ns),
        percent(careful.idle()),
    )
}

fn flood(both: &[Traffic; 2]) -> String {
    let [traditional, careful] = both;
    let asked = traditional.first(Class::Request);
    let before = traditional.fragments().filter(|arrow| arrow.left < asked).count() as u64;
    format!(
        "\"With four or more nodes, it would almost immediately get into a livelock\u{2014}forever retransmitting messages that \
         immediately get dropped again\" (6.1). The traditional nodes have sent {} fragments after {}, when the first of them \
         asks for what it misses, because there was no buffer for it. From then on they send {} new ones, and {} requests are \
         answered by {} fragments sent again, until the run is ended after {}: whenever nodes have waited {}, it all begins \
         anew. The careful nodes send {} fragments, {} window updates and nothing twice, and are done after {}.",
        thousands(before),
        units::time(asked),
        thousands(traditional.count(Class::Fragment) - before),
        thousands(traditional.count(Class::Request)),
        thousands(traditional.count(Class::Again)),
        units::time(LIMIT.as_nanos() as u64),
        units::time(super::REQUEST_AFTER.as_nanos() as u64),
        thousands(careful.count(Class::Fragment)),
        thousands(careful.count(Class::Update)),
        units::time(careful.analysis.findings.duration_ns),
    )
}

/// Frames by class, and how much of their time nodes wait.
fn table(runs: &[[Traffic; 2]]) -> String {
    let mut text = "| program | protocol | fragments | updates | acknowledgements | requests | sent again | all | time | nodes wait |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for of in runs.iter().flatten() {
        let counts = Class::ALL.map(|class| thousands(of.count(class)));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            of.program.name(),
            of.protocol_name(),
            counts.join(" | "),
            thousands(of.classes.len() as u64),
            units::time(of.analysis.findings.duration_ns),
            percent(of.idle())
        );
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
