//! Projects in each language: their files, and what to type once they are made.

/// Project in a language.
pub struct Template {
    /// Its language, in words.
    pub language: &'static str,
    /// Paths and texts of its files. In both the program is called `my-program`.
    pub files: &'static [(&'static str, &'static str)],
    /// Commands that build, run and test it.
    pub next: &'static [&'static str],
}

/// A program in Rust.
pub const RUST: Template = Template {
    language: "Rust",
    files: &[
        ("Cargo.toml", include_str!("rust/Cargo.toml.in")),
        ("README.md", include_str!("rust/README.md")),
        (".gitignore", include_str!("rust/gitignore")),
        ("src/lib.rs", include_str!("rust/src/lib.rs")),
        ("src/main.rs", include_str!("rust/src/main.rs")),
        ("examples/simulated.rs", include_str!("rust/examples/simulated.rs")),
        ("tests/ranks.rs", include_str!("rust/tests/ranks.rs")),
    ],
    next: &[
        "cargo build --release",
        "weft run -n 4 -- target/release/my-program",
        "cargo run --release --example simulated -- 64",
        "cargo test",
    ],
};

/// A program in C.
pub const C: Template = Template {
    language: "C",
    files: &[
        ("my-program.h", include_str!("c/my-program.h")),
        ("my-program.c", include_str!("c/my-program.c")),
        ("main.c", include_str!("c/main.c")),
        ("simulated.c", include_str!("c/simulated.c")),
        ("Makefile", include_str!("c/Makefile")),
        ("CMakeLists.txt", include_str!("c/CMakeLists.txt")),
        ("meson.build", include_str!("c/meson.build")),
        ("README.md", include_str!("c/README.md")),
        (".gitignore", include_str!("c/gitignore")),
    ],
    next: &["make", "weft run -n 4 -- ./my-program", "./simulated 64", "make test"],
};

/// A program in MPI.
pub const MPI: Template = Template {
    language: "C with MPI",
    files: &[
        ("my-program.c", include_str!("mpi/my-program.c")),
        ("Makefile", include_str!("mpi/Makefile")),
        ("README.md", include_str!("mpi/README.md")),
        (".gitignore", include_str!("mpi/gitignore")),
    ],
    next: &["make", "weft mpirun -n 4 ./my-program", "make test"],
};

/// A program in Orca.
pub const ORCA: Template = Template {
    language: "Orca",
    files: &[
        ("my-program.orca", include_str!("orca/my-program.orca")),
        ("Makefile", include_str!("orca/Makefile")),
        ("README.md", include_str!("orca/README.md")),
        (".gitignore", include_str!("orca/gitignore")),
    ],
    next: &["orcac run -n 4 my-program.orca", "orcac sim -n 64 my-program.orca", "make test"],
};
