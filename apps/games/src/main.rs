//! `weft-game`: the command line of [`weft_games`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_games::main()
}
