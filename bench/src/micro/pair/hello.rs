//! Sockets between the ranks of a job: the second end says over Weft where it listens.

use super::End;
use super::sockets::{Sockets, Waiting};
use super::wefts::end_of;
use anyhow::{Context, Result};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use weft::{Packets, Rank, Weft};
use weft_launch::{Candidate, candidates};

/// Opens sockets beside a job of two ranks that speaks messages. `interface` is the one to go by,
/// or an address of it; `None` for any.
///
/// # Errors
/// The other end cannot be reached.
pub fn beside_messages(weft: &Weft, interface: Option<&str>) -> Result<Sockets> {
    let mailbox = weft.mailbox("hello")?;
    match end_of(weft.rank()) {
        End::First => reach(&mailbox.receive()?.text()?),
        End::Second => {
            let (waiting, place) = listen(interface)?;
            mailbox.send(Rank(0), place.as_bytes())?;
            while !weft.packets().is_flushed() {
                weft.poll()?;
            }
            waiting.accept()
        }
    }
}

/// Opens sockets beside packets. It takes the upcall.
///
/// # Errors
/// The other end cannot be reached.
pub fn beside_packets(packets: &Packets, interface: Option<&str>) -> Result<Sockets> {
    let heard = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&heard);
    packets.on_packet(move |packet| {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(packet.to_vec());
    });
    if end_of(packets.rank()) == End::Second {
        let (waiting, place) = listen(interface)?;
        let mut packet = packets.packet()?;
        packet.put(place.as_bytes())?;
        packet.unicast(Rank(0))?;
        packets.flush()?;
        return waiting.accept();
    }
    let take = || heard.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut place = None;
    packets.poll_until(|| {
        place = take();
        place.is_some()
    })?;
    reach(&String::from_utf8(place.unwrap_or_default())?)
}

/// Listens; with that, the port and the addresses by which others may reach this host, as text.
fn listen(interface: Option<&str>) -> Result<(Waiting, String)> {
    let waiting = Waiting::at(0)?;
    let addresses =
        candidates()?.into_iter().filter(|one| interface.is_none_or(|wish| fits(one, wish)));
    let mut words = vec![waiting.port()?.to_string()];
    words.extend(addresses.map(|one| one.address.to_string()));
    if words.len() == 1 {
        words.push(IpAddr::from(Ipv4Addr::LOCALHOST).to_string());
    }
    Ok((waiting, words.join(" ")))
}

/// True if a user means this one by the name of an interface, or by an address in its network.
fn fits(candidate: &Candidate, wish: &str) -> bool {
    let Ok(address) = wish.parse() else { return candidate.interface == wish };
    let bits = u32::from(candidate.prefix_bits);
    match (candidate.address, address) {
        (IpAddr::V4(own), IpAddr::V4(wish)) => {
            let differ = own.to_bits() ^ wish.to_bits();
            differ.leading_zeros() >= bits
        }
        (IpAddr::V6(own), IpAddr::V6(wish)) => {
            let differ = own.to_bits() ^ wish.to_bits();
            differ.leading_zeros() >= bits
        }
        _ => false,
    }
}

fn reach(place: &str) -> Result<Sockets> {
    let mut words = place.split(' ');
    let port = words.next().context("no port")?.parse()?;
    let addresses = words.map(str::parse).collect::<Result<Vec<IpAddr>, _>>()?;
    Sockets::connect(port, &addresses)
}

#[cfg(test)]
mod tests;
