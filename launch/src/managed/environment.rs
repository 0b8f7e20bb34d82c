//! Variables of the environment that say how ranks are to run which a process manager starts.

use std::env;
use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use weft_datagram::seal::Protection;

use crate::hosts::addresses::interface_of;
use crate::messages::{ON_LOSS, Options, TRACE};
use crate::mtu::Mtu;
use crate::on_loss::OnLoss;
use crate::progress::{OnDeadlock, PROGRESS_LIMIT, progress_limit};

/// The variable that says how long packets between hosts may be.
const MTU: &str = "WEFT_MTU";
/// The variable that says by which link ranks are to reach one another.
const LINK: &str = "WEFT_LINK";
/// Characters of what it says that are passed on: those of a link are three or four.
const LINK_CHARS_MAX: usize = 16;
/// The variable that says whether packets between hosts are encrypted.
const ENCRYPT: &str = "WEFT_ENCRYPT";
/// The variable that says whether all bytes of packets between hosts are authenticated.
const AUTHENTICATE: &str = "WEFT_AUTHENTICATE";
/// The variable that says by which way long packets go between hosts.
const BULK: &str = "WEFT_BULK";
/// The variable that says that the network loses nothing.
const LOSSLESS: &str = "WEFT_LOSSLESS";
/// The variable with the file for the trace.
const TRACE_FILE: &str = "WEFT_TRACE";
/// Variable that says what the loss of a rank does to the job.
const ON_LOSS_VARIABLE: &str = "WEFT_ON_LOSS";
/// Options that the environment may set, and their variables.
const OPTIONS: [(&str, &str); 10] = [
    ("check", "WEFT_CHECK"),
    ("lossless", LOSSLESS),
    (ON_LOSS, ON_LOSS_VARIABLE),
    ("preset", "WEFT_PRESET"),
    ("provider", "WEFT_PROVIDER"),
    ("statistics", "WEFT_STATISTICS"),
    (TRACE, TRACE_FILE),
    ("tree", "WEFT_TREE"),
    ("interrupt-delay-us", "WEFT_INTERRUPT_DELAY_US"),
    ("silence-ms", "WEFT_SILENCE_MS"),
];

/// Variable with the seconds after which ranks that wait for one another are in a deadlock.
const LIMIT: &str = "WEFT_PROGRESS_LIMIT";
/// Variable that says what is done about a deadlock.
const ON_DEADLOCK: &str = "WEFT_ON_DEADLOCK";

/// The silence in milliseconds after which a rank on another host is lost, unless the environment
/// says something else. Of ranks that end the process manager hears at once; this is for hosts that
/// are cut off, and not for those that stand still for a moment.
const SILENCE_MS: u32 = 5000;

/// True if this value of a variable such as `WEFT_ENCRYPT` asks for what it names.
///
/// # Errors
/// Values that it may have instead.
pub fn is_wanted(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" | "" => Ok(false),
        _ => Err(format!("{value:?} is neither 1, for yes, nor 0")),
    }
}

/// True if the environment lets long packets go over TCP. A rank that counts on a network that
/// loses nothing would not notice the packets that a broken connection loses.
///
/// # Errors
/// Values that the variable may have instead.
pub(super) fn wants_tcp() -> io::Result<bool> {
    let lossless = env::var(LOSSLESS).is_ok_and(|value| is_wanted(&value).unwrap_or(true));
    match env::var(BULK).as_deref() {
        Ok("auto" | "tcp" | "") | Err(_) => Ok(!lossless),
        Ok("datagrams") => Ok(false),
        Ok(other) => {
            let what = format!("{BULK}: {other:?} is neither auto nor tcp nor datagrams");
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
    }
}

/// The link that the environment asks for; nothing if it leaves that open.
pub(super) fn link() -> String {
    env::var(LINK).unwrap_or_default().chars().take(LINK_CHARS_MAX).collect()
}

/// True if the environment asks for a trace.
pub(super) fn is_traced() -> bool {
    env::var_os(TRACE_FILE).is_some()
}

/// Time after which ranks that wait for one another are in a deadlock, and what is done then.
///
/// # Errors
/// The variable's name, and the fault of its value.
pub(super) fn progress() -> io::Result<(Duration, OnDeadlock)> {
    let limit = given(LIMIT, progress_limit)?.unwrap_or(PROGRESS_LIMIT);
    Ok((limit, given(ON_DEADLOCK, str::parse)?.unwrap_or_default()))
}

/// Reaction to the loss of a rank.
///
/// # Errors
/// The variable's name, and the values that it may have.
pub(super) fn on_loss() -> io::Result<OnLoss> {
    Ok(given(ON_LOSS_VARIABLE, str::parse)?.unwrap_or_default())
}

/// Options that the environment sets, and the silence that ends a rank.
pub(super) fn options() -> Options {
    let set = OPTIONS
        .iter()
        .filter_map(|(name, variable)| Some(((*name).to_owned(), env::var(variable).ok()?)));
    let mut options = Options::from_iter(set);
    options.entry("silence-ms".into()).or_insert_with(|| SILENCE_MS.to_string());
    options
}

/// Value of a variable, if it is set.
///
/// # Errors
/// The variable's name, and the fault of its value.
fn given<T, E: Display>(
    variable: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> io::Result<Option<T>> {
    let Ok(value) = env::var(variable) else { return Ok(None) };
    let wrong = |what| io::Error::new(io::ErrorKind::InvalidInput, format!("{variable}: {what}"));
    parse(&value).map(Some).map_err(wrong)
}

/// Protection that the environment asks for, if any; the least if it asks for no encryption.
pub(super) fn protection() -> io::Result<Option<Protection>> {
    let authenticates = given(AUTHENTICATE, is_wanted)?.unwrap_or_default();
    Ok(match given(ENCRYPT, is_wanted)? {
        Some(true) => Some(Protection::Encrypted),
        _ if authenticates => Some(Protection::Tagged),
        Some(false) => Some(Protection::Headers),
        None => None,
    })
}

/// MTU that the environment gives, or else that of the interface with this address.
pub(super) fn mtu(address: Option<SocketAddr>) -> io::Result<Mtu> {
    if let Some(given) = given(MTU, str::parse)? {
        return Ok(given);
    }
    let Some(address) = address else { return Ok(Mtu::USUAL) };
    Ok(interface_of(address.ip())?.map_or(Mtu::USUAL, |candidate| candidate.mtu))
}

/// Errors name the options of `weft run`; here the environment says the same, or nothing does.
pub(super) fn by_environment(advice: &str) -> String {
    advice
        .replace("--link ", "WEFT_LINK=")
        .replace("--mtu", "WEFT_MTU")
        .replace(", or name another network with --interface", "")
}
