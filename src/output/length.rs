//! The length of data without writing it.

use std::fmt::{self, Display, Write as _};

use serde::Serialize;
use serde::de::value::Error;
use serde::ser::{self, Serializer};

/// Returns about how many bytes data take as JSON on one line, without a look into its texts; `None` where that is more than a number.
/// Ends as soon as it is.
pub fn length_within(data: &impl Serialize, most: usize) -> Option<usize> {
    let mut counter = Counter { left: most };
    data.serialize(&mut counter).ok()?;
    Some(most - counter.left)
}

/// Bytes around a value or a name: quotes, a colon or a comma.
const AROUND: usize = 3;

struct Counter {
    left: usize,
}

impl Counter {
    fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| ser::Error::custom("too long"))?;
        Ok(())
    }
}

impl fmt::Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.take(text.len()).map_err(|_| fmt::Error)
    }
}

/// Methods for values of a few bytes.
macro_rules! shown {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            self.collect_str(&value)
        }
    )*};
}

impl Serializer for &mut Counter {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    shown! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_u8: u8,
        serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_char: char
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        write!(self, "{value}").map_err(|_| <Error as ser::Error>::custom("too long"))?;
        self.take(AROUND)
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.take(text.len() + AROUND)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        self.take(bytes.len() + AROUND)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.take("null,".len())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.serialize_str(variant)?;
        value.serialize(self)
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self, Error> {
        self.take(AROUND)?;
        Ok(self)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Self, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(self, _name: &'static str, _index: u32, variant: &'static str, len: usize) -> Result<Self, Error> {
        self.serialize_str(variant)?;
        self.serialize_seq(Some(len))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self, Error> {
        self.serialize_seq(len)
    }

    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<Self, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_struct_variant(self, _name: &'static str, _index: u32, variant: &'static str, len: usize) -> Result<Self, Error> {
        self.serialize_str(variant)?;
        self.serialize_seq(Some(len))
    }
}

/// Compound values, whose elements follow one another.
macro_rules! elements {
    ($($compound:ident: $method:ident),*) => {$(
        impl ser::$compound for &mut Counter {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

/// The same with names of fields.
macro_rules! fields {
    ($($compound:ident),*) => {$(
        impl ser::$compound for &mut Counter {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.take(name.len() + AROUND)?;
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

elements! { SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field }
fields! { SerializeStruct, SerializeStructVariant }

impl ser::SerializeMap for &mut Counter {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lengths_are_about_those_of_json() {
        for data in [json!(null), json!("text"), json!([1, 2.5, true]), json!({"key": {"values": ["a", "b", "c"]}, "none": null})] {
            let (found, written) = (length_within(&data, usize::MAX).unwrap(), data.to_string().len());
            assert!((written..written + 10).contains(&found), "{data}: {found}, {written}");
            assert_eq!((length_within(&data, found), length_within(&data, found - 1)), (Some(found), None));
        }
        let endless: String = "x".repeat(1000);
        assert_eq!((length_within(&endless, 1000), length_within(&endless, 1003)), (None, Some(1003)));
    }
}
