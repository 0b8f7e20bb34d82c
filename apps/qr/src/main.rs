//! `qr`: the command line of [`weft_qr`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_qr::Options>(&weft)? {
        weft_qr::run(&weft, &options)?;
    }
    Ok(())
}
