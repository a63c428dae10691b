//! Types of expressions and their assignability; mirrors cel-go's `common/types/types.go`, `checker/types.go` and
//! `checker/format.go`.

use std::fmt;
use std::sync::Arc;

use super::budget;

/// Maximum number of parts of a type.
const MAX_PARTS: u32 = 2_000;

/// A type, possibly with variables that the checker binds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// Known only at run time.
    #[default]
    Dyn,
    /// `google.protobuf.Any`: like `dyn`, but cannot be iterated over.
    Any,
    /// The type of a node that already has an issue.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    #[allow(clippy::enum_variant_names, reason = "as CEL calls it")]
    Type(Option<Arc<Type>>),
    Optional(Arc<Type>),
    /// A named type with fields.
    Object(&'static str),
    /// A named type without fields.
    Opaque(&'static str),
    /// A type that also accepts `null`.
    Wrapper(Arc<Type>),
    /// A type variable of the checker.
    Var(u32),
    /// A type parameter of a declaration.
    Param(char),
}

impl Type {
    pub(super) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    pub(super) fn type_of(ty: Self) -> Self {
        Self::Type(Some(Arc::new(ty)))
    }

    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    /// Returns the type inside an optional and true, or the type itself and false.
    pub(super) fn unwrapped(&self) -> (Self, bool) {
        match self {
            Self::Optional(value) => ((**value).clone(), true),
            other => (other.clone(), false),
        }
    }

    /// Returns the run-time name of the type.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Dyn | Self::Var(_) | Self::Param(_) => "dyn",
            Self::Any => "google.protobuf.Any",
            Self::Error => "error",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Object(name) | Self::Opaque(name) => name,
            Self::Wrapper(of) => of.name(),
        }
    }

    fn params(&self) -> Vec<&Self> {
        match self {
            Self::List(of) | Self::Optional(of) | Self::Type(Some(of)) => vec![of],
            Self::Map(of) => vec![&of.0, &of.1],
            _ => Vec::new(),
        }
    }

    /// Whether the type is small enough to process. Maps within maps double their parts at each level.
    pub(super) fn is_small(&self) -> bool {
        fn count(ty: &Type, left: &mut u32) {
            *left = left.saturating_sub(1);
            if *left > 0 {
                ty.params().into_iter().for_each(|param| count(param, left));
            }
        }
        let mut left = MAX_PARTS;
        count(self, &mut left);
        left > 0
    }

    /// Returns the name of the type in issues; `Display` writes the type's own name.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Any => "any".to_owned(),
            Self::Duration => "duration".to_owned(),
            Self::Error => "!error!".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Timestamp => "timestamp".to_owned(),
            Self::Wrapper(of) => format!("wrapper({})", of.name()),
            Self::Var(id) => format!("_var{id}"),
            Self::Param(name) => name.to_string(),
            _ => {
                let params: Vec<String> = self.params().into_iter().map(Self::shown).collect();
                if params.is_empty() { self.name().to_owned() } else { format!("{}({})", self.name(), params.join(", ")) }
            }
        }
    }

    /// Whether two types are equal including parameters; stricter than assignable.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Wrapper(a), Self::Wrapper(b)) => a.is_equivalent(b),
            (Self::Wrapper(a), b) | (b, Self::Wrapper(a)) => b.is_equivalent(a),
            _ => self == other,
        }
    }

    /// Replaces the parameters of a declaration by type variables.
    pub(super) fn instantiate(&self, variable: &mut impl FnMut(char) -> Self) -> Self {
        match self {
            Self::Param(name) => variable(*name),
            Self::List(of) => Self::list(of.instantiate(variable)),
            Self::Optional(of) => Self::optional(of.instantiate(variable)),
            Self::Map(of) => Self::map(of.0.instantiate(variable), of.1.instantiate(variable)),
            Self::Type(Some(of)) => Self::type_of(of.instantiate(variable)),
            other => other.clone(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Wrapper(of) = self {
            return write!(f, "wrapper({})", of.name());
        }
        f.write_str(self.name())?;
        for (i, param) in self.params().into_iter().enumerate() {
            write!(f, "{}{param}", if i == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.params().is_empty() { "" } else { ")" })
    }
}

/// Bindings of type variables. A failed comparison is rolled back.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    bound: Vec<Option<Type>>,
    /// Earlier bindings, for rolling back.
    journal: Vec<(usize, Option<Type>)>,
}

impl Bindings {
    pub(super) fn fresh(&mut self) -> Type {
        self.bound.push(None);
        Type::Var(self.bound.len() as u32 - 1)
    }

    fn find(&self, ty: &Type) -> Option<&Type> {
        if let Type::Var(id) = ty { self.bound.get(*id as usize)?.as_ref() } else { None }
    }

    fn bind(&mut self, variable: &Type, ty: Type) {
        if let Type::Var(id) = variable
            && let Some(slot) = self.bound.get_mut(*id as usize)
        {
            self.journal.push((*id as usize, slot.replace(ty)));
        }
    }

    /// Whether all pairs are assignable; binds type variables if so.
    pub(super) fn assignable<'t>(&mut self, mut pairs: impl Iterator<Item = (&'t Type, &'t Type)>) -> bool {
        self.journal.clear();
        let fits = pairs.all(|(a, b)| self.fits(a, b));
        if !fits {
            for (id, before) in self.journal.drain(..).rev() {
                self.bound[id] = before;
            }
        }
        fits
    }

    /// Replaces type variables by their bindings. Unbound ones become `dyn` if `to_dyn`.
    pub(super) fn substitute(&self, ty: &Type, to_dyn: bool) -> Type {
        if !budget::spend(1) {
            return Type::Dyn;
        }
        if let Some(bound) = self.find(ty) {
            return self.substitute(bound, to_dyn);
        }
        match ty {
            Type::Var(_) | Type::Param(_) if to_dyn => Type::Dyn,
            Type::List(of) => Type::list(self.substitute(of, to_dyn)),
            Type::Optional(of) => Type::optional(self.substitute(of, to_dyn)),
            Type::Map(of) => Type::map(self.substitute(&of.0, to_dyn), self.substitute(&of.1, to_dyn)),
            Type::Type(Some(of)) => Type::type_of(self.substitute(of, to_dyn)),
            other => other.clone(),
        }
    }

    fn fits(&mut self, a: &Type, b: &Type) -> bool {
        use Type as K;
        if !budget::spend(1) {
            return false;
        }
        if let K::Var(_) = b {
            let (valid, bound) = self.substitutes(a, b);
            if valid || bound {
                return valid;
            }
        }
        if let K::Var(_) = a {
            return self.substitutes(b, a).0;
        }
        let open = |t: &Type| t.is_dyn() || *t == K::Error;
        if open(a) || open(b) {
            return true;
        }
        match (a, b) {
            (K::Null, other) | (other, K::Null) => {
                matches!(other, K::Null | K::Optional(_) | K::Opaque(_) | K::Object(_) | K::Duration | K::Timestamp | K::Wrapper(_))
            }
            (K::Wrapper(a), K::Wrapper(b)) => a == b,
            (K::Wrapper(w), other) | (other, K::Wrapper(w)) => **w == *other,
            (K::Type(_), K::Type(_)) => true,
            (K::List(a), K::List(b)) | (K::Optional(a), K::Optional(b)) => self.fits(a, b),
            (K::Map(a), K::Map(b)) => self.fits(&a.0, &b.0) && self.fits(&a.1, &b.1),
            _ => a == b,
        }
    }

    /// Whether the variable can be bound to the type, and whether it was bound before.
    fn substitutes(&mut self, ty: &Type, variable: &Type) -> (bool, bool) {
        if ty == variable {
            return (true, true);
        }
        if let Some(bound) = self.find(variable).cloned() {
            if *ty == bound {
                return (true, true);
            }
            if self.fits(ty, &bound) {
                let general = most_general(ty, &bound);
                if self.absent(variable, &general) {
                    self.bind(variable, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.absent(variable, ty) {
            self.bind(variable, ty.clone());
            return (true, false);
        }
        (false, false)
    }

    /// Whether the type does not contain the variable.
    fn absent(&self, variable: &Type, ty: &Type) -> bool {
        if variable == ty {
            return false;
        }
        match ty {
            Type::Var(_) => self.find(ty).is_none_or(|bound| self.absent(variable, bound)),
            _ => ty.params().into_iter().all(|param| self.absent(variable, param)),
        }
    }
}

/// Returns the more general of two assignable types.
pub(super) fn most_general(a: &Type, b: &Type) -> Type {
    if less_specific(a, b) { a.clone() } else { b.clone() }
}

fn less_specific(a: &Type, b: &Type) -> bool {
    let open = |t: &Type| t.is_dyn() || matches!(t, Type::Var(_));
    if open(a) || open(b) {
        return open(a);
    }
    match (a, b) {
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => less_specific(a, b),
        (Type::Map(a), Type::Map(b)) => less_specific(&a.0, &b.0) && less_specific(&a.1, &b.1),
        (Type::Type(_), Type::Type(_)) => true,
        _ => a == b,
    }
}
