//! A fabric between hosts that nobody asked for.

use std::fs;

use weft_fabric::{providers, with_hardware};

/// Directories of the devices of fabrics.
const DEVICES: [&str; 2] = ["/sys/class/infiniband", "/sys/class/cxi"];

/// The provider with hardware of its own that this host has, if it has one. Hosts without such
/// devices do not load libfabric.
pub fn by_itself() -> Option<String> {
    let has_device = DEVICES
        .iter()
        .any(|directory| fs::read_dir(directory).is_ok_and(|mut devices| devices.next().is_some()));
    if !has_device {
        return None;
    }
    with_hardware(&providers().ok()?).map(|provider| provider.name.clone())
}
