//! Facts with which an agent begins.

use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use weft_link_shm::Settings;
use weft_seal::{Protection, Secret};

use super::{BEGIN, FarLink, HOST_MESSAGE_BYTES_MAX, HOSTS_MAX, RANKS_MAX, put_list};
use crate::messages::bytes::{Body, begin, put_bytes, put_ip, put_mtu, put_protection, put_text};
use crate::messages::{BadMessage, MESSAGE_BYTES_MAX, Options, cut, put_options, put_settings};
use crate::messages::{take_options, take_settings};
use crate::mtu::Mtu;

/// The most arguments of a program, as far as one message goes.
const ARGUMENTS_MAX: usize = 16 * 1024;

/// Facts that an agent must know to start the ranks of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The host's number.
    pub host: u16,
    /// Its first rank.
    pub first: u16,
    /// The ranks of the job.
    pub ranks: u16,
    /// The sizes of the memory of its ranks, and how many they are.
    pub settings: Settings,
    /// The job's options.
    pub options: Options,
    /// The program to find.
    pub program: OsString,
    /// Directory to run it in.
    pub directory: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// True if each rank stays on a core.
    pub bound_to_cores: bool,
    /// True if the output is for a terminal.
    pub terminal: bool,
    /// The job's number.
    pub job: u32,
    /// The job's secret.
    pub secret: Secret,
    /// Protection of packets between hosts.
    pub protection: Protection,
    /// Longest packets between hosts.
    pub mtu: Mtu,
    /// The address of this host to bind sockets to.
    pub address: IpAddr,
    /// The interface that has it.
    pub interface: String,
    /// By which links hosts may reach one another.
    pub far: FarLink,
    /// True if sockets are to hear what the network copies.
    pub copied: bool,
    /// True if long packets are to go over TCP, if hosts reach one another so.
    pub bulk: bool,
}

impl Begin {
    pub(super) fn emit(&self) -> Vec<u8> {
        let mut bytes = begin(BEGIN);
        for number in [self.host, self.first, self.ranks] {
            bytes.extend(number.to_le_bytes());
        }
        put_settings(&mut bytes, &self.settings);
        put_options(&mut bytes, &self.options);
        put_bytes(&mut bytes, self.program.as_bytes());
        put_bytes(&mut bytes, self.directory.as_bytes());
        put_list(&mut bytes, &self.arguments, |bytes, text| put_bytes(bytes, text.as_bytes()));
        bytes.push(self.bound_to_cores.into());
        bytes.push(self.terminal.into());
        bytes.extend(self.job.to_le_bytes());
        bytes.extend(self.secret.expose());
        put_protection(&mut bytes, self.protection);
        put_mtu(&mut bytes, self.mtu);
        put_ip(&mut bytes, self.address);
        put_text(&mut bytes, cut(&self.interface));
        self.far.put(&mut bytes);
        bytes.push(self.copied.into());
        bytes.push(self.bulk.into());
        bytes
    }

    pub(super) fn take(body: &mut Body<'_>) -> Result<Self, BadMessage> {
        let (host, first, ranks) = (body.u16()?, body.u16()?, body.u16()?);
        let settings = take_settings(body)?;
        if ranks > RANKS_MAX || u32::from(first) + u32::from(settings.ranks) > ranks.into() {
            return Err(BadMessage::Range("number of ranks"));
        }
        if usize::from(host) >= HOSTS_MAX {
            return Err(BadMessage::Range("host"));
        }
        let options = take_options(body)?;
        let text = |body: &mut Body<'_>| Ok(OsString::from_vec(body.bytes()?.to_vec()));
        Ok(Begin {
            host,
            first,
            ranks,
            settings,
            options,
            program: text(body)?,
            directory: text(body)?,
            arguments: body.list(ARGUMENTS_MAX, text)?,
            bound_to_cores: body.flag()?,
            terminal: body.flag()?,
            job: body.u32()?,
            secret: Secret::new(body.take()?),
            protection: body.protection()?,
            mtu: body.mtu()?,
            address: body.ip()?,
            interface: body.text()?,
            far: FarLink::take(body)?,
            copied: body.flag()?,
            bulk: body.flag()?,
        })
    }
}

/// True if these words fit into the message that carries them to an agent.
pub fn command_fits(program: &OsStr, arguments: &[OsString]) -> bool {
    let bytes: usize = arguments.iter().map(|argument| argument.len() + 4).sum();
    arguments.len() <= ARGUMENTS_MAX
        && bytes + program.len() < HOST_MESSAGE_BYTES_MAX - 4 * MESSAGE_BYTES_MAX
}
