//! All in one binary, because linking many takes longer than running them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod awari {
    mod common;
    mod files;
    mod processes;
    mod program;
    mod simulated;
    mod slow;
    mod values;
}

mod barnes {
    mod program;
    mod ranks;
}

mod games {
    mod common;
    mod perfect;
    mod playing;
    mod program;
    mod rules;
    mod simulated;
    mod values;
}

mod leq {
    mod program;
    mod ranks;
}

mod puzzle {
    mod program;
    mod sequential;
    mod simulated;
    mod slow;
}

mod qr {
    mod program;
}

mod sor {
    mod program;
}

mod tsp {
    mod program;
    mod ranks;
}

mod water {
    mod program;
    mod ranks;
}
