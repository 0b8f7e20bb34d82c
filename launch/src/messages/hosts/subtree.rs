//! Agents below others: who starts whom, and the envelopes of messages on their way.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use super::{
    BEAT, FINISHED, FROM, FromAgent, HOST_MESSAGE_BYTES_MAX, HOSTS_MAX, LOST, STARTED, put_list,
};
use crate::hosts::RemoteShell;
use crate::hosts::list::is_host_name;
use crate::messages::bytes::{Body, begin, open_long, put_bytes, put_text};
use crate::messages::{BadMessage, cut};

/// The most words of a remote shell.
const WORDS_MAX: usize = 256;

/// The hosts behind an agent, and how it starts their agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtree {
    /// Number of the reader's host.
    pub host: u16,
    /// The hosts behind it, each behind the one that starts its agent.
    pub hosts: Vec<Below>,
    /// The remote shell.
    pub shell: RemoteShell,
    /// The `weft` to run on the hosts.
    pub weft: OsString,
    /// Silence after which the reader is to give up whoever has started it.
    pub silence_above: Duration,
    /// Silence after which it is to give up an agent that it has started.
    pub silence_below: Duration,
    /// Longest time that the remote shells it starts have to end, once their agents are let go.
    pub end_limit: Duration,
}

/// A host below another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Below {
    /// Its number.
    pub host: u16,
    /// Number of the host whose agent starts its own.
    pub parent: u16,
    /// Its name, as the remote shell knows it.
    pub name: String,
}

impl Subtree {
    pub(super) fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.host.to_le_bytes());
        put_list(bytes, &self.hosts, |bytes, Below { host, parent, name }| {
            bytes.extend(host.to_le_bytes());
            bytes.extend(parent.to_le_bytes());
            put_text(bytes, cut(name));
        });
        let RemoteShell { program, arguments } = &self.shell;
        let words: Vec<&OsString> = [program].into_iter().chain(arguments).collect();
        put_list(bytes, &words, |bytes, word| put_bytes(bytes, word.as_bytes()));
        put_bytes(bytes, self.weft.as_bytes());
        for time in [self.silence_above, self.silence_below, self.end_limit] {
            bytes.extend((time.as_millis() as u32).to_le_bytes());
        }
    }

    pub(super) fn take(body: &mut Body<'_>) -> Result<Self, BadMessage> {
        let host = take_host(body)?;
        let hosts = body.list(HOSTS_MAX, |body| {
            let (host, parent, name) = (take_host(body)?, take_host(body)?, body.text()?);
            match is_host_name(&name) {
                true => Ok(Below { host, parent, name }),
                false => Err(BadMessage::Range("name of a host")),
            }
        })?;
        let mut known = BTreeSet::from([host]);
        if !hosts.iter().all(|below| known.contains(&below.parent) && known.insert(below.host)) {
            return Err(BadMessage::Range("tree of hosts"));
        }
        let word = |body: &mut Body<'_>| Ok(OsString::from_vec(body.bytes()?.to_vec()));
        let mut words = body.list(WORDS_MAX, word)?.into_iter();
        let program = words.next().ok_or(BadMessage::Range("remote shell"))?;
        let shell = RemoteShell { program, arguments: words.collect() };
        let weft = word(body)?;
        let mut time = || Ok(Duration::from_millis(body.u32()?.into()));
        let (silence_above, silence_below, end_limit) = (time()?, time()?, time()?);
        Ok(Subtree { host, hosts, shell, weft, silence_above, silence_below, end_limit })
    }
}

/// A message of this kind for one host or of one, whole behind its number.
pub(super) fn enclose(kind: u16, host: u16, message: &[u8]) -> Vec<u8> {
    let mut bytes = begin(kind);
    bytes.extend(host.to_le_bytes());
    put_bytes(&mut bytes, message);
    bytes
}

pub(super) fn disclose(body: &mut Body<'_>) -> Result<(u16, Vec<u8>), BadMessage> {
    Ok((take_host(body)?, body.bytes()?.to_vec()))
}

pub(super) fn take_host(body: &mut Body<'_>) -> Result<u16, BadMessage> {
    let host = body.u16()?;
    if usize::from(host) < HOSTS_MAX { Ok(host) } else { Err(BadMessage::Range("host")) }
}

/// Message that an agent has from below, as far as it has to know it: the others are the
/// launcher's to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FromBelow {
    /// The agent at the other end is there.
    Beat,
    /// Message of the agent of a host behind that.
    From(u16, Vec<u8>),
    /// Hosts that are gone, and why.
    Lost(Vec<u16>, String),
    /// Message of the agent at the other end.
    Own,
}

impl FromBelow {
    /// The message in `bytes`.
    ///
    /// # Errors
    /// [`BadMessage`] if there is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        match open_long(bytes, HOST_MESSAGE_BYTES_MAX)?.0 {
            BEAT | FROM | LOST => {}
            _ => return Ok(FromBelow::Own),
        }
        Ok(match FromAgent::parse(bytes)? {
            FromAgent::From(host, message) => FromBelow::From(host, message),
            FromAgent::Lost(hosts, why) => FromBelow::Lost(hosts, why),
            _ => FromBelow::Beat,
        })
    }

    /// True if this message of an agent says that its ranks have been started.
    pub fn has_started(message: &[u8]) -> bool {
        open_long(message, HOST_MESSAGE_BYTES_MAX).is_ok_and(|(kind, _)| kind == STARTED)
    }

    /// True if this message of an agent is its last.
    pub fn is_last(message: &[u8]) -> bool {
        open_long(message, HOST_MESSAGE_BYTES_MAX).is_ok_and(|(kind, _)| kind == FINISHED)
    }
}
