//! Code that goes through the points of a set in an order, as plain data.

use std::ffi::CStr;

use serde::{Deserialize, Serialize};

use super::{Context, Error, Result, Set, UnionMap, raw};

/// Statements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Code {
    /// `for (iterator = first; condition; iterator += step) body`; one round alone where `once`.
    For {
        /// The variable.
        iterator: String,
        /// Its first value.
        first: Term,
        /// How long it goes on.
        condition: Term,
        /// What is added.
        step: Term,
        /// What is done in each round.
        body: Box<Code>,
        /// Whether there is one round, for the first value.
        once: bool,
    },
    /// `if (condition) then else otherwise`.
    If {
        /// When.
        condition: Term,
        /// What is done then.
        then: Box<Code>,
        /// What is done else.
        otherwise: Option<Box<Code>>,
    },
    /// One after the other.
    Block(Vec<Code>),
    /// An instance of a statement, its place as arguments.
    Statement(String, Vec<Term>),
}

/// Numbers and conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Term {
    /// A parameter or a variable of a loop.
    Name(String),
    /// A constant.
    Number(i64),
    /// An operation on numbers.
    Of(Kind, Vec<Term>),
}

/// Operations, named as C has them. `Floor` divides towards negative infinity; `Quotient` and `Remainder` are of numbers that
/// are not negative; of `ZeroRemainder` only matters whether it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Kind {
    And,
    Or,
    Max,
    Min,
    Minus,
    Add,
    Sub,
    Mul,
    Div,
    Floor,
    Quotient,
    Remainder,
    ZeroRemainder,
    Select,
    Eq,
    Le,
    Lt,
    Ge,
    Gt,
}

/// isl's node or expression, given back when dropped.
struct Held<T>(*mut T, unsafe extern "C" fn(*mut T) -> *mut T);

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        // SAFETY: made by `hold` of an object that is ours, with its own way of giving it back.
        let _ = unsafe { (self.1)(self.0) };
    }
}

fn hold<T>(context: &Context, raw: *mut T, free: unsafe extern "C" fn(*mut T) -> *mut T) -> Result<Held<T>> {
    Ok(Held(context.check(raw)?, free))
}

fn hold_expr(context: &Context, raw: *mut raw::isl_ast_expr) -> Result<Held<raw::isl_ast_expr>> {
    hold(context, raw, raw::isl_ast_expr_free)
}

fn hold_node(context: &Context, raw: *mut raw::isl_ast_node) -> Result<Held<raw::isl_ast_node>> {
    hold(context, raw, raw::isl_ast_node_free)
}

/// What makes code for parameters in `known`. It has all parameters of `space`, which it takes: isl leaves out of remainders what is none of its own (0.25 to
/// 0.27), and `(-n0 - t0 + 34) % 5` is another number without t0.
fn build(context: &Context, known: &Set, space: *mut raw::isl_space) -> Result<Held<raw::isl_ast_build>> {
    context.same(known.context());
    // SAFETY: a live set of parameters, of which isl takes a reference, and a space of the same context.
    let build = unsafe { raw::isl_ast_build_from_context(raw::isl_set_align_params(known.raw_copy(), space)) };
    hold(context, build, raw::isl_ast_build_free)
}

/// Code for the instances that `times` orders, for parameters in `known`.
///
/// # Errors
/// The budget is spent.
pub fn code_of(times: &UnionMap, known: &Set) -> Result<Code> {
    let context = times.context();
    let build = build(context, known, times.raw_space())?;
    let options = unshifted(times)?;
    // SAFETY: a live build and relations of the same context; isl takes a reference of each but of the build that it makes code with.
    let build = unsafe { raw::isl_ast_build_set_options(raw::isl_ast_build_copy(build.0), options.raw_copy()) };
    let build = hold(context, build, raw::isl_ast_build_free)?;
    // SAFETY: the same.
    let node = unsafe { raw::isl_ast_build_node_from_schedule_map(build.0, times.raw_copy()) };
    code(context, &hold_node(context, node)?)
}

