//! Scans: each member gets what the members up to it, or before it, bring, combined.
//!
//! Everything goes from a member to one with a larger number, so that no two members wait for one
//! another, however long the values are. The bits of a result depend on the number of its member,
//! and on nothing that differs between runs.
//!
//! **Recursive doubling**, for short values: in step `k` each member sends what it has to the
//! member 2ᵏ further, and combines what it gets with that. So it has combined those from 2ᵏ⁺¹ - 1
//! before it to its own, after as many steps as the number of members has binary digits.
//!
//! **A chain**, for long values: each member combines what the one before it gives with its own,
//! and hands it on, in pieces. While one member combines a piece the next has the piece before it,
//! so that each member sends the values once, and the chain is as fast as its slowest link.

use super::{ACROSS, Area, Extent, Plan, Receivers, ScheduleStep};
use std::ops::Range;

impl Plan<'_> {
    /// The scan of `bytes` bytes; without each member's own if it is `exclusive`, so that member 0
    /// gets nothing.
    pub(super) fn scan(&mut self, bytes: usize, exclusive: bool) {
        match self.is_shared_out(bytes) {
            true => self.chain(bytes, exclusive),
            false => self.double(bytes, exclusive),
        }
    }

    fn double(&mut self, bytes: usize, exclusive: bool) {
        let (me, size) = (self.me, self.size);
        let mine = Extent::new(Area::Mine, 0..bytes);
        let block = |member| Extent::new(Area::Block(member), 0..bytes);
        let mut own = mine;
        let distances = (0..).map_while(|bit| 1_usize.checked_shl(bit));
        for distance in distances.take_while(|&distance| distance < size) {
            if me + distance < size {
                self.send(me + distance, ACROSS, own);
            }
            let Some(from) = me.checked_sub(distance) else { continue };
            self.receive(from, ACROSS, block(from));
            self.wait();
            if !exclusive || me + 2 * distance < size {
                if own == mine {
                    own = block(me);
                    self.steps.push_back(ScheduleStep::Copy(mine, own));
                }
                self.steps.push_back(ScheduleStep::Combine(block(from), me));
            }
            // The first block is that of the member just before this one, to which the others'
            // are added.
            if exclusive && distance > 1 {
                self.steps.push_back(ScheduleStep::Combine(block(from), me - 1));
            }
        }
        match exclusive {
            false => self.copy(own, 0),
            true if me > 0 => self.copy(block(me - 1), 0),
            true => {}
        }
    }

    fn chain(&mut self, bytes: usize, exclusive: bool) {
        let (me, size) = (self.me, self.size);
        let pieces = pieces(bytes, self.tuning.shared_out_bytes, self.call.size);
        if me == 0 {
            for piece in pieces {
                let before = piece.start;
                let mine = Extent::new(Area::Mine, piece);
                self.send_round(Receivers::Member(1), ACROSS, mine, before);
                self.wait();
            }
            if !exclusive {
                self.copy(Extent::new(Area::Mine, 0..bytes), 0);
            }
            return;
        }
        let is_last = me + 1 == size;
        for (piece, block) in pieces.zip([me, me - 1].into_iter().cycle()) {
            let before = piece.start;
            let [mine, given] = [Area::Mine, Area::Result].map(|it| Extent::new(it, piece.clone()));
            let all = Extent::new(Area::Block(block), 0..piece.len());
            let combines = !exclusive || !is_last;
            if combines {
                // Of two blocks one is filled while the other leaves. What is given may overwrite
                // this member's own.
                self.steps.extend([ScheduleStep::Clear(block), ScheduleStep::Copy(mine, all)]);
            }
            self.steps.push_back(ScheduleStep::Receive(me - 1, ACROSS, given, before));
            self.wait();
            if combines {
                self.steps.push_back(ScheduleStep::Combine(given, block));
            }
            if !is_last {
                self.send_round(Receivers::Member(me + 1), ACROSS, all, before);
            }
            if !exclusive {
                self.copy(all, before);
            }
        }
    }
}

/// Pieces of `bytes` bytes, each of whole elements of `size` bytes, and of no more than `most`
/// bytes if elements are no longer than that.
fn pieces(bytes: usize, most: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let step = (most / size.max(1)).max(1) * size.max(1);
    (0..bytes).step_by(step).map(move |start| start..bytes.min(start + step))
}
