//! Functions that every program has, by their names.

macro_rules! builtins {
    ($($(#[$doc:meta])* $builtin:ident = $name:literal,)*) => {
        /// A function that every program has.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Builtin { $($(#[$doc])* $builtin,)* }

        impl Builtin {
            /// All of them.
            pub const ALL: &[Builtin] = &[$(Builtin::$builtin,)*];

            /// Its name in programs.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$builtin => $name,)* }
            }
        }
    };
}

builtins! {
    /// Absolute value of a number.
    Abs = "abs",
    /// A new node of a graph: its name.
    AddNode = "addnode",
    /// A condition that must hold.
    Assert = "assert",
    /// The character with a number.
    Chr = "chr",
    /// Takes an element out of a set or bag.
    Delete = "delete",
    /// Takes a node out of a graph.
    DeleteNode = "deletenode",
    /// The exponential function.
    Exp = "exp",
    /// An integer as a real.
    Float = "float",
    /// Takes some element out of a set or bag, and returns it.
    From = "from",
    /// Puts an element into a set or bag.
    Insert = "insert",
    /// First index of an array, in the dimension that a second argument names (from 1).
    Lb = "lb",
    /// The natural logarithm.
    Ln = "ln",
    /// The larger of two values, or the largest of a type.
    Max = "max",
    /// The smaller of two values, or the smallest of a type.
    Min = "min",
    /// Number of the processor on which the caller runs, from 0.
    MyCpu = "MYCPU",
    /// The number of processors.
    Ncpus = "NCPUS",
    /// The number of a character, truth value or value of an enumeration.
    Ord = "ord",
    /// The nearest integer.
    Round = "round",
    /// The number of elements of an array, string, set or bag.
    Size = "size",
    /// The square root.
    Sqrt = "sqrt",
    /// The integer part of a real.
    Trunc = "trunc",
    /// Last index of an array, in the dimension that a second argument names (from 1).
    Ub = "ub",
    /// Writes values to the standard output.
    Write = "Write",
    /// Writes values and the end of a line.
    WriteLine = "WriteLine",
}