/// Keeps isl from moving statements within a loop so that their strides begin together: it takes how far two are apart from a third one, for which it is another
/// number where parameters are other ones, and then has them in a wrong order (isl 0.25 to 0.27, `generate_component`). It does so in no dimension that an
/// option asks for the values of; it knows none of this name, so the option does nothing else.
fn unshifted(times: &UnionMap) -> Result<UnionMap> {
    let names: Vec<String> = (0..times.range()?.to_set()?.dimensions()?).map(|at| format!("x{at}")).collect();
    let asked: Vec<String> = names.iter().map(|name| format!("{name} >= 0")).collect();
    let asked = if asked.is_empty() { "true".into() } else { asked.join(" and ") };
    UnionMap::parse(times.context(), &format!("{{ [{}] -> unshifted[x] : {asked} and x = 0 }}", names.join(", ")))
}

/// A condition of parameters in `known` that says that they are in `set`.
///
/// # Errors
/// The budget is spent.
pub fn condition(set: &Set, known: &Set) -> Result<Term> {
    let context = set.context();
    let build = build(context, known, set.raw_space())?;
    // SAFETY: a live build and a set of the same context, of which isl takes a reference.
    let expression = unsafe { raw::isl_ast_build_expr_from_set(build.0, set.raw_copy()) };
    expr(context, &hold_expr(context, expression)?)
}

/// The least (or the greatest) value of a dimension of `set`, as a number for parameters in `known` for which the set is not empty.
///
/// # Errors
/// There is none, or the budget is spent.
pub fn term(set: &Set, dimension: usize, greatest: bool, known: &Set) -> Result<Term> {
    let context = set.context();
    let params = known.intersect(&set.params()?)?;
    let build = build(context, &params, set.raw_space())?;
    // SAFETY: live objects of one context; isl takes references of set and function.
    let expression = unsafe {
        let end = if greatest { raw::isl_set_dim_max } else { raw::isl_set_dim_min };
        let value = raw::isl_pw_aff_coalesce(end(set.raw_copy(), dimension as i32));
        let value = raw::isl_pw_aff_gist(value, params.raw_copy());
        raw::isl_ast_build_expr_from_pw_aff(build.0, value)
    };
    expr(context, &hold_expr(context, expression)?)
}

fn code(context: &Context, node: &Held<raw::isl_ast_node>) -> Result<Code> {
    // SAFETY: a live node throughout; what isl gives of it is held.
    unsafe {
        match raw::isl_ast_node_get_type(node.0) {
            raw::isl_ast_node_type_isl_ast_node_for => loop_code(context, node),
            raw::isl_ast_node_type_isl_ast_node_if => {
                let then = hold_node(context, raw::isl_ast_node_if_get_then_node(node.0))?;
                let otherwise = if context.answer(raw::isl_ast_node_if_has_else_node(node.0))? {
                    let node = hold_node(context, raw::isl_ast_node_if_get_else_node(node.0))?;
                    Some(Box::new(code(context, &node)?))
                } else {
                    None
                };
                let condition = expr(context, &hold_expr(context, raw::isl_ast_node_if_get_cond(node.0))?)?;
                Ok(Code::If { condition, then: Box::new(code(context, &then)?), otherwise })
            }
            raw::isl_ast_node_type_isl_ast_node_block => {
                let list = hold(context, raw::isl_ast_node_block_get_children(node.0), raw::isl_ast_node_list_free)?;
                let count = context.size(raw::isl_ast_node_list_n_ast_node(list.0))?;
                let of = |at| {
                    let child = hold_node(context, raw::isl_ast_node_list_get_ast_node(list.0, at as i32))?;
                    code(context, &child)
                };
                (0..count).map(of).collect::<Result<_>>().map(Code::Block)
            }
            raw::isl_ast_node_type_isl_ast_node_user => {
                let call = hold_expr(context, raw::isl_ast_node_user_get_expr(node.0))?;
                let mut arguments = arguments(context, &call)?;
                if arguments.is_empty() {
                    return Err(Error::Failed("a statement without a name".into()));
                }
                let Term::Name(name) = arguments.remove(0) else {
                    return Err(Error::Failed("a statement without a name".into()));
                };
                Ok(Code::Statement(name, arguments))
            }
            _ => Err(Error::Failed("code of an unknown kind".into())),
        }
    }
}

