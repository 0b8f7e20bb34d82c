//! Expressions.

use super::code::Code;
use super::values::{Value, address};
use crate::check::{self, Entity, Type, TypeId, Types};
use crate::tree::unquoted;
use crate::tree::{Aggregate, BinaryOperator, Expression, ExpressionKind, Name, UnaryOperator};

impl Code<'_, '_> {
    /// An expression in C.
    pub fn value(&mut self, expression: &Expression) -> Value {
        match &expression.kind {
            ExpressionKind::Integer(text) => Value::Flat(integer(text.parse().unwrap_or_default())),
            ExpressionKind::Real(text) => Value::Flat(real(text.parse().unwrap_or_default())),
            ExpressionKind::Boolean(value) => Value::Flat(u8::from(*value).to_string()),
            ExpressionKind::Char(text) => {
                let letter = unquoted(text).and_then(|text| text.chars().next());
                Value::Flat(character(letter.unwrap_or_default()))
            }
            ExpressionKind::Text(text) => self.text(&unquoted(text).unwrap_or_default()),
            ExpressionKind::Nil => Value::Flat("(orca_node)0".into()),
            ExpressionKind::Name(_) => self.named(expression),
            ExpressionKind::Field { of, field } => self.field(expression, of, field),
            ExpressionKind::Index { of, indices } => self.index(expression, of, indices),
            ExpressionKind::Call { callee, arguments } => self.call(expression, callee, arguments),
            ExpressionKind::Operation { object, arguments, .. } => {
                self.operation(expression, object, arguments)
            }
            ExpressionKind::Unary { operator, operand } => {
                let of = self.of(operand);
                let operand = self.flat(operand);
                Value::Flat(match (operator, of) {
                    (UnaryOperator::Not, _) => format!("!({operand})"),
                    (UnaryOperator::Negate, Types::REAL) => format!("-({operand})"),
                    (UnaryOperator::Negate, _) => format!("orca_subtract(0, {operand})"),
                })
            }
            ExpressionKind::Binary { operator, left, right } => {
                self.binary(expression, *operator, left, right)
            }
            ExpressionKind::Aggregate { form, elements, .. } => {
                self.aggregate(self.of(expression), *form, elements)
            }
            ExpressionKind::Parenthesised(inner) => self.value(inner),
            ExpressionKind::Malformed => Value::Flat("0".into()),
        }
    }

