//! A host's interface under AF_XDP: taken, tried with those of the other hosts, and given to the
//! ranks.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::{Link, Payload, has_buffered};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId};
use weft_xdp::{
    Attached, Greeter, Interface, MacAddress, Mode, SocketRequest, TakenInterface, Xdp, XdpError,
    XdpPort, XdpSettings, XdpSizes, group_of, is_pair, runs_programs, take,
};

use super::pace::{Probe, Progress, TAKEN_AT_ONCE, greeters, probed};
use crate::messages::EthernetAccess;
use crate::messages::hosts::{Begin, FarLink};
use crate::mtu::Mtu;

/// Frames to send from.
const FRAMES: u32 = 512;
/// Frames for packets that a rank may keep, beside one of each rank of a large job.
const RECEIVE_FRAMES: u32 = 1024;
/// Ranks from which on a job is large.
const MANY_RANKS: u16 = 256;

/// Purpose of the secret for greetings.
const GREETINGS: &str = "Weft, greetings of hosts over Ethernet, version 1";
/// Hosts that one greeting to all reaches: packets have room for as many receivers.
const AT_ONCE: usize = 8;

/// Headers of questions and answers between hosts, where packets have credits.
const QUESTION: u16 = 0;
const ANSWER: u16 = 1;

/// Purpose that an interface is taken for.
#[derive(Clone, Debug)]
pub(crate) struct Purpose {
    /// Its name.
    pub interface: String,
    /// By which links hosts may reach one another.
    pub far: FarLink,
    /// Longest packets between hosts.
    pub mtu: Mtu,
    /// This host's number, and its ranks.
    pub host: u16,
    pub here: Vec<Rank>,
    /// The ranks of the job.
    pub ranks: u16,
    /// The job's number and its secret.
    pub job: u32,
    pub secret: Secret,
    /// True if the network is to copy multicasts, if it does.
    pub copied: bool,
}

impl Purpose {
    /// Purpose that an agent takes it for.
    pub fn of(begin: &Begin) -> Self {
        Purpose {
            interface: begin.interface.clone(),
            far: begin.far,
            mtu: begin.mtu,
            host: begin.host,
            here: begin.here.clone(),
            ranks: begin.room,
            job: begin.job,
            secret: begin.secret.clone(),
            copied: begin.copied,
        }
    }

    fn sizes(&self) -> XdpSizes {
        XdpSizes {
            frames: FRAMES,
            receive_frames: RECEIVE_FRAMES + u32::from(self.ranks.saturating_sub(MANY_RANKS)),
        }
    }
}

/// An interface that is ours. It is given back when this is dropped, or the process ends in any
/// way, and nobody else has its keepers.
pub(crate) struct Attachment {
    purpose: Purpose,
    address: MacAddress,
    taken: TakenInterface,
}

impl Attachment {
    /// Takes the interface, and all that its ranks will have, so that what cannot be had is known
    /// before there are any.
    ///
    /// # Errors
    /// What is missing, and what to do about it.
    pub fn take(purpose: Purpose) -> Result<Self, XdpError> {
        if !cfg!(feature = "xdp") {
            return Err(XdpError::Without);
        }
        let interface = Interface::find(&purpose.interface)?;
        // Where nothing is gained over UDP, only who insists gets it.
        let generic = || XdpError::Generic(purpose.interface.clone());
        let insists = purpose.far == FarLink::Xdp;
        if !insists && runs_programs(&interface) == Some(false) {
            return Err(generic());
        }
        let (mtu, most) = (purpose.mtu, interface.mtu());
        if usize::from(mtu.bytes()) > most {
            return Err(XdpError::Sizes(format!(
                "packets of {mtu} bytes are more than {} takes, whose MTU is {most}: give what it takes with --mtu",
                purpose.interface
            )));
        }
        let request = SocketRequest {
            interface: interface.index(),
            job: purpose.job,
            ranks: purpose.here.iter().map(|rank| rank.0).collect(),
            sizes: purpose.sizes(),
            greeter: Some(Greeter { job: job_of_hosts(purpose.job), host: purpose.host }),
            copied: purpose.copied,
        };
        let taken = take(&interface, request)?;
        if !insists && taken.mode.attached == Attached::Generic && !is_pair(&interface) {
            return Err(generic());
        }
        Ok(Attachment { purpose, address: interface.mac(), taken })
    }

    /// The interface's address.
    pub fn address(&self) -> MacAddress {
        self.address
    }

    /// Mode in which it is used.
    pub fn mode(&self) -> Mode {
        self.taken.mode
    }

