//! Functions that every program has.

use super::code::Code;
use super::expressions::integer;
use super::names::quoted;
use super::statements::Statements;
use super::values::{Value, address};
use crate::check::{Builtin, Entity, Type, TypeId, Types};
use crate::tree::{Expression, ExpressionKind};

impl Code<'_, '_> {
    /// A call of a function that every program has.
    pub fn builtin(
        &mut self,
        builtin: Builtin,
        expression: &Expression,
        arguments: &[Expression],
    ) -> Value {
        use Builtin::*;
        let place = self.generator.place(expression.span);
        match (builtin, arguments) {
            (Ncpus, _) => Value::Flat("(orca_integer)orca_ranks".into()),
            (MyCpu, _) => Value::Flat("(orca_integer)orca_rank".into()),
            (Min | Max, [named]) => self.limit(builtin, named),
            (Lb | Ub | Size, [value, dimension @ ..]) => {
                self.extent(builtin, value, dimension.first())
            }
            (From, [set]) => self.taken(set, &place),
            (AddNode, [graph]) => self.added(graph, &place),
            (Insert | Delete, [element, set]) => {
                let (of, word) = (self.of(set), builtin.name());
                let (before, values) = self.operands(&[element, set]);
                let element = self.addressed(of, &values[0]);
                let (name, set) = (self.generator.type_name(of), address(&values[1]));
                Value::Flat(format!("{before}{name}_{word}({set}, {element})"))
            }
            (DeleteNode, [graph, node]) => {
                let name = self.generator.type_name(self.of(graph));
                let (before, values) = self.operands(&[graph, node]);
                let (graph, node) = (address(&values[0]), &values[1]);
                Value::Flat(format!("{before}{name}_remove({graph}, {node}, {place})"))
            }
            (_, arguments) => {
                let of = arguments.first().map_or(Types::UNKNOWN, |first| self.of(first));
                let all: Vec<&Expression> = arguments.iter().collect();
                let (before, values) = self.operands(&all);
                let text = computed(builtin, of, &values, &place);
                let text = if before.is_empty() { text } else { format!("({before}{text})") };
                Value::Flat(text)
            }
        }
    }

    /// Smallest or largest value of a type.
    fn limit(&mut self, builtin: Builtin, named: &Expression) -> Value {
        let of = match self.generator.facts.meanings.get(&named.id) {
            Some(Entity::Type(of)) => *of,
            _ => return Value::Flat("0".into()),
        };
        let largest = builtin == Builtin::Max;
        Value::Flat(match (self.generator.facts.types.get(of), largest) {
            (Type::Integer, false) => "INT64_MIN".into(),
            (Type::Integer, true) => "INT64_MAX".into(),
            (Type::Real, false) => "-1.7976931348623157e308".into(),
            (Type::Real, true) => "1.7976931348623157e308".into(),
            (Type::Char, true) => "(orca_char)0x10ffff".into(),
            (Type::Boolean, true) => "1".into(),
            (Type::Enumeration { values, .. }, true) => integer(values.len() as i64 - 1),
            _ => "0".into(),
        })
    }

    fn extent(
        &mut self,
        builtin: Builtin,
        value: &Expression,
        dimension: Option<&Expression>,
    ) -> Value {
        let of = self.of(value);
        let place = self.lvalue(value);
        let dimension = match dimension.map(|dimension| self.constant(dimension)) {
            Some(number) => number - 1,
            None => 0,
        };
        let (lower, count) =
            (format!("{place}.lower[{dimension}]"), format!("{place}.count[{dimension}]"));
        Value::Flat(match (builtin, self.generator.facts.types.get(of)) {
            (Builtin::Lb, _) => lower,
            (Builtin::Ub, _) => {
                format!("ORCA_LAST({}, {dimension})", address(&place))
            }
            (_, Type::Text) => count,
            (_, Type::Array { .. }) => {
                format!("(orca_integer){}_size({})", self.generator.type_name(of), address(&place))
            }
            _ => format!("{place}.size"),
        })
    }

    /// The number of a dimension, which the checker found constant.
    fn constant(&self, expression: &Expression) -> i64 {
        match &expression.bare().kind {
            ExpressionKind::Integer(text) => text.parse().unwrap_or(1),
            _ => match self.generator.facts.meanings.get(&expression.bare().id) {
                Some(Entity::Constant(id)) => {
                    match self.generator.facts.constants[id.index()].value {
                        Some(crate::check::Value::Integer(number)) => number,
                        _ => 1,
                    }
                }
                _ => {
                    self.generator.refuse(expression.span, "a dimension that is computed");
                    1
                }
            },
        }
    }

