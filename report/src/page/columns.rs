//! Columns of a page.

use crate::analysis::Analysis;
use crate::analysis::arrows::Arrow;
use crate::analysis::path::On;
use crate::analysis::states::{Life, RankState};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write};
use weft_wire::Tag;

/// Most arrows of a page. Of more, the slower half of each neighbouring two is kept, and so on.
pub const MOST_ARROWS: usize = 1 << 20;

/// Columns: name, type of an element, bytes.
pub struct Columns(Vec<(&'static str, &'static str, Vec<u8>)>);

impl Columns {
    /// Columns of all that is drawn.
    pub fn new(analysis: &Analysis) -> Self {
        let mut columns = Columns(Vec::new());
        columns.lives(&analysis.lives);
        columns.waits(&analysis.lives);
        columns.arrows(&analysis.arrows);
        columns.matrix(analysis);
        columns.path(analysis);
        columns
    }

    /// Writes an element for each.
    ///
    /// # Errors
    /// Errors of `to`.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        for (name, kind, bytes) in &self.0 {
            let text = STANDARD.encode(bytes);
            writeln!(
                to,
                r#"<script type="text/plain" id="column-{name}" data-type="{kind}">{text}</script>"#
            )?;
        }
        Ok(())
    }

    fn lives<'a>(&mut self, lives: &'a [Life]) {
        let pieces = || lives.iter().flat_map(|life| &life.pieces);
        self.numbers("life-begin", lives.iter().map(|life| life.begin));
        self.numbers("life-end", lives.iter().map(|life| life.end));
        self.numbers("piece-first", firsts(lives, |life| life.pieces.len()));
        let starts =
            |life: &'a Life| steps(life.begin, life.pieces.iter().map(|piece| piece.start));
        self.numbers("piece-step", lives.iter().flat_map(starts));
        self.numbers("piece-state", pieces().map(|piece| piece.state as u64));
        self.numbers("piece-span", pieces().map(|piece| piece.span.into()));
        let ports = pieces().filter(|piece| piece.state == RankState::Handler);
        self.numbers("piece-port", ports.map(|piece| piece.port.into()));
    }

    fn waits<'a>(&mut self, lives: &'a [Life]) {
        let waits = || lives.iter().flat_map(|life| &life.waits);
        self.numbers("wait-first", firsts(lives, |life| life.waits.len()));
        let begins = |life: &'a Life| steps(life.begin, life.waits.iter().map(|wait| wait.begin));
        self.numbers("wait-step", lives.iter().flat_map(begins));
        self.numbers("wait-length", waits().map(|wait| wait.end - wait.begin));
        self.numbers("wait-text", waits().map(|wait| wait.text.into()));
        // 0 is nobody.
        let by = waits().map(|wait| wait.ended_by.map_or(0, |(_, rank)| u64::from(rank) + 1));
        self.numbers("wait-by", by);
    }

    fn arrows<'a>(&mut self, arrows: &'a [Arrow]) {
        let mut drawn: Vec<&'a Arrow> = arrows.iter().collect();
        drawn.sort_by_key(|arrow| arrow.left);
        while drawn.len() > MOST_ARROWS {
            let slower = |two: &[&'a Arrow]| two.iter().copied().max_by_key(|of| of.flight());
            drawn = drawn.chunks(2).filter_map(slower).collect();
        }
        let mut put = |name, value: fn(&Arrow) -> u64| {
            self.numbers(name, drawn.iter().map(|arrow| value(arrow)));
        };
        put("arrow-from", |arrow| arrow.from.into());
        put("arrow-to", |arrow| arrow.to.into());
        put("arrow-flight", Arrow::flight);
        put("arrow-size", |arrow| arrow.packet.size.into());
        put("arrow-sequence", |arrow| arrow.packet.sequence.into());
        put("arrow-root", |arrow| arrow.packet.root.0.into());
        // 0 is a packet for one rank.
        put("arrow-group", |arrow| arrow.packet.group.map_or(0, |group| u64::from(group.0) + 1));
        put("arrow-tag", |arrow| arrow.packet.tag as u64);
        put("arrow-system", |arrow| arrow.packet.protocol.index() as u64);
        self.numbers("arrow-step", steps(0, drawn.iter().map(|arrow| arrow.left)));
    }

    fn matrix(&mut self, analysis: &Analysis) {
        let matrix = &analysis.findings.traffic.matrix;
        self.numbers("cell-from", matrix.iter().map(|cell| cell.from.into()));
        self.numbers("cell-to", matrix.iter().map(|cell| cell.to.into()));
        self.numbers("cell-packets", matrix.iter().map(|cell| cell.data_packets));
        self.numbers("cell-bytes", matrix.iter().map(|cell| cell.data_bytes));
        self.numbers("cell-control", matrix.iter().map(|cell| cell.control_packets));
    }

    fn path(&mut self, analysis: &Analysis) {
        let path = &analysis.findings.critical_path.steps;
        let on = |on| match on {
            On::Rank => 0,
            On::Flight => 1,
            On::Waking => 2,
        };
        self.numbers("step-on", path.iter().map(|step| on(step.on)));
        self.numbers("step-rank", path.iter().map(|step| step.rank.into()));
        self.numbers("step-to", path.iter().map(|step| step.to.into()));
        self.numbers("step-step", steps(0, path.iter().map(|step| step.begin_ns)));
        self.numbers("step-length", path.iter().map(|step| step.end_ns - step.begin_ns));
    }

    /// A column of elements that are as small as its largest number allows. Numbers are exact up
    /// to 2^53.
    fn numbers(&mut self, name: &'static str, values: impl Iterator<Item = u64> + Clone) {
        let most = values.clone().max().unwrap_or(0);
        let (kind, bytes): (_, Vec<u8>) = if most <= u8::MAX.into() {
            ("u8", values.map(|value| value as u8).collect())
        } else if most <= u16::MAX.into() {
            ("u16", values.flat_map(|value| (value as u16).to_le_bytes()).collect())
        } else if most <= u32::MAX.into() {
            ("u32", values.flat_map(|value| (value as u32).to_le_bytes()).collect())
        } else {
            ("f64", values.flat_map(|value| (value as f64).to_le_bytes()).collect())
        };
        self.0.push((name, kind, bytes));
    }
}

/// Steps from one of these times, which are in order, to the next; the first one from `before`.
fn steps(
    before: u64,
    times: impl Iterator<Item = u64> + Clone,
) -> impl Iterator<Item = u64> + Clone {
    times.scan(before, |before, time| {
        let step = time - *before;
        *before = time;
        Some(step)
    })
}

/// Index of the first element of each rank, and of the end.
fn firsts(lives: &[Life], length: fn(&Life) -> usize) -> impl Iterator<Item = u64> + Clone {
    let ends = lives.iter().scan(0, move |end, life| {
        *end += length(life) as u64;
        Some(*end)
    });
    std::iter::once(0).chain(ends)
}

/// Names of tags, by their numbers.
pub fn tags() -> Vec<String> {
    let name = |tag| match tag {
        Tag::Ucast => "data",
        Tag::Mcast => "multicast",
        Tag::FaRequest => "atomic operation",
        Tag::Credit => "credit",
        Tag::ChannelClear => "channel clear",
        Tag::FaReply => "answer to an atomic operation",
        Tag::Acknowledge => "acknowledgement",
        Tag::Nack => "negative acknowledgement",
        Tag::Farewell => "farewell",
        Tag::Recall => "recall of credits",
        Tag::Return => "return of credits",
        Tag::Lost => "loss of a rank",
    };
    (0..=12).map(|number| Tag::try_from(number).map_or("", name).to_owned()).collect()
}
