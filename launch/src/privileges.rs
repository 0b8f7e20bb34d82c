//! Privileges that none of Weft's commands needs, and none is to hand to what it starts or loads.

use std::io;

use rustix::process::{geteuid, getuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
};

/// Gives up all capabilities of this process, unless it is root's: those that its file has given
/// it, and those that it was to pass on. Only `weft-net` is to have any.
///
/// Commands call this first in their `main`, before they read or load anything: it is for a process
/// of one thread. Capabilities of root follow from being root, and stay.
///
/// # Errors
/// Errors of the kernel; or the file is set-user-ID, and so would be all that it starts.
pub fn forgo_capabilities() -> io::Result<()> {
    if getuid() != geteuid() {
        return Err(io::Error::other(
            "this command must not run as another user than its caller (chmod u-s)",
        ));
    }
    if geteuid().is_root() {
        return Ok(());
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets)?;
    let left = capabilities(None)?;
    assert!(left == sets, "the kernel has taken all of them");
    Ok(())
}