    fn taken(&mut self, set: &Expression, place: &str) -> Value {
        let (of, name) = (self.of(set), self.generator.type_name(self.of(set)));
        let call = format!("{name}_from({}, {place})", self.pointer(set));
        let flat = match *self.generator.facts.types.get(of) {
            Type::Set(of) | Type::Bag(of) => self.generator.is_flat(of),
            _ => true,
        };
        if flat { Value::Flat(call) } else { Value::Fresh(call) }
    }

    fn added(&mut self, graph: &Expression, place: &str) -> Value {
        let of = self.of(graph);
        let name = self.generator.type_name(of);
        let pointer = self.pointer(graph);
        let Type::Graph { nodes, .. } = self.generator.facts.types.get(of).clone() else {
            return Value::Flat("0".into());
        };
        let fields = format!("s{}", self.out.number());
        self.out.line(&format!("{name}_nodes {fields};"));
        self.out.line(&format!("memset(&{fields}, 0, sizeof {fields});"));
        if let Some(root) = self.generator.root(graph) {
            self.begin_fields(&fields, "f_", &nodes, (graph.span, root));
        }
        Value::Flat(format!("{name}_add({pointer}, {fields}, {place})"))
    }
}

impl Statements<'_, '_> {
    /// Writes values, and perhaps the end of the line.
    pub fn written(&mut self, values: &[Expression], ends_line: bool) {
        let line = format!("line{}", self.code.out.number());
        self.code.out.open("{");
        self.code.out.line(&format!("orca_line {line} = {{0}};"));
        for value in values {
            let of = self.code.of(value);
            let text = match self.code.generator.facts.types.get(of).clone() {
                Type::Text => format!("orca_write_text(&{line}, {})", self.code.pointer(value)),
                Type::Integer => format!("orca_write_integer(&{line}, {})", self.code.flat(value)),
                Type::Real => format!("orca_write_real(&{line}, {})", self.code.flat(value)),
                Type::Boolean => format!("orca_write_boolean(&{line}, {})", self.code.flat(value)),
                Type::Char => format!("orca_write_char(&{line}, {})", self.code.flat(value)),
                Type::Enumeration { values, .. } => {
                    let (value, place) =
                        (self.code.flat(value), self.code.generator.place(value.span));
                    let place = format!("orca_index({value}, 0, {}, {place})", values.len());
                    format!("orca_write_name(&{line}, names{}[{place}])", of.0)
                }
                _ => continue,
            };
            self.code.out.line(&format!("{text};"));
        }
        if ends_line {
            self.code.out.line(&format!("orca_write(&{line}, {}, 1);", quoted("\n")));
        }
        self.code.out.line(&format!("orca_write_end(&{line});"));
        self.code.out.close("}");
    }
}

/// A function of numbers, of values that hold nothing.
fn computed(builtin: Builtin, of: TypeId, values: &[String], place: &str) -> String {
    use Builtin::*;
    let x = values.first().map_or("0", String::as_str);
    let real = of == Types::REAL;
    match (builtin, values.get(1)) {
        (Abs, _) if real => format!("fabs({x})"),
        (Abs, _) => format!("orca_abs({x})"),
        (Min, Some(y)) if real => format!("orca_min_real({x}, {y})"),
        (Max, Some(y)) if real => format!("orca_max_real({x}, {y})"),
        (Min, Some(y)) => format!("orca_min({x}, {y})"),
        (Max, Some(y)) => format!("orca_max({x}, {y})"),
        (Sqrt, _) => format!("sqrt({x})"),
        (Exp, _) => format!("exp({x})"),
        (Ln, _) => format!("log({x})"),
        (Float, _) => format!("(orca_real)({x})"),
        (Trunc, _) => format!("orca_truncated(trunc({x}), {place})"),
        (Round, _) => format!("orca_truncated(round({x}), {place})"),
        (Chr, _) => format!("orca_chr({x}, {place})"),
        (Ord, _) => format!("(orca_integer)({x})"),
        (Assert, _) => {
            let message = quoted("this was to hold, and does not");
            format!("if (!({x})) orca_fail({place}, {message})")
        }
        _ => "0".to_owned(),
    }
}
