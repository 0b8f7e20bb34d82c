//! `sor`: the command line of [`weft_sor`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_sor::Options>(&weft)? {
        weft_sor::run(&weft, &options)?;
    }
    Ok(())
}
