//! Checks for MPI programs on Weft: the library and its `mpirun`, libfabric, the provider, and the
//! settings of the environment about them.

mod collectives;
mod fabric;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use weft_app_common::edit_distance;

use super::finding::Finding;
use crate::mpi::{
    FILE, Launcher, NAME, PROVIDER, PROVIDER_PATH, Provider, Stack, has_provider, libraries_of,
    listed_folders,
};
use crate::mpirun::{INTEL_VARIABLES, PARAMETERS, VARIABLES, find_provider};
pub use fabric::{Candidate, FABRIC, look_into};
use fabric::{OLDEST, is_too_old};

/// Name by which the loader finds libfabric if nothing says where it is.
const LIBRARY: &str = "libfabric.so.1";

/// Names of libfabric's own providers, to find out what was meant by a misspelt one.
#[rustfmt::skip]
const KNOWN: [&str; 23] = [
    NAME, "tcp", "udp", "sockets", "shm", "verbs", "efa", "psm", "psm2", "psm3", "opx", "cxi", "net", "gni", "bgq", "usnic", "ucx", "lnx", "sm2",
    "rxm", "rxd", "ofi_rxm", "ofi_rxd",
];

/// The most edits between a provider's name and what was typed for it to be meant.
const NEAR: usize = 2;

/// Everything, in the order in which it is needed.
pub(super) fn all() -> Vec<Finding> {
    let variable = |name: &str| env::var_os(name);
    let launcher = Launcher::find(None, None, variable("PATH").as_deref());
    let stack = launcher.as_ref().ok().map(|launcher| launcher.stack);
    let library = launcher.as_ref().map_or_else(|_| LIBRARY.into(), library_of);
    let listed = variable(PROVIDER_PATH);
    let provider = find_provider(None).map_err(|error| error.to_string());
    let seen = fabric::ask(&library, provider.as_ref().ok());
    let corrected = launcher.as_ref().ok().filter(|launcher| launcher.needs_correction());
    let corrected =
        corrected.zip(provider.as_ref().ok()).map(|(_, provider)| of_correction(provider));
    let collectives = launcher.as_ref().ok().map(collectives::find);
    let mut findings = vec![of_launcher(launcher), of_library(&library, &seen)];
    findings.push(of_provider(listed, &provider));
    if let (Ok(provider), Ok(seen)) = (&provider, &seen) {
        findings.extend(fabric_and_provider(provider, seen));
    }
    findings.push(of_choice(variable(PROVIDER)));
    findings.extend(stack.map(|stack| of_settings(stack, variable)));
    findings.extend(corrected);
    findings.extend(collectives);
    findings
}

fn of_launcher(launcher: Result<Launcher, impl std::fmt::Display>) -> Finding {
    const NAME: &str = "mpirun";
    const ADVICE: &str = "install Open MPI (Debian: apt-get install openmpi-bin libopenmpi-dev), or an MPICH with libfabric (pip \
                          install mpich), and put its bin folder into PATH";
    match launcher {
        Ok(launcher) => match launcher.has_fabric() {
            Ok(()) => Finding::ok(NAME, launcher.to_string()),
            Err(error) => Finding::problem(NAME, error.to_string(), ADVICE),
        },
        Err(error) => Finding::problem(NAME, error.to_string(), ADVICE),
    }
}

/// The libfabric that an MPI library loads: its own, or the system's.
fn library_of(launcher: &Launcher) -> PathBuf {
    let users = launcher.users_of_fabric();
    let own = users.iter().find_map(|file| libraries_of(file).fabric);
    own.or_else(|| launcher.own_fabric()).unwrap_or_else(|| LIBRARY.into())
}

fn of_library(library: &std::path::Path, seen: &Result<fabric::Seen, String>) -> Finding {
    const NAME: &str = "libfabric";
    let shown = library.display();
    match seen {
        Err(error) => Finding::problem(
            NAME,
            error,
            "install it (Debian: apt-get install libfabric1), or put its folder into LD_LIBRARY_PATH",
        ),
        Ok(seen) if is_too_old(seen.version) => {
            let ((major, minor), (oldest, of)) = (seen.version, OLDEST);
            let detail =
                format!("{shown}: version {major}.{minor}, too old for providers of today");
            Finding::problem(NAME, detail, format!("install libfabric {oldest}.{of} or later"))
        }
        Ok(seen) => {
            let (major, minor) = seen.version;
            Finding::ok(NAME, format!("{shown}: version {major}.{minor}"))
        }
    }
}

/// Checks that libfabric would find the provider, by the folders that `FI_PROVIDER_PATH` lists.
fn of_provider(listed: Option<OsString>, provider: &Result<Provider, String>) -> Finding {
    const NAME: &str = "provider";
    let folder = provider.as_ref().ok().map(|provider| provider.folder.display());
    match (listed, folder, provider) {
        (Some(listed), _, _)
            if listed_folders(&listed).iter().any(|folder| has_provider(folder)) =>
        {
            Finding::ok(NAME, format!("{FILE} in {PROVIDER_PATH}, {}", listed.display()))
        }
        (Some(listed), Some(folder), _) => Finding::problem(
            NAME,
            format!("{PROVIDER_PATH} is {}, where there is no {FILE}", listed.display()),
            format!("export {PROVIDER_PATH}={folder} (weft mpirun does)"),
        ),
        (None, Some(folder), _) => Finding::ok(
            NAME,
            format!(
                "{FILE} in {folder}; weft mpirun says so, for mpirun itself: export {PROVIDER_PATH}={folder}"
            ),
        ),
        (_, None, error) => Finding::problem(
            NAME,
            error.as_ref().err().cloned().unwrap_or_default(),
            format!("make install, or export {PROVIDER_PATH}= the folder with {FILE}"),
        ),
    }
}