    /// This host's part in finding out who reaches whom.
    ///
    /// # Errors
    /// What the system says.
    pub fn greet(&mut self, interfaces: Vec<MacAddress>) -> io::Result<EthernetProbe> {
        let port = self.taken.greeter.take().ok_or(io::ErrorKind::AlreadyExists)?;
        let hosts = interfaces.len() as u16;
        let own = Rank(self.purpose.host);
        let job = job_of_hosts(self.purpose.job);
        let secret = self.purpose.secret.derive(GREETINGS);
        let keys = Keys::new(secret, job, own, Protection::Tagged);
        let mtu = self.purpose.mtu.bytes().into();
        let group = self.taken.groups.as_ref().map(|_| group_of(job));
        let link = weft_xdp::attach(XdpSettings { port, peers: interfaces, keys, mtu, group })?;
        let others: Vec<Rank> = (0..hosts).map(Rank).filter(|host| *host != own).collect();
        let missed: BTreeSet<Rank> = probed(own.0, hosts).into_iter().map(Rank).collect();
        let mut uncopied: BTreeSet<Rank> = greeters(hosts).into_iter().map(Rank).collect();
        let greets = uncopied.remove(&own);
        let copies = group.is_some();
        Ok(EthernetProbe {
            arrivals: link.arrivals()?,
            link,
            own,
            others,
            missed,
            copies,
            greets,
            uncopied,
        })
    }

    /// A way for each rank of this host, once it has greeted the others; `copied` says whether the
    /// network copies their multicasts.
    pub fn open(
        &mut self,
        interfaces: &[MacAddress],
        copied: bool,
    ) -> Vec<(EthernetAccess, [OwnedFd; 2])> {
        if !copied {
            self.taken.groups = None;
        }
        let access = |port: XdpPort| {
            let (port, descriptors) = port.into_parts();
            (EthernetAccess { interfaces: interfaces.to_vec(), port }, descriptors)
        };
        self.taken.ports.drain(..).map(access).collect()
    }

    /// Descriptors that keep the interface, for those that are to go on when this process has
    /// ended.
    ///
    /// # Errors
    /// What the system says.
    pub fn keepers(&self) -> io::Result<Vec<OwnedFd>> {
        let all = [&self.taken.program].into_iter().chain(&self.taken.groups);
        all.map(OwnedFd::try_clone).collect()
    }
}

/// Under this number hosts speak for themselves, so that no frame of theirs goes to a rank.
fn job_of_hosts(job: u32) -> u32 {
    !job
}

/// One host's part in finding out who reaches whom over Ethernet: each asks every other until that
/// has answered, and greets all at once, which is heard where the network copies.
pub(crate) struct EthernetProbe {
    link: Xdp,
    arrivals: OwnedFd,
    own: Rank,
    others: Vec<Rank>,
    missed: BTreeSet<Rank>,
    /// True if it greets all at once too; and the hosts whose such greeting has not been heard.
    copies: bool,
    greets: bool,
    uncopied: BTreeSet<Rank>,
}

impl EthernetProbe {
    /// The hosts that have not answered.
    pub fn missed(&self) -> impl Iterator<Item = u16> + '_ {
        self.missed.iter().map(|host| host.0)
    }

    /// The hosts whose greeting to all has not been heard.
    pub fn uncopied(&self) -> impl Iterator<Item = u16> + '_ {
        self.uncopied.iter().map(|host| host.0)
    }

    /// Greets all at once, with frames as long as the job has.
    fn greet_all(&mut self) {
        let size = self.link.capabilities().multicast_payload as u16;
        let header =
            Header::new(Tag::Mcast, self.own, TreeId::multicast(GroupId::ALL, self.own), size);
        for hosts in self.others.chunks(AT_ONCE) {
            let Some(frame) = self.link.alloc(None) else { return };
            // What is for one alone would be no such frame.
            let another = self.others.first().filter(|_| hosts.len() == 1);
            for host in hosts.iter().chain(another) {
                self.link.transmit(*host, &header, Payload::Buffer(frame));
            }
            self.link.free(frame);
            self.link.flush();
        }
    }

    fn send(&mut self, what: u16, to: Rank) {
        // Questions are as long as packets may be, so that what is narrower is found out.
        let wide = if what == QUESTION { self.link.alloc(None) } else { None };
        let size = wide.map_or(0, |_| self.link.capabilities().max_payload as u16);
        let mut header = Header::new(Tag::Credit, self.own, TreeId::unicast(self.own), size);
        header.credits = what;
        match wide {
            Some(frame) => {
                self.link.transmit(to, &header, Payload::Buffer(frame));
                self.link.free(frame);
            }
            None if what == QUESTION => {}
            None => self.link.transmit(to, &header, Payload::Empty),
        }
        self.link.flush();
    }
}

impl Probe for EthernetProbe {
    fn arrivals(&self) -> BorrowedFd<'_> {
        self.arrivals.as_fd()
    }

    fn ask(&mut self) {
        if self.copies && self.greets {
            self.greet_all();
        }
        for host in self.missed.clone() {
            self.send(QUESTION, host);
        }
    }

    fn take_in(&mut self) {
        let mut taken = 0;
        // Frames that the link has taken off its ring make nothing readable any more.
        while (taken < TAKEN_AT_ONCE || has_buffered(&self.link))
            && let Ok(Some(received)) = self.link.receive()
        {
            taken += 1;
            if let Payload::Buffer(buffer) = received.payload {
                self.link.free(buffer);
            }
            let Header { source: from, tag, credits: what, .. } = received.header;
            match what {
                _ if tag == Tag::Mcast => drop(self.uncopied.remove(&from)),
                QUESTION => self.send(ANSWER, from),
                _ => drop(self.missed.remove(&from)),
            }
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            met_all: self.missed.is_empty(),
            copies: self.copies && self.greets,
            heard_all: !self.copies || self.uncopied.is_empty(),
        }
    }
}
