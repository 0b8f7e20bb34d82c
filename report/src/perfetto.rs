//! Traces in the protocol buffers of Perfetto's own programs: ranks are tracks within their hosts',
//! their lives slices there, and packets flows between two instants. So are ordered broadcasts.
//! Handlers with threads of their own have tracks below those of their ranks.
//!
//! Only messages and fields that are written are declared (`protos/perfetto/trace/` of Perfetto,
//! `trace_packet.proto` and `track_event/*.proto`); numbers there are never given anew.

use crate::analysis::arrows::Arrow;
use crate::analysis::beside::Copied;
use crate::analysis::{Analysis, names};
use crate::slices::{Slice, hosts, slices};
use prost::Message;
use std::io::{self, Write};

/// All that a file holds. Two of them in a row are one.
#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
struct TracePacket {
    /// In nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(enumeration = "ChildTracksOrdering", optional, tag = "11")]
    child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    sibling_order_rank: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, prost::Enumeration)]
#[repr(i32)]
enum ChildTracksOrdering {
    Unknown = 0,
    /// By the order that the children say.
    Explicit = 3,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(enumeration = "EventType", optional, tag = "9")]
    r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, prost::Enumeration)]
#[repr(i32)]
enum EventType {
    Unspecified = 0,
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
}

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    name: Option<String>,
}

/// Number of whoever wrote the packets, which there is one of.
const SEQUENCE: u32 = 1;

/// Writes the trace.
///
/// # Errors
/// Errors of `to`.
pub fn write(analysis: &Analysis, to: &mut impl Write) -> io::Result<()> {
    let mut out = Packets { to, bytes: Vec::new() };
    out.tracks(analysis)?;
    for (rank, life) in (0..).zip(&analysis.lives) {
        out.life(rank, &slices(analysis, life))?;
    }
    for (id, arrow) in (1..).zip(&analysis.arrows) {
        out.arrow(id, arrow)?;
    }
    out.broadcasts(analysis, analysis.arrows.len() as u64 + 1)?;
    analysis.beside.copies.iter().try_for_each(|copied| out.copied(copied))?;
    out.popups(analysis)
}

/// Track of a rank.
fn track_of(rank: u32) -> u64 {
    1 << 32 | u64::from(rank)
}

/// Track of handlers of a rank that have threads of their own, one at a time.
fn popup_track_of(rank: u32, lane: usize) -> u64 {
    track_of(rank) | (lane as u64 + 1) << 33
}

struct Packets<'a, W: Write> {
    to: &'a mut W,
    /// Packet that is being written, kept for its room.
    bytes: Vec<u8>,
}

