//! Interfaces had from `weft-net`, the one program of Weft with capabilities: the way by which
//! all but tests have them, for any user.
//!
//! It is looked for in places that neither `PATH` nor the environment names, is given an empty
//! environment and one descriptor, and says nothing on any other.

use crate::error::XdpError;
use crate::interface::Interface;
use crate::port::{Bound, Mode, XdpPort};
use crate::request::{FromNet, SocketRequest, ToNet, receive};
use rustix::net::SendFlags;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use weft_datagram::channel::{ReceivedDatagram, pair, send};

/// Name of the program.
const NAME: &str = "weft-net";
/// Folder into which `make install` puts it, unless told otherwise.
const INSTALLED: &str = "/usr/local/bin";
/// Longest time that it may take: some drivers set their queues up anew.
const LIMIT: Duration = Duration::from_secs(30);

/// An interface that is this process's, with a port for each rank.
#[derive(Debug)]
pub struct TakenInterface {
    /// Mode in which it is used.
    pub mode: Mode,
    /// Ports of the ranks, in the order of the request.
    pub ports: Vec<XdpPort>,
    /// The port to greet other hosts by, if one was asked for. It is to be gone before the ranks
    /// use theirs.
    pub greeter: Option<XdpPort>,
    /// Descriptor that keeps the program on the interface, for as long as any process has it.
    pub program: OwnedFd,
    /// Descriptor that keeps the interface in the groups that were asked for, in the same way.
    pub groups: Option<OwnedFd>,
}

/// Checks that `weft-net` is there and may do what it is for.
///
/// # Errors
/// Things that are missing, and what to do about them.
pub fn permitted() -> Result<(), XdpError> {
    let net = Net::ask(&ToNet::Look)?;
    match net.reply()? {
        (FromNet::Able, _) => Ok(()),
        (_, _) => Err(net.failed("does not say whether it may")),
    }
}

/// Has `weft-net` take an interface, at the best hook that it has. Everything but Weft's frames
/// goes on as if nothing were there. It is given back when the last process that has what keeps it
/// has ended, in any way, or closed it.
///
/// # Errors
/// Things that are missing, and what to do about them.
pub fn take(interface: &Interface, request: SocketRequest) -> Result<TakenInterface, XdpError> {
    let greets = request.greeter.is_some();
    let net = Net::ask(&ToNet::Take(request))?;
    let (FromNet::Taken { plan, copied }, mut first) = net.reply()? else {
        return Err(net.failed("answers something else"));
    };
    let (Some(memory), Some(program)) = (first.pop(), first.pop()) else {
        return Err(net.failed("hands over too little"));
    };
    let mut sockets = Vec::new();
    while sockets.len() < plan.layout.ports() as usize {
        sockets.extend(net.receive()?.descriptors);
    }
    let system = |error| XdpError::System {
        interface: interface.name.clone(),
        doing: "mapping a ring",
        error,
    };
    let mut ports = Bound { plan, sockets, memory }.into_ports().map_err(system)?;
    let greeter = if greets { ports.pop() } else { None };
    let groups = net.end(copied);
    Ok(TakenInterface { mode: plan.mode, ports, greeter, program, groups })
}

/// A `weft-net` that was started, and asked something.
struct Net {
    file: PathBuf,
    process: Process,
    socket: OwnedFd,
}

/// Process that has nothing left to do when this is dropped.
struct Process(Option<Child>);

