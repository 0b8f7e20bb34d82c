//! Puts: the sender names the place. Small ones beside packets, large ones beside stream messages,
//! and calls that are a put there and one back beside those that are messages.

use crate::micro::launch::{Kind, Spec};
use crate::micro::network;
use crate::micro::pair::hello::{beside_messages, beside_packets};
use crate::micro::pair::side::Side;
use crate::micro::pair::wefts::{CallLine, MessageLine, PacketLine, PutLine, end_of};
use crate::micro::pair::{End, Line, Pattern, Shape, Unit, bind_to_core, measure};
use crate::micro::report::{Floor, Row};
use anyhow::{Context, Result};

/// From so many bytes on it is throughput that counts.
const LARGE: usize = 64 << 10;

/// A rank's part.
pub fn rank(spec: &Spec, interface: Option<&str>) -> Result<()> {
    let size = spec.size().max(1);
    let one_way =
        Shape { pattern: Pattern::PingPong, size, count: 200, unit: Unit::OneWay, each: false };
    if spec.kind == Kind::Put && size < LARGE {
        let job = weft::join_packets()?;
        let packets = job.packets();
        bind_to_core(packets.rank().0.into())?;
        let mut side = beside_packets(packets, interface)?.side;
        let (mut puts, mut floor) = (PutLine::new(packets, size)?, PacketLine::new(packets));
        let lines: &mut [&mut dyn Line] = &mut [&mut puts, &mut floor];
        compare(spec, ("put", &["packet"]), &one_way, end_of(packets.rank()), lines, &mut side)?;
        drop(puts);
        return Ok(job.leave()?);
    }
    let weft = weft::join()?;
    bind_to_core(weft.rank().0.into())?;
    let mut side = beside_messages(&weft, interface)?.side;
    let end = end_of(weft.rank());
    let mut puts = PutLine::new(weft.packets(), size)?;
    if spec.kind == Kind::PutRpc {
        let round = Shape { unit: Unit::RoundTrip, ..one_way };
        let lines: &mut [&mut dyn Line] = &mut [&mut puts, &mut CallLine::new(&weft)?];
        compare(spec, ("put-rpc", &["rpc"]), &round, end, lines, &mut side)?;
    } else {
        let many =
            Shape { pattern: Pattern::Stream, count: 8, unit: Unit::BytesPerSecond, ..one_way };
        let mut into = MessageLine::into_memory(&weft, size)?;
        let mut in_place = MessageLine::new(&weft)?;
        let lines: &mut [&mut dyn Line] = &mut [&mut puts, &mut into, &mut in_place];
        let floors = ["message into memory", "message read where it lies"];
        compare(spec, ("put", &floors), &many, end, lines, &mut side)?;
    }
    drop(puts);
    Ok(weft.leave()?)
}

/// Measures the first of `lines` beside those that it is compared with, and prints it at the first
/// end.
pub fn compare(
    spec: &Spec,
    (name, floors): (&'static str, &[&'static str]),
    shape: &Shape,
    end: End,
    lines: &mut [&mut dyn Line],
    side: &mut Side,
) -> Result<()> {
    let mut measured = measure(lines, shape, spec.rounds, end, side)?.into_iter();
    let first = measured.next().context("each line is measured")?;
    if end == End::First {
        let row = Row::new(name, (2, shape.size), shape.unit.name(), first.samples, Vec::new());
        let mut row = row.with_processor(first.processor_ns);
        if spec.arena.is_none() {
            row.link = network::link(spec);
        }
        for (floor, other) in floors.iter().zip(measured) {
            row.beside(Floor::measured(floor, row.unit, other.samples), other.processor_ns);
        }
        row.print(spec);
    }
    Ok(())
}
