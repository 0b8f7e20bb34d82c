//! `weft-game`: the command line of [`weft_apps::games`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::games::main()
}
