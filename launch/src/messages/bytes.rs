//! Writing and reading the parts that messages are made of.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{BadMessage, MESSAGE_BYTES_MAX, TEXT_BYTES_MAX, VERSION};
use crate::mtu::Mtu;
use weft_seal::Protection;

pub(crate) const MARK: [u8; 4] = *b"weft";

/// The beginning of a message.
pub(crate) fn begin(kind: u16) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes
}

pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// Any bytes, such as a path.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, some: &[u8]) {
    bytes.extend((some.len() as u32).to_le_bytes());
    bytes.extend(some);
}

pub(crate) fn put_ip(bytes: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(four) => {
            bytes.push(4);
            bytes.extend(four.octets());
        }
        IpAddr::V6(six) => {
            bytes.push(6);
            bytes.extend(six.octets());
        }
    }
}

pub(crate) fn put_address(bytes: &mut Vec<u8>, address: SocketAddr) {
    put_ip(bytes, address.ip());
    bytes.extend(address.port().to_le_bytes());
}

pub(crate) fn put_mtu(bytes: &mut Vec<u8>, mtu: Mtu) {
    bytes.extend(mtu.bytes().to_le_bytes());
}

/// Protections that a job may have, in the order of their numbers.
const PROTECTIONS: [Protection; 3] =
    [Protection::Headers, Protection::Tagged, Protection::Encrypted];

pub(crate) fn put_protection(bytes: &mut Vec<u8>, protection: Protection) {
    let number = PROTECTIONS.iter().position(|one| *one == protection);
    bytes.push(number.unwrap_or_default() as u8);
}

/// The kind of the message in `bytes`, and its body.
pub(crate) fn open(bytes: &[u8]) -> Result<(u16, Body<'_>), BadMessage> {
    open_long(bytes, MESSAGE_BYTES_MAX)
}

/// Opens messages with a limit of their own.
pub(crate) fn open_long(bytes: &[u8], bytes_max: usize) -> Result<(u16, Body<'_>), BadMessage> {
    let mut body = Body(bytes);
    if body.take::<4>()? != MARK {
        return Err(BadMessage::Mark);
    }
    let theirs = body.u16()?;
    if theirs != VERSION {
        return Err(BadMessage::Version { theirs });
    }
    if bytes.len() > bytes_max {
        return Err(BadMessage::Long);
    }
    Ok((body.u16()?, body))
}

/// The bytes of a message that are not yet read.
pub(crate) struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N], BadMessage> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(BadMessage::Short)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8, BadMessage> {
        self.take().map(u8::from_le_bytes)
    }

    pub fn u16(&mut self) -> Result<u16, BadMessage> {
        self.take().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, BadMessage> {
        self.take().map(u32::from_le_bytes)
    }

    /// A truth value.
    pub fn flag(&mut self) -> Result<bool, BadMessage> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(BadMessage::Range("flag")),
        }
    }

    pub fn text(&mut self) -> Result<String, BadMessage> {
        let length = usize::from(self.u16()?);
        if length > TEXT_BYTES_MAX {
            return Err(BadMessage::Range("text"));
        }
        let text = self.split(length)?;
        String::from_utf8(text.to_vec()).map_err(|_| BadMessage::Text)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], BadMessage> {
        let length = self.u32()? as usize;
        self.split(length)
    }

    pub fn ip(&mut self) -> Result<IpAddr, BadMessage> {
        match self.u8()? {
            4 => Ok(Ipv4Addr::from(self.take::<4>()?).into()),
            6 => Ok(Ipv6Addr::from(self.take::<16>()?).into()),
            _ => Err(BadMessage::Range("kind of address")),
        }
    }

    pub fn mtu(&mut self) -> Result<Mtu, BadMessage> {
        Mtu::new(self.u16()?).ok_or(BadMessage::Range("MTU"))
    }

    pub fn protection(&mut self) -> Result<Protection, BadMessage> {
        PROTECTIONS.get(usize::from(self.u8()?)).copied().ok_or(BadMessage::Range("protection"))
    }

    pub fn address(&mut self) -> Result<SocketAddr, BadMessage> {
        Ok(SocketAddr::new(self.ip()?, self.u16()?))
    }

    /// List behind its length, of at most `most` elements.
    pub fn list<T>(
        &mut self,
        most: usize,
        mut one: impl FnMut(&mut Self) -> Result<T, BadMessage>,
    ) -> Result<Vec<T>, BadMessage> {
        let count = usize::from(self.u16()?);
        if count > most {
            return Err(BadMessage::Range("count"));
        }
        (0..count).map(|_| one(self)).collect()
    }

    pub fn end(&self) -> Result<(), BadMessage> {
        if self.0.is_empty() { Ok(()) } else { Err(BadMessage::Long) }
    }

    fn split(&mut self, length: usize) -> Result<&'a [u8], BadMessage> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(BadMessage::Short)?;
        self.0 = rest;
        Ok(taken)
    }
}
