//! The last a program does on a network: it stays until all has arrived, and then for others; and
//! heartbeats, by which they know meanwhile that it lives.

use crate::Result;
use crate::ni::interface::Interface;
use crate::ni::offloaded::Side;
use crate::presence::stay::Stay;
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::Waiter;
use weft_link::clock::Clock;

impl<L: Link> Interface<L> {
    /// Period in which this node has to be looked at, whatever its program and its upcalls do;
    /// `None` if it need not.
    pub(crate) fn heartbeat(&self) -> Option<Duration> {
        let silence = self.inner.enter().ni.settings().silence.filter(|_| L::NETWORK.is_some());
        silence.map(|silence| Duration::from_nanos(silence.heartbeat_after / 2))
    }

    /// Looks at this node, and leaves arrivals to the upcall thread.
    pub(crate) fn beat(&self) {
        if L::NETWORK.is_some() {
            self.serve();
        }
        if self.try_has_arrivals().unwrap_or(false) {
            self.attendance.bells.ring(Waiter::Upcall);
        }
    }

    /// Stays until all packets of this rank are acknowledged, and then for others, for a while.
    ///
    /// The first ends because every peer acknowledges, ends, or is lost, which the protocol says
    /// (`silence`). A peer that lives and holds packets may take as long as its program does.
    pub(crate) fn linger_until_quiet(&self) {
        self.disconnect();
        let mut stay = Stay::new(self.clock.now(), self.inner.enter().ni.settings());
        while let Ok(any) = self.receive_and_forget() {
            let now = self.clock.now();
            let until = stay.until(now, any, self.inner.enter().is_flushed());
            if now >= until {
                return;
            }
            if !any {
                self.doze(Duration::from_nanos(until - now));
            }
        }
    }

    fn disconnect(&self) {
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        let (ni, mut out) = inner.split(Side::Host);
        ni.disconnect(&mut out);
        self.exit_and_flush(inner);
    }

    /// Receives, and releases at once the packets for a program that has ended: peers may wait for
    /// packets behind them.
    fn receive_and_forget(&self) -> Result<bool> {
        let any = self.drain()?;
        let mut inner = self.inner.enter();
        while let Some(delivery) = inner.pending.pop_front() {
            inner.release(delivery);
        }
        self.exit_and_flush(inner);
        Ok(any)
    }

    /// Sleeps until something arrives, a timer runs out, or `limit` has passed.
    fn doze(&self, limit: Duration) {
        let Some(ticket) = self.inner.enter().link.arm(Waiter::Host) else { return };
        self.attendance.bells.wait(Waiter::Host, ticket, limit.min(self.until_timer()));
        self.inner.enter().link.disarm(Waiter::Host);
    }
}
