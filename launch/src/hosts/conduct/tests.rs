use super::*;

use std::ffi::OsString;
use std::net::Ipv4Addr;

use weft_link_shm::Settings;

use crate::Mtu;
use crate::hosts::HostWish;
use crate::hosts::layout::{
    Between, Copies, HostLayout, HostsSpec, Layout, LongPackets, RemoteShell,
};
use weft_seal::Protection;

/// A host with one rank whose agent ends at once, which the start of the job has read, and left.
fn started() -> Started {
    let mut spec = HostsSpec::new(vec![HostWish { name: "elsewhere".into(), ranks: Some(1) }]);
    let arguments = ["-c", "exit 3"].map(OsString::from).to_vec();
    spec.remote_shell = RemoteShell { program: "sh".into(), arguments };
    let mut members = Members::start(&spec, Duration::from_secs(60)).unwrap();
    members[0].count = 1;
    let clock = Clock::start();
    while members.lost.is_empty() {
        let sources: Vec<_> = members.branches.sources(true).collect();
        for source in wait_for(&sources, None).unwrap() {
            members.branches.attend(source, clock.now());
        }
        members.sort();
    }
    let host = HostLayout {
        name: "elsewhere".into(),
        first: 0,
        ranks: 1,
        cores: 1,
        interface: String::new(),
        address: Ipv4Addr::LOCALHOST.into(),
    };
    let layout = Layout {
        hosts: vec![host],
        between: Between::Nothing,
        copies: Copies::Ranks(None),
        bulk: LongPackets::Datagrams(None),
        mtu: Mtu::USUAL,
        protection: Protection::default(),
    };
    Started { layout, members, signals: None }
}

#[test]
fn an_agent_that_ended_while_others_were_listened_to_is_lost_at_once() {
    let settings = Settings { window_packets: 4, frame_bytes: 1024, frames: 4, ..Settings::new(1) };
    let spec = JobSpec::new(settings, "program");
    let mut conductor = Conductor::new(&spec, started()).unwrap();
    conductor.catch_up();
    assert!(conductor.members[0].is_lost);
    assert!(conductor.job.is_over(), "all its ranks were there");
}
