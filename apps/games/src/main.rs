//! `weft-game`: the command line of [`weft_games`].

#![forbid(unsafe_code)]

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> anyhow::Result<()> {
    if let Some(options) = weft_app_common::arguments::<weft_games::Options>(&weft)? {
        weft_games::run(&weft, &options)?;
    }
    Ok(())
}
