//! `puzzle`: the command line of [`weft_puzzle`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_puzzle::Options>(&weft)? {
        weft_puzzle::run(&weft, &options)?;
    }
    Ok(())
}
