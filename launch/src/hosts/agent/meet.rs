//! The part of an agent that finds out which other hosts this one reaches.

use std::time::Duration;

use super::error::AgentError;
use super::uplink::Uplink;
use crate::hosts::ethernet::EthernetProbe;
use crate::hosts::pace::{Pace, Probe, Progress};
use crate::hosts::probe::UdpProbe;
use crate::hosts::tcp::TcpProbe;
use crate::messages::hosts::{FromAgent, ToAgent};

/// Ways that the hosts have agreed on: Ethernet, multicasts that the network copies, TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Agreed {
    pub over_ethernet: bool,
    pub copied: bool,
    pub bulk: bool,
}

/// Probes by which this host meets the others.
pub(super) struct Meet {
    pub meeting: UdpProbe,
    /// Over Ethernet, if that is tried.
    pub greeting: Option<EthernetProbe>,
    pub tcp: TcpProbe,
    /// True if answers over UDP count.
    pub needs_udp: bool,
}

impl Meet {
    /// Meets the others, says whom it has not met in time, and answers on until the launcher says
    /// go. Returns what they have agreed on.
    pub fn run(mut self, uplink: &mut Uplink, limit: Duration) -> Result<Agreed, AgentError> {
        let (mut pace, mut told) = (Pace::new(limit), false);
        loop {
            self.take_in();
            let progress = self.progress();
            if !told && pace.is_over(progress) {
                told = true;
                uplink.send(&self.missed());
            }
            if pace.asks_now(progress) {
                self.ask();
            }
            let timeout = pace.wait(progress, told);
            let ethernet = self.greeting.iter().map(EthernetProbe::arrivals);
            let arrivals: Vec<_> = ethernet.chain([self.meeting.arrivals()]).collect();
            uplink.wait(&arrivals, timeout)?;
            match uplink.take()? {
                None => {}
                Some(ToAgent::Go { over_ethernet, copied, bulk }) if told => {
                    return Ok(Agreed { over_ethernet, copied, bulk });
                }
                Some(_) => return Err(AgentError::out_of_order()),
            }
        }
    }

    fn take_in(&mut self) {
        self.meeting.take_in();
        self.tcp.take_in();
        self.greeting.iter_mut().for_each(EthernetProbe::take_in);
    }

    fn ask(&mut self) {
        self.meeting.ask();
        self.tcp.ask();
        self.greeting.iter_mut().for_each(EthernetProbe::ask);
    }

    fn progress(&self) -> Progress {
        let (over_udp, greeting) = (self.meeting.progress(), self.greeting.as_ref());
        let over_ethernet = greeting.map(EthernetProbe::progress);
        let by_all = |of: fn(Progress) -> bool| {
            (of(over_udp) || !self.needs_udp) && over_ethernet.is_none_or(of)
        };
        Progress {
            met_all: by_all(|progress| progress.met_all),
            copies: over_udp.copies || over_ethernet.is_some_and(|progress| progress.copies),
            heard_all: by_all(|progress| progress.heard_all) && !self.tcp.waits(),
        }
    }

    fn missed(&self) -> FromAgent {
        FromAgent::Met {
            udp: self.meeting.reached(),
            ethernet: self.greeting.iter().flat_map(EthernetProbe::missed).collect(),
            copied: self.meeting.uncopied().collect(),
            copied_ethernet: self.greeting.iter().flat_map(EthernetProbe::uncopied).collect(),
            tcp: self.tcp.missed().collect(),
        }
    }
}

#[cfg(test)]
mod tests;
