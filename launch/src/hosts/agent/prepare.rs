//! Preparations of an agent before any rank is started.

use std::env;
use std::io;
use std::path::Path;

use rustix::fs::{Access, access};
use weft_trace::part_of;
use weft_xdp::XdpError;

use super::error::AgentError;
use crate::error::{LaunchError, advice};
use crate::hosts::ethernet::{Attachment, Purpose};
use crate::hosts::sockets::Sockets;
use crate::messages::hosts::{Begin, FarLink, InterfaceState};
use crate::program::Found;
use crate::spec::{Binding, JobSpec, cannot_work_in};

/// State of a host before any rank is started.
pub(super) struct Prepared {
    pub spec: JobSpec,
    pub programs: Found,
    pub sockets: Sockets,
}

pub(super) fn prepare(begin: &Begin) -> Result<Prepared, AgentError> {
    let directory = Path::new(&begin.directory);
    env::set_current_dir(directory)
        .map_err(|error| AgentError::Refused(cannot_work_in(directory, &error)))?;
    let mut spec = JobSpec::new(begin.settings, &begin.program);
    spec.arguments.clone_from(&begin.arguments);
    spec.later.clone_from(&begin.later);
    spec.options.clone_from(&begin.options);
    spec.environment.clone_from(&begin.environment);
    spec.binding = if begin.bound_to_cores { Binding::Core } else { Binding::None };
    spec.terminal = begin.terminal;
    spec.dedicated = true;
    spec.vacant = begin.vacant();
    spec.check()?;
    let programs = spec.find_programs(&begin.here).map_err(LaunchError::from)?;
    if let Some(file) = spec.trace() {
        let path = part_of(file, begin.host);
        let failed = |error| LaunchError::Trace { path: path.clone(), error };
        check_writable(&path).map_err(failed)?;
    }
    let sockets = Sockets::bind(begin).map_err(|error| {
        let address = begin.address;
        AgentError::Refused(format!("cannot bind a socket to {address}: {error}{}", advice(&error)))
    })?;
    Ok(Prepared { spec, programs, sockets })
}

/// Checks that a file can be written, as far as that is known before: ranks have not been announced
/// yet.
fn check_writable(file: &Path) -> io::Result<()> {
    if file.exists() {
        return Ok(access(file, Access::WRITE_OK)?);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(access(folder.unwrap_or(Path::new(".")), Access::WRITE_OK)?)
}

/// Takes the interface for AF_XDP, if that is wished for and can be.
pub(super) fn attach(begin: &Begin) -> Result<(Option<Attachment>, InterfaceState), AgentError> {
    if begin.far == FarLink::Udp {
        return Ok((None, InterfaceState::NotAsked));
    }
    match Attachment::take(Purpose::of(begin)) {
        Ok(attachment) => {
            let (interface, mode) = (attachment.address(), attachment.mode());
            Ok((Some(attachment), InterfaceState::Taken { interface, mode }))
        }
        Err(error) if begin.far == FarLink::Auto => {
            Ok((None, InterfaceState::Without(error.to_string())))
        }
        Err(error) => Err(refused(error)),
    }
}

fn refused(error: XdpError) -> AgentError {
    AgentError::Refused(error.to_string())
}
