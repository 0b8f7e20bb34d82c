//! Capabilities: which are needed, that they are there, and that there are no others.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
};
use std::io;
use weft_xdp::XdpError;

/// For sockets of AF_XDP, for loading the program, and for putting it on an interface.
const NEEDED: [(CapabilitySet, &str); 3] = [
    (CapabilitySet::NET_RAW, "CAP_NET_RAW"),
    (CapabilitySet::BPF, "CAP_BPF"),
    (CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN"),
];

/// Capabilities that are needed and missing, in words; `None` if all are there.
///
/// # Errors
/// Errors of the kernel.
pub fn missing() -> io::Result<Option<String>> {
    let has = capabilities(None)?.effective;
    let missing = NEEDED.iter().filter(|(one, _)| !has.contains(*one)).map(|(_, name)| *name);
    let missing: Vec<&str> = missing.collect();
    Ok((!missing.is_empty()).then(|| missing.join(" and ")))
}

/// Gives up all capabilities but those that are needed, and the one by which root may lock any
/// amount of memory.
///
/// # Errors
/// Errors of the kernel.
pub fn keep_needed() -> io::Result<()> {
    let needed = NEEDED.iter().fold(CapabilitySet::IPC_LOCK, |all, (one, _)| all | *one);
    keep(needed)
}

/// Gives up all capabilities.
///
/// # Errors
/// Errors of the kernel.
pub fn keep_none() -> io::Result<()> {
    keep(CapabilitySet::empty())
}

fn keep(wanted: CapabilitySet) -> io::Result<()> {
    let has = capabilities(None)?;
    clear_ambient_capability_set()?;
    let sets = CapabilitySets {
        effective: has.effective & wanted,
        permitted: has.permitted & wanted,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, sets)?)
}

/// Checks that the kernel is new enough: links of XDP programs exist since Linux 5.9, what sockets
/// need since 5.4.
pub(crate) fn check_kernel() -> Result<(), XdpError> {
    let names = rustix::system::uname();
    let release = names.release().to_string_lossy();
    if is_new_enough(&release) { Ok(()) } else { Err(XdpError::OldKernel(release.into_owned())) }
}

fn is_new_enough(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().ok());
    let mut next = || -> u32 { numbers.next().flatten().unwrap_or(0) };
    (next(), next()) >= (5, 9)
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn kernels_are_told_apart() {
        for old in ["4.19.0-26-amd64", "5.8.18", "3.10", "", "linux"] {
            assert!(!is_new_enough(old), "{old}");
        }
        for new in ["5.9", "5.10.0-28-amd64", "6.18.44-fc-v669", "10.0"] {
            assert!(is_new_enough(new), "{new}");
        }
    }
}
