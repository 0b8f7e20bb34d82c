//! Pupa's first question today: a message on Ethernet beside TCP.

use super::bench::first;
use super::table::markdown;
use crate::results::short;
use anyhow::Result;
use std::fmt::Write;

/// Bytes of the messages that the paper calls small.
const SIZES: [usize; 3] = [4, 16, 32];

/// The section.
pub fn section() -> String {
    let mut text = String::from(
        "`weft bench message`: one way of a message between two network namespaces that a veth pair joins, a rank on each, beside \
         TCP (TCP_NODELAY) in turns in the same run. Pupa took less than half of TCP's time at 4 bytes. \
         What bare sockets take of it here is in `docs/internals/performance.md`: AF_XDP 0.42 to 0.50, UDP 0.58 to 0.72.\n\n",
    );
    let mut table = markdown(&["link", "bytes", "Weft, us", "TCP, us", "Weft/TCP", "under half"]);
    let mut reasons = Vec::new();
    for link in ["xdp", "udp"] {
        for bytes in SIZES {
            match measure(link, bytes) {
                Ok((weft, tcp)) => {
                    let half = if weft < tcp / 2.0 { "yes" } else { "no" };
                    let figures = [weft / 1e3, tcp / 1e3, weft / tcp].map(short);
                    let [weft, tcp, ratio] = figures;
                    table.add_row([link.into(), bytes.to_string(), weft, tcp, ratio, half.into()]);
                }
                Err(error) => {
                    reasons.push(format!("`{link}` is not measured: {error:#}."));
                    break;
                }
            }
        }
    }
    if table.row_count() > 0 {
        let _ = writeln!(text, "{}\n", table.trim_fmt());
    }
    text += &reasons.join("\n\n");
    text.trim_end().to_owned() + "\n"
}

/// Nanoseconds one way of Weft and of TCP.
fn measure(link: &str, bytes: usize) -> Result<(f64, f64)> {
    let line = first(&format!("message --link {link} --size {bytes}"))?;
    Ok((line.p50, line.floor("tcp")?))
}