/// Checks that the provider loads, and that libfabric then has it.
fn fabric_and_provider(provider: &Provider, seen: &fabric::Seen) -> Option<Finding> {
    const NAME: &str = "weft in libfabric";
    let file = provider.folder.join(FILE);
    let file = file.display();
    Some(match (&seen.refused, seen.listed?) {
        (Some(why), _) => Finding::problem(
            NAME,
            format!("{file} does not load: {why}"),
            "build it on this machine, or on one with no newer system",
        ),
        (None, false) => Finding::problem(
            NAME,
            format!("libfabric loads {file} and does not offer it"),
            format!(
                "FI_LOG_LEVEL=warn {PROVIDER_PATH}={} fi_info -p weft says why",
                provider.folder.display()
            ),
        ),
        (None, true) => Finding::ok(NAME, "offered to its clients"),
    })
}

/// The providers of libfabric that `FI_PROVIDER` lets through.
fn of_choice(value: Option<OsString>) -> Finding {
    let value = value.unwrap_or_default().to_string_lossy().into_owned();
    let advice = format!("unset {PROVIDER}, or export {PROVIDER}={NAME} (weft mpirun does)");
    let (excluded, names) = match value.strip_prefix('^') {
        Some(names) => (true, names),
        None => (false, value.as_str()),
    };
    // A provider may stand on another: tcp;ofi_rxm.
    let names: Vec<&str> = names.split([',', ';']).map(str::trim).collect();
    let has_weft = names.iter().any(|name| name.eq_ignore_ascii_case(NAME));
    if value.is_empty() {
        return Finding::ok(PROVIDER, "not set: libfabric offers all its providers");
    }
    if has_weft != excluded {
        return Finding::ok(PROVIDER, value);
    }
    if excluded {
        return Finding::problem(PROVIDER, format!("{value} takes {NAME} away"), advice);
    }
    match names.iter().find_map(|name| Some((name, meant(name)?))) {
        Some((name, meant)) => Finding::problem(
            PROVIDER,
            format!("no provider is called {name:?}; {meant:?} is the nearest name"),
            advice,
        ),
        None => Finding::problem(PROVIDER, format!("{value}, and so not {NAME}"), advice),
    }
}

/// The provider that a misspelt name is meant for, if it is near enough to one.
fn meant(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    if KNOWN.contains(&name.as_str()) {
        return None;
    }
    let nearest = KNOWN.into_iter().min_by_key(|known| edit_distance(known, &name))?;
    (edit_distance(nearest, &name) <= NEAR).then_some(nearest)
}

/// Checks that the environment does not contradict the settings that a stack needs.
fn of_settings(stack: Stack, variable: impl Fn(&str) -> Option<OsString>) -> Finding {
    let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
    let wanted: Vec<(String, &str)> = match stack {
        Stack::OpenMpi => {
            PARAMETERS.map(|(name, value)| (format!("OMPI_MCA_{name}"), value)).into()
        }
        Stack::Mpich => VARIABLES.map(|(name, value)| (name.to_owned(), value)).into(),
        Stack::IntelMpi => INTEL_VARIABLES.map(|(name, value)| (name.to_owned(), value)).into(),
    };
    let name = match stack {
        Stack::OpenMpi => "Open MPI's settings",
        Stack::Mpich => "MPICH's settings",
        Stack::IntelMpi => "Intel MPI's settings",
    };
    let differs = |(variable, wanted): &(String, &str)| {
        let said = text(variable).filter(|said| said != wanted)?;
        Some(Finding::problem(
            name,
            format!("{variable} is {said}, where Weft needs {wanted}"),
            format!("unset {variable} (weft mpirun sets it right)"),
        ))
    };
    let excluded = || {
        const VARIABLE: &str = "OMPI_MCA_mtl_ofi_provider_exclude";
        let said = text(VARIABLE).filter(|said| said.split(',').any(|name| name == NAME))?;
        let advice = format!("unset {VARIABLE}");
        Some(Finding::problem(name, format!("{VARIABLE} is {said}"), advice))
    };
    let is_open_mpi = stack == Stack::OpenMpi;
    let problem = wanted.iter().find_map(differs).or_else(|| excluded().filter(|_| is_open_mpi));
    problem.unwrap_or_else(|| {
        Finding::ok(name, "the environment says nothing against Weft; weft mpirun sets them")
    })
}

/// A fault of Open MPI 4 below `pml cm`, and what mends it.
fn of_correction(provider: &Provider) -> Finding {
    let file = provider.folder.join(FILE);
    let detail = format!(
        "this Open MPI takes the bytes of some from the wrong place over libfabric; weft mpirun preloads what mends that, for \
         mpirun itself: -x LD_PRELOAD={}",
        file.display()
    );
    Finding::ok("persistent sends", detail)
}

#[cfg(test)]
mod tests;