fn loop_code(context: &Context, node: &Held<raw::isl_ast_node>) -> Result<Code> {
    // SAFETY: a live loop; what isl gives of it is held.
    unsafe {
        let part = |raw| expr(context, &hold_expr(context, raw)?);
        let Term::Name(iterator) = part(raw::isl_ast_node_for_get_iterator(node.0))? else {
            return Err(Error::Failed("a loop without a variable".into()));
        };
        let once = context.answer(raw::isl_ast_node_for_is_degenerate(node.0))?;
        let first = part(raw::isl_ast_node_for_get_init(node.0))?;
        let (condition, step) = if once {
            (Term::Number(1), Term::Number(1))
        } else {
            (part(raw::isl_ast_node_for_get_cond(node.0))?, part(raw::isl_ast_node_for_get_inc(node.0))?)
        };
        let body = hold_node(context, raw::isl_ast_node_for_get_body(node.0))?;
        Ok(Code::For { iterator, first, condition, step, body: Box::new(code(context, &body)?), once })
    }
}

fn arguments(context: &Context, expression: &Held<raw::isl_ast_expr>) -> Result<Vec<Term>> {
    // SAFETY: a live operation with so many arguments.
    unsafe {
        let count = context.size(raw::isl_ast_expr_get_op_n_arg(expression.0))?;
        let of = |at| expr(context, &hold_expr(context, raw::isl_ast_expr_get_op_arg(expression.0, at as i32))?);
        (0..count).map(of).collect()
    }
}

fn expr(context: &Context, expression: &Held<raw::isl_ast_expr>) -> Result<Term> {
    // SAFETY: a live expression; names belong to it and are copied.
    unsafe {
        match raw::isl_ast_expr_get_type(expression.0) {
            raw::isl_ast_expr_type_isl_ast_expr_id => {
                let id = hold(context, raw::isl_ast_expr_get_id(expression.0), raw::isl_id_free)?;
                let name = raw::isl_id_get_name(id.0);
                if name.is_null() {
                    return Err(Error::Failed("something without a name".into()));
                }
                Ok(Term::Name(CStr::from_ptr(name).to_string_lossy().into_owned()))
            }
            raw::isl_ast_expr_type_isl_ast_expr_int => {
                let value = hold(context, raw::isl_ast_expr_get_val(expression.0), raw::isl_val_free)?;
                let text = super::text(raw::isl_val_to_str(value.0));
                text.parse().map(Term::Number).map_err(|_| Error::Failed(format!("the number {text} is too large")))
            }
            raw::isl_ast_expr_type_isl_ast_expr_op => {
                let kind = kind(raw::isl_ast_expr_get_op_type(expression.0));
                let arguments = arguments(context, expression)?;
                kind.map(|kind| strict(kind, arguments)).ok_or(Error::Failed("an unknown operation".into()))
            }
            _ => Err(Error::Failed("an expression of an unknown kind".into())),
        }
    }
}

/// An operation; `a >= b + 1` is `a > b`.
fn strict(kind: Kind, mut arguments: Vec<Term>) -> Term {
    let kind_and_side = match kind {
        Kind::Ge => Some((Kind::Gt, 1)),
        Kind::Le => Some((Kind::Lt, 0)),
        _ => None,
    };
    if let Some((kind, side)) = kind_and_side
        && let Some(Term::Of(Kind::Add, parts)) = arguments.get_mut(side)
        && parts.last() == Some(&Term::Number(1))
        && parts.len() == 2
    {
        arguments[side] = parts.swap_remove(0);
        return Term::Of(kind, arguments);
    }
    Term::Of(kind, arguments)
}

fn kind(operation: raw::isl_ast_expr_op_type) -> Option<Kind> {
    Some(match operation {
        raw::isl_ast_expr_op_type_isl_ast_expr_op_and | raw::isl_ast_expr_op_type_isl_ast_expr_op_and_then => Kind::And,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_or | raw::isl_ast_expr_op_type_isl_ast_expr_op_or_else => Kind::Or,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_max => Kind::Max,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_min => Kind::Min,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_minus => Kind::Minus,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_add => Kind::Add,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_sub => Kind::Sub,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_mul => Kind::Mul,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_div => Kind::Div,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_fdiv_q => Kind::Floor,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_pdiv_q => Kind::Quotient,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_pdiv_r => Kind::Remainder,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_zdiv_r => Kind::ZeroRemainder,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_cond | raw::isl_ast_expr_op_type_isl_ast_expr_op_select => {
            Kind::Select
        }
        raw::isl_ast_expr_op_type_isl_ast_expr_op_eq => Kind::Eq,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_le => Kind::Le,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_lt => Kind::Lt,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_ge => Kind::Ge,
        raw::isl_ast_expr_op_type_isl_ast_expr_op_gt => Kind::Gt,
        _ => return None,
    })
}
