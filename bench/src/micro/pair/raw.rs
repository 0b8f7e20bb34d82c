//! The floor of AF_XDP: frames without a protocol, over an interface of their own.

use super::End;
use super::datagrams::{Datagrams, WINDOW};
use super::side::Side;
use super::spin::spin;
use anyhow::Result;
use std::os::fd::OwnedFd;
use weft::Rank;
use weft_xdp::{
    Interface, MacAddress, Raw, SocketRequest, XdpError, XdpPort, XdpSizes, take as take_interface,
};

/// Frames in each direction: more than are ever under way.
const FRAMES: u32 = 4 * WINDOW as u32;
const SIZES: XdpSizes = XdpSizes { frames: FRAMES, receive_frames: FRAMES };
/// A number like a job's, for the two ends.
const JOB: u32 = 1;

/// Frames over AF_XDP, looked for again and again.
pub struct RawXdp {
    raw: Raw,
    buffer: Vec<u8>,
    /// Keeps the program on the interface.
    _program: OwnedFd,
}

impl RawXdp {
    /// Takes this interface, as the other end does, and returns why it could not be had at either
    /// end.
    ///
    /// # Errors
    /// The other end has gone.
    pub fn open(interface: &str, end: End, side: &mut Side) -> Result<Result<Self, String>> {
        let (own, other) = match end {
            End::First => (Rank(0), Rank(1)),
            End::Second => (Rank(1), Rank(0)),
        };
        let taken = take(interface, JOB, own, SIZES);
        let address = taken.as_ref().map_or(0.0, |(_, port)| number_of(port.mac()));
        let theirs = side.exchange(address)?;
        let (program, port) = match taken {
            Ok(taken) => taken,
            Err(error) => return Ok(Err(error.to_string())),
        };
        if theirs == 0.0 {
            return Ok(Err("the other end cannot have it".into()));
        }
        let raw = Raw::new(port, address_of(theirs), JOB, other)?;
        // The other end hears only when it has its rings.
        side.meet(|| Ok(()))?;
        Ok(Ok(RawXdp { buffer: vec![0; raw.most_bytes()], raw, _program: program }))
    }
}

/// Takes an interface for one rank, with what keeps the program on it.
///
/// # Errors
/// Things that are missing, and what to do about them.
pub fn take(
    interface: &str,
    job: u32,
    own: Rank,
    sizes: XdpSizes,
) -> Result<(OwnedFd, XdpPort), XdpError> {
    let interface = Interface::find(interface)?;
    let request = SocketRequest {
        interface: interface.index(),
        job,
        ranks: vec![own.0],
        sizes,
        greeter: None,
        copied: false,
    };
    let mut taken = take_interface(&interface, request)?;
    let port = taken.ports.pop();
    let port = port.ok_or_else(|| XdpError::Sizes("no port was made".into()))?;
    Ok((taken.program, port))
}

/// An address as a number: 48 bits are exact in it, and none is 0.
fn number_of(address: MacAddress) -> f64 {
    address.0.iter().fold(0.0, |number, byte| number * 256.0 + f64::from(*byte))
}

fn address_of(number: f64) -> MacAddress {
    let [_, _, address @ ..] = (number as u64).to_be_bytes();
    MacAddress(address)
}

impl Datagrams for RawXdp {
    fn datagram_bytes(&self) -> usize {
        self.raw.most_bytes()
    }

    fn send_one(&mut self, bytes: &[u8]) -> Result<()> {
        spin("AF_XDP", || {
            let has_room = self.raw.put(bytes);
            if !has_room {
                self.raw.flush();
            }
            Ok(has_room.then_some(()))
        })
    }

    fn flush(&mut self) {
        self.raw.flush();
    }

    fn receive_one(&mut self) -> Result<usize> {
        let some =
            spin("AF_XDP, which sends nothing again", || Ok(self.raw.receive(&mut self.buffer)))?;
        std::hint::black_box(&self.buffer[..some]);
        Ok(some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_as_a_number() {
        let address = MacAddress([0x02, 0xff, 0x01, 0x80, 0x00, 0xfe]);
        assert_eq!(address_of(number_of(address)), address);
    }
}
