//! `awari`: the command line of [`weft_awari`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_awari::Options>(&weft)? {
        weft_awari::run(&weft, &options)?;
    }
    Ok(())
}