    /// A constant of the program's, that is not freed.
    fn text(&mut self, text: &str) -> Value {
        let mut texts = self.generator.texts.borrow_mut();
        let known = texts.iter().position(|known| known == text);
        let number = known.unwrap_or_else(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        });
        Value::Place(format!("text{number}"))
    }

    fn named(&mut self, expression: &Expression) -> Value {
        match self.generator.facts.meanings.get(&expression.id) {
            Some(Entity::Variable(id)) => Value::Place(self.variable(*id)),
            Some(Entity::Value { number, .. }) => Value::Flat(integer(i64::from(*number))),
            Some(Entity::Constant(id)) => {
                let value = self.generator.facts.constants[id.index()].value.clone();
                match value {
                    Some(check::Value::Integer(value)) => Value::Flat(integer(value)),
                    Some(check::Value::Real(value)) => Value::Flat(real(value)),
                    Some(check::Value::Boolean(value)) => Value::Flat(u8::from(value).to_string()),
                    Some(check::Value::Char(letter)) => Value::Flat(character(letter)),
                    Some(check::Value::Text(text)) => self.text(&text),
                    Some(check::Value::Enumeration(_, number)) => {
                        Value::Flat(integer(i64::from(number)))
                    }
                    None => Value::Flat("0".into()),
                }
            }
            _ => Value::Flat("0".into()),
        }
    }

    fn field(&mut self, expression: &Expression, of: &Expression, field: &Name) -> Value {
        if self.generator.facts.meanings.contains_key(&expression.id) {
            return self.named(expression); // A module's.
        }
        let (name, place) = (&field.text, self.generator.place(field.span));
        let whole = self.of(of);
        let inner = self.lvalue(of);
        match self.generator.facts.types.get(whole) {
            Type::Graph { .. } => Value::Place(format!("{inner}.fields.f_{name}")),
            Type::Union { tag, .. } if tag == name => Value::Place(format!("{inner}.tag")),
            Type::Union { .. } => {
                let union = self.generator.type_name(whole);
                Value::Place(format!("(*{union}_{name}({}, {place}))", address(&inner)))
            }
            _ => Value::Place(format!("{inner}.f_{name}")),
        }
    }

    fn index(&mut self, expression: &Expression, of: &Expression, indices: &[Expression]) -> Value {
        if let Some(access) = self.unchecked.get(&expression.id) {
            return Value::Place(access.element());
        }
        let whole = self.of(of);
        let name = self.generator.type_name(whole);
        let place = self.generator.place(indices.first().map_or(of.span, |index| index.span));
        let all: Vec<&Expression> = [of].into_iter().chain(indices).collect();
        let (before, mut values) = self.operands(&all);
        let array = address(&values.remove(0));
        let indices = values.join(", ");
        let element = match self.generator.facts.types.get(whole) {
            Type::Text => {
                format!("({array})->at[orca_index({indices}, 0, ({array})->count[0], {place})]")
            }
            Type::Graph { .. } => format!("*{name}_node({array}, {indices}, {place})"),
            _ => format!("*{name}_at({array}, {indices}, {place})"),
        };
        match before.is_empty() {
            true => Value::Place(format!("({element})")),
            // A comma makes no place of C's: its address does.
            false => Value::Place(format!("(*({before}&{element}))")),
        }
    }

    fn binary(
        &mut self,
        expression: &Expression,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Value {
        use BinaryOperator as Op;
        if matches!(operator, Op::And | Op::Or) {
            let sign = if operator == Op::And { "&&" } else { "||" };
            let (left, right) = (self.flat(left), self.flat(right));
            return Value::Flat(format!("({left} {sign} {right})"));
        }
        // Of `nil` and a name, the type of the name.
        let of = match self.of(left) {
            Types::NIL => self.of(right),
            of => of,
        };
        let of = if operator == Op::In { self.of(right) } else { of };
        let place = self.generator.place(expression.span);
        let (before, values) = self.operands(&[left, right]);
        let (x, y) = (&values[0], &values[1]);
        let value = self.operated(operator, of, (x, y), &place);
        match value {
            Value::Flat(text) if !before.is_empty() => Value::Flat(format!("({before}{text})")),
            Value::Fresh(text) if !before.is_empty() => Value::Fresh(format!("({before}{text})")),
            value => value,
        }
    }

    pub fn operated(
        &mut self,
        operator: BinaryOperator,
        of: TypeId,
        (x, y): (&str, &str),
        place: &str,
    ) -> Value {
        use BinaryOperator as Op;
        let name = self.generator.type_name(of);
        let kind = self.generator.facts.types.get(of);
        if let Type::Set(_) | Type::Bag(_) = kind {
            let (p, q) = (address(y), address(x));
            return match operator {
                Op::In => {
                    let element = self.addressed(of, x);
                    Value::Flat(format!("{name}_has({p}, {element})"))
                }
                Op::Add => Value::Fresh(format!("{name}_merge({q}, {p}, true, true, true)")),
                Op::Subtract => Value::Fresh(format!("{name}_merge({q}, {p}, true, false, false)")),
                Op::Multiply => Value::Fresh(format!("{name}_merge({q}, {p}, false, false, true)")),
                _ => self.compared(operator, of, (x, y)),
            };
        }
        if of == Types::TEXT && operator == Op::Add {
            return Value::Fresh(format!("orca_join({}, {})", address(x), address(y)));
        }
        Value::Flat(match (operator, of) {
            (Op::Add, Types::REAL) => format!("({x} + {y})"),
            (Op::Subtract, Types::REAL) => format!("({x} - {y})"),
            (Op::Multiply, Types::REAL) => format!("({x} * {y})"),
            (Op::Divide, Types::REAL) => format!("({x} / {y})"),
            (Op::Add, _) => format!("orca_add({x}, {y})"),
            (Op::Subtract, _) => format!("orca_subtract({x}, {y})"),
            (Op::Multiply, _) => format!("orca_multiply({x}, {y})"),
            (Op::Divide | Op::Quotient, _) => format!("orca_divide({x}, {y}, {place})"),
            (Op::Remainder, _) => format!("orca_remainder({x}, {y}, {place})"),
            _ => return self.compared(operator, of, (x, y)),
        })
    }

    fn compared(&mut self, operator: BinaryOperator, of: TypeId, (x, y): (&str, &str)) -> Value {
        use BinaryOperator as Op;
        let sign = match operator {
            Op::Equal => "==",
            Op::NotEqual => "!=",
            other => other.sign(),
        };
        if self.generator.is_scalar(of) {
            return Value::Flat(format!("({x} {sign} {y})"));
        }
        let ordered = !matches!(operator, Op::Equal | Op::NotEqual);
        let name = match ordered && of == Types::TEXT {
            true => "orca_text_order".to_owned(),
            false => format!("{}_compare", self.generator.type_name(of)),
        };
        let [x, y] = [x, y].map(|side| self.addressed_as(of, side));
        Value::Flat(format!("({name}({x}, {y}) {sign} 0)"))
    }

    /// The address of an element of a set or bag of this type, for a call.
    pub fn addressed(&mut self, set: TypeId, element: &str) -> String {
        match *self.generator.facts.types.get(set) {
            Type::Set(of) | Type::Bag(of) => self.addressed_as(of, element),
            _ => address(element),
        }
    }

    /// The address of a value: one that C has no place for gets a slot.
    pub fn addressed_as(&mut self, of: TypeId, value: &str) -> String {
        if !self.generator.is_flat(of) {
            return address(value);
        }
        let slot = self.slot(of);
        format!("({slot} = {value}, &{slot})")
    }

    /// A record, array, set or bag of these elements.
    fn aggregate(&mut self, of: TypeId, form: Aggregate, elements: &[Expression]) -> Value {
        let name = self.generator.type_name(of);
        let owned: Vec<String> = elements.iter().map(|element| self.owned(element)).collect();
        let count = owned.len();
        match (form, self.generator.facts.types.get(of).clone()) {
            (Aggregate::List, Type::Record { fields, .. }) => {
                let fields = fields.iter().zip(owned);
                let fields: Vec<String> =
                    fields.map(|(field, value)| format!(".f_{} = {value}", field.name)).collect();
                let text = format!("({name}){{{}}}", fields.join(", "));
                match self.generator.is_flat(of) {
                    true => Value::Flat(text),
                    false => Value::Fresh(text),
                }
            }
            (_, Type::Array { of, .. } | Type::Set(of) | Type::Bag(of)) => {
                let element = self.generator.type_name(of);
                let elements = match count {
                    0 => "NULL".to_owned(),
                    _ => format!("({element}[]){{{}}}", owned.join(", ")),
                };
                Value::Fresh(format!("{name}_of({count}, {elements})"))
            }
            _ => Value::Flat("0".into()),
        }
    }
}

/// An integer in C.
pub fn integer(value: i64) -> String {
    match value {
        i64::MIN => "INT64_MIN".to_owned(),
        value => format!("INT64_C({value})"),
    }
}

fn real(value: f64) -> String {
    format!("{value:?}")
}

fn character(letter: char) -> String {
    format!("(orca_char){}", u32::from(letter))
}
