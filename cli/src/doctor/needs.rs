//! Needs of the shared-memory link and the launcher from the system.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create,
};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{PidfdFlags, Resource, getpid, getrlimit, pidfd_open};
use rustix::thread::{MembarrierCommand, membarrier, membarrier_query};
use weft_launch::{MAX_RANKS, ranks_within};

use super::finding::Finding;
use crate::cores::{Cores, wanting};

/// Everything that can be looked at by itself.
pub(super) fn of_shm() -> Vec<Finding> {
    vec![
        sealed_memory(),
        barrier(
            "membarrier (global)",
            MembarrierCommand::GlobalExpedited,
            MembarrierCommand::RegisterGlobalExpedited,
        ),
        barrier(
            "membarrier (private)",
            MembarrierCommand::PrivateExpedited,
            MembarrierCommand::RegisterPrivateExpedited,
        ),
        pidfd(),
        descriptor_passing(),
        proc_files(),
        open_files(),
        locked_memory(),
        cores(),
    ]
}

fn sealed_memory() -> Finding {
    const NAME: &str = "sealed memory";
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    let sealed = || -> Result<SealFlags, Errno> {
        let file = memfd_create("weft-doctor", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, 4096)?;
        fcntl_add_seals(&file, seals)?;
        fcntl_get_seals(&file)
    };
    match sealed() {
        Ok(set) if set.contains(seals) => Finding::ok(NAME, "memfd_create and seals"),
        Ok(_) => Finding::problem(NAME, "seals do not stay", "use a kernel of Linux 3.17 or later"),
        Err(error) => Finding::problem(
            NAME,
            format!("memfd_create: {error}"),
            "allow memfd_create in the container's system-call filter",
        ),
    }
}

fn barrier(name: &'static str, command: MembarrierCommand, register: MembarrierCommand) -> Finding {
    let advice =
        "use Linux 4.16 or later, and allow membarrier in the container's system-call filter";
    if !membarrier_query().contains_command(command) {
        return Finding::problem(name, "the kernel does not have it", advice);
    }
    match membarrier(register).and_then(|()| membarrier(command)) {
        Ok(()) => Finding::ok(name, "expedited: the sleeper pays, senders need no fence"),
        Err(error) => Finding::problem(name, error.to_string(), advice),
    }
}

fn pidfd() -> Finding {
    match pidfd_open(getpid(), PidfdFlags::empty()) {
        Ok(_) => Finding::ok("pidfd", "a rank's end is noticed at once"),
        Err(error) => Finding::problem(
            "pidfd",
            format!("pidfd_open: {error}"),
            "use Linux 5.3 or later, and allow pidfd_open in the container's system-call filter",
        ),
    }
}

/// Each rank receives the memory of all by a descriptor.
fn descriptor_passing() -> Finding {
    const NAME: &str = "descriptor passing";
    let advice = "allow SCM_RIGHTS, and raise the limit on open files, which holds for those under \
                  way too: ulimit -n 8192";
    match pass_descriptor() {
        Ok(true) => Finding::ok(NAME, "memory arrives with a message"),
        Ok(false) => Finding::problem(NAME, "memory does not arrive with its message", advice),
        Err(error) => Finding::problem(NAME, error.to_string(), advice),
    }
}

/// Sends a descriptor, and returns true if it arrives.
fn pass_descriptor() -> Result<bool, Errno> {
    let (here, there) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let sent = [here.as_fd()];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    rights.push(SendAncillaryMessage::ScmRights(&sent));
    sendmsg(&here, &[IoSlice::new(b"1")], &mut rights, SendFlags::DONTWAIT)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    recvmsg(&there, &mut [IoSliceMut::new(&mut [0])], &mut rights, flags)?;
    let mut received = rights.drain();
    Ok(received.any(|message| matches!(message, RecvAncillaryMessage::ScmRights(_))))
}

fn proc_files() -> Finding {
    if Path::new("/proc/self/fd/0").symlink_metadata().is_ok() {
        return Finding::ok("/proc", "mounted");
    }
    Finding::problem("/proc", "not mounted", "mount it: mount -t proc proc /proc")
}

fn open_files() -> Finding {
    const NAME: &str = "open files";
    // The launcher raises the soft limit itself.
    let Some(limit) = getrlimit(Resource::Nofile).maximum else {
        return Finding::ok(NAME, format!("no limit: enough for {MAX_RANKS} ranks"));
    };
    let advice = "raise the limit: ulimit -n 8192";
    match ranks_within(limit) {
        0..2 => Finding::problem(NAME, format!("limit {limit}: too low for any job"), advice),
        ranks if ranks < MAX_RANKS.into() => Finding {
            advice: Some(advice.into()),
            ..Finding::ok(NAME, format!("limit {limit}: enough for {ranks} ranks of {MAX_RANKS}"))
        },
        _ => Finding::ok(NAME, format!("limit {limit}: enough for {MAX_RANKS} ranks")),
    }
}

fn locked_memory() -> Finding {
    let limit = getrlimit(Resource::Memlock).current;
    let limit = limit.map_or("no limit".into(), |bytes| format!("limit {bytes} bytes"));
    Finding::ok("locked memory", format!("{limit}; shm needs none"))
}

fn cores() -> Finding {
    of_cores(&Cores::look())
}

/// Their number, and who else wants them or limits their time.
fn of_cores(cores: &Cores) -> Finding {
    let mut detail = format!("{}: more ranks than that take turns", cores.count);
    let mut advice = None;
    if cores.others > 0 {
        detail += &format!("; {} now, and ranks beside them wait by yields", wanting(cores.others));
    }
    if let Some(quota) = cores.quota.filter(|quota| *quota < cores.count as f64) {
        detail += &format!("; a quota of {quota:.1}, and ranks that would use more wait asleep");
        advice = Some("a rank that waits asleep is woken in 20 to 50 us: raise the quota (cpu.max, docker run --cpus) to one core a rank".into());
    }
    Finding { advice, ..Finding::ok("cores", detail) }
}

#[cfg(test)]
mod tests;
