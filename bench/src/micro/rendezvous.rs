//! Large messages that ask their receiver first (rendezvous, as in NX/2; careful-protocols 3 and
//! 7), beside those that are sent at once: one way, and bytes a second in a row, to a receiver that
//! waits for each and reads it where it lies. What asking first saves, the memory of a receiver
//! that does not read, is in docs/paper/rendezvous.md.

use crate::micro::launch::Spec;
use crate::micro::pair::hello::beside_messages;
use crate::micro::pair::wefts::{MessageLine, end_of};
use crate::micro::pair::{Line, Pattern, Shape, Unit, bind_to_core};
use crate::micro::put::compare;
use anyhow::Result;

/// A rank's part.
pub fn rank(spec: &Spec, interface: Option<&str>) -> Result<()> {
    let size = spec.size().max(1);
    let weft = weft::join()?;
    bind_to_core(weft.rank().0.into())?;
    let mut side = beside_messages(&weft, interface)?.side;
    let end = end_of(weft.rank());
    let (mut asking, mut at_once) = (MessageLine::asking_first(&weft)?, MessageLine::new(&weft)?);
    let one_way =
        Shape { pattern: Pattern::PingPong, size, count: 8, unit: Unit::OneWay, each: false };
    let many = Shape { pattern: Pattern::Stream, count: 8, unit: Unit::BytesPerSecond, ..one_way };
    for (name, shape) in [("rendezvous", one_way), ("rendezvous-stream", many)] {
        let lines: &mut [&mut dyn Line] = &mut [&mut asking, &mut at_once];
        compare(spec, (name, &["sent at once"]), &shape, end, lines, &mut side)?;
    }
    Ok(weft.leave()?)
}
