use super::*;

const TURNED: Conditions = Conditions {
    machine: "host.copy_ns_per_byte = 29.0\nirx.ni.send_ns = 7",
    ..Conditions::STATED
};

#[test]
fn a_machine_is_as_its_file_says_but_for_what_is_turned() {
    let stated = machine("myrinet-compared").unwrap();
    assert_eq!(stated, MachineModel::named("myrinet-compared").unwrap());
    let turned = TURNED.hold(|| machine("myrinet-compared")).unwrap();
    assert_eq!(turned.host.copy_ns_per_byte, 29.0);
    assert_eq!(turned.host.launch_ns, stated.host.launch_ns);
    assert_eq!(turned.ni.send_ns, stated.ni.send_ns);
    let irx = weft_simulator::Options::with_preset(turned, 2, weft_simulator::Preset::IrxImc);
    assert_eq!(irx.machine.ni.send_ns, 7);
}

#[test]
fn an_entry_that_no_machine_has_is_an_error() {
    let wrong = Conditions { machine: "host.colour = 1", ..Conditions::STATED };
    let error = wrong.hold(|| machine("medusa")).unwrap_err();
    assert!(format!("{error:#}").contains("colour"), "{error:#}");
}

#[test]
fn conditions_hold_as_long_as_the_experiment_even_if_it_panics() {
    let inside = TURNED.hold(|| conditions().machine);
    assert_eq!(inside, TURNED.machine);
    assert_eq!(conditions(), Conditions::STATED);
    assert!(std::panic::catch_unwind(|| TURNED.hold(|| panic!("on purpose"))).is_err());
    assert_eq!(conditions(), Conditions::STATED);
}
