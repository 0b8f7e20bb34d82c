//! `tsp`: the command line of [`weft_tsp`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_tsp::Options>(&weft)? {
        weft_tsp::run(&weft, &options)?;
    }
    Ok(())
}
