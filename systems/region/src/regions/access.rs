//! Accesses: calls that are hits, which follow the rules and nothing else, and all others.

use super::outbox::Post;
use super::slot::{self, Slot};
use super::{Regions, Result};
use crate::RegionId;
use crate::coherence::Call;
use weft_endpoint::Block;
use weft_endpoint::biased::Biased;

impl Regions {
    /// Calls, and waits until the call goes on; then `take` has what it is made for.
    #[inline]
    pub(super) fn call<R>(
        &self,
        id: RegionId,
        slot: &Biased<Slot>,
        call: Call,
        mut take: impl FnMut(&mut Slot) -> R,
    ) -> Result<R> {
        self.node.poll_now_and_then()?;
        let mut here = slot.enter();
        if here.hit(call) {
            return Ok(take(&mut here));
        }
        drop(here);
        self.call_others(id, slot, call, take)
    }

    /// Calls where others are asked, or may have to be.
    #[inline(never)]
    fn call_others<R>(
        &self,
        id: RegionId,
        slot: &Biased<Slot>,
        call: Call,
        mut take: impl FnMut(&mut Slot) -> R,
    ) -> Result<R> {
        let mut post = Post::new(&self.node.outbox);
        let mut here = slot.enter();
        here.call(id, call, &mut post)?;
        let waits = matches!(call, Call::StartRead | Call::StartWrite | Call::Delete);
        let granted = here.outcome();
        if granted == Some(true) || !waits {
            let taken = take(&mut here);
            drop(here);
            post.send()?;
            return Ok(taken);
        }
        let refused = granted.map(|_| here.refusal(id));
        drop(here);
        post.send()?;
        match refused {
            Some(error) => Err(error),
            None => self.miss(id, slot, call, take),
        }
    }

    /// Waits until a call goes on that has to, and takes what it is made for.
    #[inline(never)]
    fn miss<R>(
        &self,
        id: RegionId,
        slot: &Biased<Slot>,
        call: Call,
        mut take: impl FnMut(&mut Slot) -> R,
    ) -> Result<R> {
        let _miss = self.node.packets.trace().span_of(|| slot::miss(call, id));
        self.node.wait(&|| slot.enter().awaited(id, call), |_| {
            let mut here = slot.enter();
            match here.outcome()? {
                true => Some(Ok(take(&mut here))),
                false => Some(Err(here.refusal(id))),
            }
        })?
    }

    /// The bytes of a region, for a writer that was let in.
    #[inline]
    pub(super) fn writable(&self, slot: &mut Slot) -> Result<Block> {
        slot.take(&self.node.outbox)
    }

    /// Ends an access, once `give_back` has given back what it was made for.
    #[inline]
    pub(super) fn end(
        &self,
        id: RegionId,
        slot: &Biased<Slot>,
        call: Call,
        give_back: impl FnOnce(&mut Slot),
    ) -> Result<()> {
        let mut here = slot.enter();
        give_back(&mut here);
        if here.hit(call) {
            return Ok(());
        }
        drop(here);
        self.end_for_others(id, slot, call)
    }

    /// Ends an access for whose end somebody waits.
    #[inline(never)]
    fn end_for_others(&self, id: RegionId, slot: &Biased<Slot>, call: Call) -> Result<()> {
        let mut post = Post::new(&self.node.outbox);
        let mut here = slot.enter();
        here.call(id, call, &mut post)?;
        drop(here);
        Ok(post.send()?)
    }
}
