//! Names of presets and shapes, as users type them.

use crate::tree::Shape;
use crate::{Forwarding, Preset};

#[test]
fn presets_print_as_they_parse() {
    for preset in Preset::ALL {
        assert_eq!(preset.to_string().parse(), Ok(preset));
    }
    assert_eq!("nrx-imc".parse(), Ok(Preset::default()));
    assert_eq!(Preset::NrxImc.forwarding(), Forwarding::Ni);
    assert_eq!(Preset::NrxHmc.forwarding(), Forwarding::Host);
}

#[test]
fn shapes_print_as_they_parse() {
    for shape in Shape::ALL {
        assert_eq!(shape.to_string().parse(), Ok(shape));
    }
    assert_eq!("binary".parse(), Ok(Shape::default()));
}

#[test]
fn unknown_names_say_what_there_is() {
    let preset = "nrx".parse::<Preset>().unwrap_err();
    let expected = "there is no preset 'nrx'; there are nrx-imc, nrx-hmc, irx-imc, irx-hmc, hrx-hmc, hrx-imc and pupa";
    assert_eq!(preset.to_string(), expected);
    let shape = "Binary".parse::<Shape>().unwrap_err();
    let expected =
        "there is no tree shape 'Binary'; there are binary, binomial, chain, flat and relay";
    assert_eq!(shape.to_string(), expected);
}