impl<W: Write> Packets<'_, W> {
    fn put(&mut self, packet: TracePacket) -> io::Result<()> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        self.bytes.clear();
        Trace { packet: vec![packet] }.encode(&mut self.bytes).map_err(io::Error::other)?;
        self.to.write_all(&self.bytes)
    }

    fn track(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        self.put(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })
    }

    fn event(&mut self, rank: u32, time: u64, event: TrackEvent) -> io::Result<()> {
        self.event_at(track_of(rank), time, event)
    }

    fn event_at(&mut self, track: u64, time: u64, event: TrackEvent) -> io::Result<()> {
        let event = TrackEvent { track_uuid: Some(track), ..event };
        let (timestamp, track_event) = (Some(time), Some(event));
        self.put(TracePacket { timestamp, track_event, ..TracePacket::default() })
    }

    /// A track for each host, in the order of their first ranks, and in it one for each rank.
    fn tracks(&mut self, analysis: &Analysis) -> io::Result<()> {
        let mut known = 0;
        for (of, host) in analysis.findings.time.iter().zip(hosts(analysis)) {
            // 0 is the track of events that say none.
            let track = u64::from(host) + 1;
            if track > known {
                known = track;
                self.track(TrackDescriptor {
                    uuid: Some(track),
                    name: Some(of.host.clone()),
                    child_ordering: Some(ChildTracksOrdering::Explicit.into()),
                    sibling_order_rank: Some(host as i32),
                    ..TrackDescriptor::default()
                })?;
            }
            self.track(TrackDescriptor {
                uuid: Some(track_of(of.rank)),
                name: Some(format!("rank {}", of.rank)),
                parent_uuid: Some(track),
                sibling_order_rank: Some(of.rank as i32),
                ..TrackDescriptor::default()
            })?;
        }
        Ok(())
    }

    /// Slices of a rank: each begins within those that have not ended, in the order of time.
    fn life(&mut self, rank: u32, slices: &[Slice<'_>]) -> io::Result<()> {
        let mut open: Vec<u64> = Vec::new();
        for slice in slices {
            self.end(rank, &mut open, slice.begin)?;
            open.push(slice.end);
            let awaited = slice.awaited.map(|text| said("for", text));
            let begins = TrackEvent {
                debug_annotations: awaited.into_iter().collect(),
                categories: vec![slice.kind.into()],
                name: Some(slice.name.clone()),
                ..typed(EventType::SliceBegin)
            };
            self.event(rank, slice.begin, begins)?;
        }
        self.end(rank, &mut open, u64::MAX)
    }

    /// Ends the slices that are over at this time.
    fn end(&mut self, rank: u32, open: &mut Vec<u64>, time: u64) -> io::Result<()> {
        while let Some(end) = open.pop_if(|end| *end <= time) {
            self.event(rank, end, typed(EventType::SliceEnd))?;
        }
        Ok(())
    }

    /// A packet: an instant at which it leaves, and one at which it is taken, which a flow joins.
    fn arrow(&mut self, id: u64, arrow: &Arrow) -> io::Result<()> {
        let data = if arrow.packet.tag.is_data() { "packet" } else { "control packet" };
        let instant = |what: &str| TrackEvent {
            debug_annotations: vec![
                counted("from", arrow.from.into()),
                counted("to", arrow.to.into()),
                counted("bytes", arrow.packet.size.into()),
                said("system", &names::system(arrow.packet.protocol.index() as u8)),
                counted("sequence", arrow.packet.sequence.into()),
            ],
            categories: vec!["packet".into()],
            name: Some(format!("{data} {what}")),
            ..typed(EventType::Instant)
        };
        let leaves = TrackEvent { flow_ids: vec![id], ..instant("leaves") };
        self.event(arrow.from, arrow.left, leaves)?;
        let is_taken = TrackEvent { terminating_flow_ids: vec![id], ..instant("is taken") };
        self.event(arrow.to, arrow.arrived, is_taken)
    }

    /// Ordered broadcasts: an instant where one is sent, and flows from there to those at which it
    /// is handed over. The first flow has the number `first`.
    fn broadcasts(&mut self, analysis: &Analysis, first: u64) -> io::Result<()> {
        let mut next = first;
        for of in &analysis.beside.broadcasts {
            let order = analysis.names.text(of.order).unwrap_or_default();
            let instant = |what: &str| TrackEvent {
                debug_annotations: vec![said("order", order), counted("number", of.number)],
                categories: vec!["order".into()],
                name: Some(format!("'{order}' {} {what}", of.number)),
                ..typed(EventType::Instant)
            };
            let flows = of.submitted.map(|_| next..next + of.delivered.len() as u64);
            if let Some((rank, time)) = of.submitted {
                let flow_ids = flows.clone().into_iter().flatten().collect();
                self.event(rank, time, TrackEvent { flow_ids, ..instant("submitted") })?;
            }
            for (at, (rank, time)) in of.delivered.iter().enumerate() {
                let flow = flows.as_ref().map(|flows| flows.start + at as u64);
                let terminating_flow_ids = flow.into_iter().collect();
                let delivered = TrackEvent { terminating_flow_ids, ..instant("delivered") };
                self.event(*rank, *time, delivered)?;
            }
            next = flows.map_or(next, |flows| flows.end);
        }
        Ok(())
    }

    /// A copy between the memories of two ranks.
    fn copied(&mut self, of: &Copied) -> io::Result<()> {
        let (name, other) = if of.is_put { ("put", "to") } else { ("get", "from") };
        let copied = TrackEvent {
            debug_annotations: vec![counted(other, of.other.into()), counted("bytes", of.bytes)],
            categories: vec!["copy".into()],
            name: Some(format!("{name} without a packet")),
            ..typed(EventType::Instant)
        };
        self.event(of.rank, of.time, copied)
    }

    /// Handlers with threads of their own, on as many tracks of their rank as ran at a time.
    fn popups(&mut self, analysis: &Analysis) -> io::Result<()> {
        let mut popups: Vec<_> = analysis.beside.popups.iter().collect();
        popups.sort_by_key(|popup| (popup.rank, popup.begin));
        for of_rank in popups.chunk_by(|one, other| one.rank == other.rank) {
            let mut free_from: Vec<u64> = Vec::new();
            for popup in of_rank {
                let free = free_from.iter().position(|time| *time <= popup.begin);
                let lane = free.unwrap_or(free_from.len());
                let track = popup_track_of(popup.rank, lane);
                if lane == free_from.len() {
                    free_from.push(popup.end);
                    self.track(TrackDescriptor {
                        uuid: Some(track),
                        name: Some("popup handlers".into()),
                        parent_uuid: Some(track_of(popup.rank)),
                        ..TrackDescriptor::default()
                    })?;
                }
                free_from[lane] = popup.end;
                let port = analysis.names.text(popup.port).unwrap_or_default();
                let begins = TrackEvent {
                    categories: vec!["in handlers".into()],
                    name: Some(format!("handler of {port}")),
                    ..typed(EventType::SliceBegin)
                };
                self.event_at(track, popup.begin, begins)?;
                self.event_at(track, popup.end, typed(EventType::SliceEnd))?;
            }
        }
        Ok(())
    }
}

fn typed(of: EventType) -> TrackEvent {
    TrackEvent { r#type: Some(of.into()), ..TrackEvent::default() }
}

fn said(name: &str, text: &str) -> DebugAnnotation {
    let (string_value, name) = (Some(text.into()), Some(name.into()));
    DebugAnnotation { string_value, name, ..DebugAnnotation::default() }
}

fn counted(name: &str, count: u64) -> DebugAnnotation {
    let (uint_value, name) = (Some(count), Some(name.into()));
    DebugAnnotation { uint_value, name, ..DebugAnnotation::default() }
}

#[cfg(test)]
mod tests;
