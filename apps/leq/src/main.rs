//! `leq`: the command line of [`weft_leq`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_leq::Options>(&weft)? {
        weft_leq::run(&weft, &options)?;
    }
    Ok(())
}
