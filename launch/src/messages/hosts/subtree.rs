//! Agents below others: who starts whom.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::remote_shell::RemoteShell;
use crate::messages::bounds::HOSTS_MAX;
use crate::messages::checks::{at_most, check_host, ensure};
use crate::messages::format::BadMessage;
use crate::messages::parts::text;

/// The most words of a remote shell.
const WORDS_MAX: usize = 256;

/// The hosts behind an agent, and how it starts their agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Below {
    /// Its number.
    pub host: u16,
    /// Number of the host whose agent starts its own.
    pub parent: u16,
    /// Its name, as the remote shell knows it.
    #[serde(with = "text")]
    pub name: String,
}

impl Subtree {
    pub(super) fn check(&self) -> Result<(), BadMessage> {
        let Subtree { host, hosts, shell, .. } = self;
        at_most(hosts, HOSTS_MAX)?;
        at_most(&shell.arguments, WORDS_MAX)?;
        check_host(*host)?;
        let mut known = BTreeSet::from([*host]);
        for Below { host, parent, name } in hosts {
            check_host(*host)?;
            ensure(is_host_name(name), "name of a host")?;
            ensure(known.contains(parent) && known.insert(*host), "tree of hosts")?;
        }
        Ok(())
    }
}

/// True if this may be the name of a host: an argument of the remote shell, which must not take it
/// for an option.
pub fn is_host_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && !name.chars().any(char::is_control)
}
