//! Serializers that take only one kind of value.

/// Writes the methods of a serializer that refuses whatever it does not implement itself.
macro_rules! refuse {
    ($error:expr, $failure:ty; $($method:ident($value:ty)),*) => {
        $(
            fn $method(self, _: $value) -> Result<(), $failure> {
                Err($error)
            }
        )*

        type SerializeSeq = ser::Impossible<(), $failure>;
        type SerializeTuple = ser::Impossible<(), $failure>;
        type SerializeTupleStruct = ser::Impossible<(), $failure>;
        type SerializeTupleVariant = ser::Impossible<(), $failure>;
        type SerializeMap = ser::Impossible<(), $failure>;
        type SerializeStruct = ser::Impossible<(), $failure>;
        type SerializeStructVariant = ser::Impossible<(), $failure>;

        fn serialize_none(self) -> Result<(), $failure> {
            Err($error)
        }

        fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), $failure> {
            Err($error)
        }

        fn serialize_unit_struct(self, _: &'static str) -> Result<(), $failure> {
            Err($error)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), $failure> {
            Err($error)
        }

        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, $failure> {
            Err($error)
        }

        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, $failure> {
            Err($error)
        }

        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, $failure> {
            Err($error)
        }

        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, $failure> {
            Err($error)
        }

        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, $failure> {
            Err($error)
        }

        fn serialize_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStruct, $failure> {
            Err($error)
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, $failure> {
            Err($error)
        }
    };
}

pub(super) use refuse;
