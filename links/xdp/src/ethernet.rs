//! One rank's attachment: its rings, and the Ethernet addresses of all ranks.

use crate::interface::MacAddress;
use crate::multicast::{of_place, places_of};
use crate::port::{ENVELOPE_START, Mode, PortPlan, SEND_START, SharedPlan, XdpPort};
use crate::rings::Rings;
use rustix::net::sockopt;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use weft_datagram::memory::DatagramPlace;
use weft_datagram::seal::Keys;
use weft_datagram::{
    ArrivalSource, DatagramBells, DatagramLink, DatagramSettings, Device, Landed, Queues,
};

/// A link over AF_XDP.
pub type Xdp = DatagramLink<Ethernet>;

/// Settings with which a rank attaches.
#[derive(Debug)]
pub struct XdpSettings {
    /// Its way to the interface, of [`crate::XdpHost::open`].
    pub port: XdpPort,
    /// The Ethernet address of every rank's interface, by rank.
    pub peers: Vec<MacAddress>,
    /// Keys of the job, and this rank's number.
    pub keys: Keys,
    /// The narrowest MTU of the ranks' interfaces, in bytes.
    pub mtu: usize,
    /// If the network copies frames to the hosts of all ranks, and these [have
    /// joined](crate::XdpHost::join), the [group](crate::group_of): multicasts to ranks with the
    /// same place on their hosts leave as one frame. Not if packets are encrypted.
    pub group: Option<MacAddress>,
}

/// Attaches to a job.
///
/// # Errors
/// Those of the kernel about the port, or that the settings leave no room for packets.
pub fn attach(settings: XdpSettings) -> io::Result<Xdp> {
    let XdpSettings { port, peers, keys, mtu, group } = settings;
    let PortPlan { shared: plan, index } = port.plan;
    let (own, ranks) = (keys.own(), peers.len());
    let mtu = mtu.min(port.mtu());
    let mode = port.mode();
    let (rings, mut frames) = Rings::new(port)?;
    let sizes = plan.layout.sizes_of(index);
    let places = frames.split_off(sizes.frames as usize);
    let first = frames.first().map_or(0, DatagramPlace::index);
    let settings = DatagramSettings {
        keys,
        ranks,
        room: ENVELOPE_START..ENVELOPE_START + mtu,
        header_bytes: 0,
        reliable: false,
        receive_frames: sizes.receive_frames as usize,
        // The kernel brings them.
        places: Vec::new(),
        bells: Arc::new(DatagramBells::new(Arc::clone(&rings.socket) as _)?),
        frames,
    };
    let header = |to: MacAddress| ethernet_header(&plan, to);
    let mut ethernet = Ethernet {
        rings,
        frames: first..first + sizes.frames,
        places,
        headers: peers.iter().copied().map(header).collect(),
        groups: Vec::new(),
        mode,
    };
    let Some(group) = group else { return DatagramLink::new(ethernet, settings) };
    let numbers = places_of(own, &peers);
    let to = |number: &Option<u16>| of_place(group, number.unwrap_or_default());
    ethernet.groups = numbers.iter().map(|number| header(to(number))).collect();
    Ok(DatagramLink::new(ethernet, settings)?.sharing(numbers))
}

type EthernetHeader = [u8; ENVELOPE_START - SEND_START];

/// Ethernet header of frames to `to`.
fn ethernet_header(plan: &SharedPlan, to: MacAddress) -> EthernetHeader {
    let mut bytes = [0; ENVELOPE_START - SEND_START];
    bytes[..6].copy_from_slice(&to.0);
    bytes[6..12].copy_from_slice(&plan.mac.0);
    bytes[12..].copy_from_slice(&plan.ethertype.to_be_bytes());
    bytes
}

/// Rings of one rank at an interface, and what is written before its frames.
pub struct Ethernet {
    rings: Rings,
    /// Indices of the chunks that are frames of the program's.
    frames: Range<u32>,
    /// Chunks for datagrams that packets are copied to.
    places: Vec<DatagramPlace>,
    /// By rank: the header of frames to it.
    headers: Vec<EthernetHeader>,
    /// By rank: the same of one for several, of which that rank is one; empty where the network
    /// copies none.
    groups: Vec<EthernetHeader>,
    mode: Mode,
}

impl Ethernet {
    /// Mode in which the interface is used.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Frames that the kernel dropped because this rank did not look, or gave none to land in.
    pub fn overrun(&self) -> u64 {
        // A kernel that does not count has dropped nothing that we know of.
        let kernel = sockopt::xdp_statistics(&*self.rings.socket).ok();
        kernel.map_or(0, |kernel| {
            let sum = kernel.rx_dropped + kernel.rx_ring_full.unwrap_or(0);
            sum + kernel.rx_fill_ring_empty_descs.unwrap_or(0)
        })
    }

    /// Descriptors in the rings that named no frame.
    pub fn bad_descriptors(&self) -> u64 {
        self.rings.bad_descriptors
    }
}

impl ArrivalSource<DatagramPlace> for Ethernet {
    #[inline]
    fn look(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> bool {
        self.rings.look(spare, arrived)
    }
}

impl Device for Ethernet {
    const SENDS_FRAMES: bool = true;

    #[inline]
    fn place(&mut self) -> Option<DatagramPlace> {
        self.places.pop()
    }

    #[inline]
    fn send(&mut self, Queues { outgoing, seals, .. }: &mut Queues) -> bool {
        outgoing.seal(seals);
        while let Some(mut first) = outgoing.pop() {
            outgoing.sent.datagrams += 1;
            let end = first.end();
            let headers = if first.is_for_several() { &self.groups } else { &self.headers };
            first.place[SEND_START..ENVELOPE_START].copy_from_slice(&headers[first.to.index()]);
            self.rings.submit(first.place, SEND_START, end);
        }
        let waits = self.rings.kick();
        outgoing.sent.calls = self.rings.calls;
        waits
    }

    #[inline]
    fn returned(&mut self) -> Option<DatagramPlace> {
        loop {
            let place = self.rings.reclaim()?;
            if self.frames.contains(&place.index()) {
                return Some(place);
            }
            self.places.push(place);
        }
    }

    fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        self.rings.sending(index)
    }

    #[inline]
    fn has_work(&self) -> bool {
        self.rings.has_in_flight()
    }
}