impl Drop for Process {
    fn drop(&mut self) {
        let Some(process) = &mut self.0 else { return };
        // It may have ended, and somebody else may have waited for it.
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Net {
    fn ask(question: &ToNet) -> Result<Self, XdpError> {
        let file = find()?;
        let failed = |error: io::Error| failed(&file, &format!("cannot be asked ({error})"));
        let (socket, theirs) = pair().map_err(|error| failed(error.into()))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(LIMIT))
            .map_err(|error| failed(error.into()))?;
        send(&socket, &question.emit(), &[], SendFlags::empty())
            .map_err(|error| failed(error.into()))?;
        let mut command = Command::new(&file);
        command.env_clear().stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().map_err(|error| not_started(&file, &error))?;
        // Only `command` had the other end, which is closed with it.
        drop(command);
        Ok(Net { file, process: Process(Some(process)), socket })
    }

    /// The answer, if it is not that it cannot.
    fn reply(&self) -> Result<(FromNet, Vec<OwnedFd>), XdpError> {
        let ReceivedDatagram { bytes, descriptors } = self.receive()?;
        match FromNet::parse(&bytes)? {
            FromNet::Lacks(missing) => {
                Err(XdpError::NotPermitted { missing, helper: self.file.display().to_string() })
            }
            FromNet::Refused(why) => Err(XdpError::Refused(why)),
            reply => Ok((reply, descriptors)),
        }
    }

    fn receive(&self) -> Result<ReceivedDatagram, XdpError> {
        receive(&self.socket).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.failed("ended without an answer"),
            io::ErrorKind::WouldBlock => self.failed(&format!("gave no answer in {LIMIT:?}")),
            _ => self.failed(&format!("gave no answer ({error})")),
        })
    }

    fn failed(&self, what: &str) -> XdpError {
        failed(&self.file, what)
    }

    /// Lets it go on if it is to keep something, as long as anybody has what this returns.
    fn end(self, keeps: bool) -> Option<OwnedFd> {
        let Net { mut process, socket, .. } = self;
        keeps.then(|| {
            drop(process.0.take());
            socket
        })
    }
}

fn failed(file: &Path, what: &str) -> XdpError {
    XdpError::Helper { helper: file.display().to_string(), what: what.into() }
}

fn not_started(file: &Path, error: &io::Error) -> XdpError {
    match error.kind() {
        // Of its group only; or the process may not have what the file is to give it.
        io::ErrorKind::PermissionDenied => failed(
            file,
            "may not be run by this user, or cannot get its capabilities here: ask whoever installed it for the group \
             that may",
        ),
        _ => failed(file, &format!("cannot be run ({error})")),
    }
}

/// Finds `weft-net`: beside the file with this code, or where a library's programs are.
fn find() -> Result<PathBuf, XdpError> {
    let places = places(own_file().as_deref());
    let files = places.iter().map(|place| place.join(NAME));
    let found = files.into_iter().find(|file| file.is_file());
    found.ok_or_else(|| {
        let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
        XdpError::NoHelper(places.join(", "))
    })
}

/// Folders in which `weft-net` may be, given the file with this code.
fn places(own: Option<&Path>) -> Vec<PathBuf> {
    let is_library = |file: &Path| file.to_string_lossy().contains(".so");
    let mut places = Vec::new();
    if let Some(own) = own {
        let above = own.ancestors().skip(1);
        places.extend(above.clone().take(1).map(Path::to_path_buf));
        if is_library(own) {
            places.extend(above.skip(1).take(2).map(|folder| folder.join("bin")));
        }
    }
    let installed = PathBuf::from(INSTALLED);
    if !places.contains(&installed) {
        places.push(installed);
    }
    places
}

/// The file with this code: an executable, or a library that a program has loaded.
fn own_file() -> Option<PathBuf> {
    let code = find as *const () as u64;
    let maps = fs::read_to_string("/proc/self/maps").ok();
    let mapped = maps.as_deref().and_then(|maps| file_at(maps, code));
    mapped.or_else(|| std::env::current_exe().ok())
}

/// The file that is mapped at an address, by lines such as `7f00-7f80 r-xp 0000 fd:00 12  /lib/x`.
fn file_at(maps: &str, address: u64) -> Option<PathBuf> {
    let holds = |line: &&str| {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some((number(from)?..number(to)?).contains(&address))
    };
    let line = maps.lines().find(|line| holds(line) == Some(true))?;
    line.find('/').map(|path| PathBuf::from(&line[path..]))
}

#[cfg(test)]
mod tests;
