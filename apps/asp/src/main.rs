//! `asp`: the command line of [`weft_asp`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_asp::Options>(&weft)? {
        weft_asp::run(&weft, &options)?;
    }
    Ok(())
}
