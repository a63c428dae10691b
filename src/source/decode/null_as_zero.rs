//! Reads `null` as the zero value, everywhere.
//!
//! Go's decoder skips a field whose value is `null`, whatever its type; serde accepts `null` only for options.
//! [`NullAsZero`] wraps a deserializer and everything that it passes on, so that `null` reads as no fields, no items,
//! the empty string, zero or false.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

/// A deserializer, visitor, access or seed that reads `null` as the zero value.
pub(in crate::source) struct NullAsZero<T>(pub(in crate::source) T);

/// The type of the zero value that replaces `null`.
#[derive(Clone, Copy)]
enum Zero {
    Map,
    Seq,
    Text,
    Bool,
    Integer,
    Float,
}

/// Checks for `null`, then continues with the inner visitor.
struct OrZero<V, R> {
    visitor: V,
    zero: Zero,
    read: R,
}

macro_rules! or_zero {
    ($($method:ident($($arg:ident: $ty:ty),*) $zero:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($arg: $ty,)* visitor: V) -> Result<V::Value, D::Error> {
            #[derive(Clone, Copy)]
            struct Read { $($arg: $ty,)* }
            impl<'de> ReadValue<'de> for Read {
                #[inline]
                fn read<D: Deserializer<'de>, V: Visitor<'de>>(self, deserializer: D, visitor: V) -> Result<V::Value, D::Error> {
                    deserializer.$method($(self.$arg,)* NullAsZero(visitor))
                }
            }
            self.0.deserialize_option(OrZero { visitor, zero: Zero::$zero, read: Read { $($arg,)* } })
        }
    )*};
}

/// Reads a value that is not `null`.
trait ReadValue<'de> {
    fn read<D: Deserializer<'de>, V: Visitor<'de>>(self, deserializer: D, visitor: V) -> Result<V::Value, D::Error>;
}

macro_rules! pass_on {
    ($($method:ident($($arg:ident: $ty:ty),*),)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($arg: $ty,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($arg,)* NullAsZero(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for NullAsZero<D> {
    type Error = D::Error;

    or_zero! {
        deserialize_map() Map,
        deserialize_seq() Seq,
        deserialize_tuple(len: usize) Seq,
        deserialize_tuple_struct(name: &'static str, len: usize) Seq,
        deserialize_str() Text,
        deserialize_string() Text,
        deserialize_char() Text,
        deserialize_bytes() Text,
        deserialize_byte_buf() Text,
        deserialize_bool() Bool,
        deserialize_i8() Integer,
        deserialize_i16() Integer,
        deserialize_i32() Integer,
        deserialize_i64() Integer,
        deserialize_i128() Integer,
        deserialize_u8() Integer,
        deserialize_u16() Integer,
        deserialize_u32() Integer,
        deserialize_u64() Integer,
        deserialize_u128() Integer,
        deserialize_f32() Float,
        deserialize_f64() Float,
    }

    /// Reads a map, since derived visitors would accept a list for a struct.
    fn deserialize_struct<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    pass_on! {
        deserialize_any(),
        deserialize_option(),
        deserialize_unit(),
        deserialize_unit_struct(name: &'static str),
        deserialize_newtype_struct(name: &'static str),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
        deserialize_identifier(),
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

impl<'de, V: Visitor<'de>, R: ReadValue<'de>> Visitor<'de> for OrZero<V, R> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        let no_entries = std::iter::empty::<((), ())>;
        match self.zero {
            Zero::Map => self.visitor.visit_map(MapDeserializer::new(no_entries())),
            Zero::Seq => self.visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<()>())),
            Zero::Text => self.visitor.visit_str(""),
            Zero::Bool => self.visitor.visit_bool(false),
            Zero::Integer => self.visitor.visit_u64(0),
            Zero::Float => self.visitor.visit_f64(0.0),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visit_none()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.read.read(deserializer, self.visitor)
    }
}

macro_rules! visit_on {
    ($($method:ident($ty:ty),)*) => {$(
        #[inline]
        fn $method<E: Error>(self, value: $ty) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for NullAsZero<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit_on! {
        visit_bool(bool), visit_i64(i64), visit_i128(i128), visit_u64(u64), visit_u128(u128), visit_f64(f64),
        visit_str(&str), visit_borrowed_str(&'de str), visit_string(String),
        visit_bytes(&[u8]), visit_borrowed_bytes(&'de [u8]), visit_byte_buf(Vec<u8>),
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(NullAsZero(deserializer))
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(NullAsZero(deserializer))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(NullAsZero(access))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(NullAsZero(access))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(access)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for NullAsZero<A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(NullAsZero(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for NullAsZero<A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(NullAsZero(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for NullAsZero<S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(NullAsZero(deserializer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Kind, Object};

    fn read(kind: Kind, text: &str) -> Object {
        Object::deserialize_kind(kind, NullAsZero(&mut serde_json::Deserializer::from_str(text))).unwrap()
    }

    #[test]
    fn null_reads_as_the_zero_value_of_any_type() {
        for (kind, with_null, without) in [
            (Kind::Pod, r#"{"metadata":{"name":"a"},"spec":null,"status":null}"#, r#"{"metadata":{"name":"a"}}"#),
            (Kind::Pod, r#"{"metadata":{"name":null,"labels":{"a":null}}}"#, r#"{"metadata":{"labels":{"a":""}}}"#),
            (Kind::Pod, r#"{"spec":{"containers":[null],"affinity":null}}"#, r#"{"spec":{"containers":[{}]}}"#),
            (
                Kind::Pod,
                r#"{"spec":{"containers":[{"resources":{"requests":{"cpu":null}}}]}}"#,
                r#"{"spec":{"containers":[{"resources":{"requests":{"cpu":"0"}}}]}}"#,
            ),
            (Kind::PriorityClass, r#"{"value":null,"globalDefault":null}"#, "{}"),
            (Kind::PodDisruptionBudget, r#"{"status":{"disruptionsAllowed":null,"disruptedPods":null}}"#, "{}"),
            (Kind::Node, "null", "{}"),
        ] {
            assert_eq!(read(kind, with_null), read(kind, without), "{with_null}");
        }
    }

    #[test]
    fn yaml_nulls_read_alike() {
        let text = "metadata:\n  name: a\n  labels:\nspec: ~\nstatus:\n  conditions: null\n  phase:\n";
        let from_yaml = Object::deserialize_kind(Kind::Pod, NullAsZero(serde_yaml::Deserializer::from_str(text))).unwrap();
        assert_eq!(from_yaml, read(Kind::Pod, r#"{"metadata":{"name":"a"}}"#));
    }
}
