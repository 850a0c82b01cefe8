//! Numbers: finite doubles other than negative zero.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Lossy, write_number};

/// The largest integer `n` such that `n` and `n + 1` are both exact doubles: 2^53 − 1.
pub const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// A JSON number: a finite double that is not negative zero.
///
/// Because neither `NaN` nor `-0` can occur, equality is an equivalence and the order is total.
///
/// Source: contract 3.4.
#[derive(Clone, Copy, PartialEq)]
pub struct Number(f64);

impl Number {
    /// Takes `value` if JSON can carry it without loss.
    ///
    /// # Errors
    ///
    /// [`Lossy::NotANumber`], [`Lossy::PositiveInfinity`], [`Lossy::NegativeInfinity`] or
    /// [`Lossy::NegativeZero`].
    pub fn new(value: f64) -> Result<Number, Lossy> {
        if value.is_finite() && (value != 0.0 || value.is_sign_positive()) {
            Ok(Number(value))
        } else if value.is_nan() {
            Err(Lossy::NotANumber)
        } else if value == 0.0 {
            Err(Lossy::NegativeZero)
        } else if value > 0.0 {
            Err(Lossy::PositiveInfinity)
        } else {
            Err(Lossy::NegativeInfinity)
        }
    }

    /// The number as a double.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Whether the number has no fraction, in ECMAScript's sense: `1.0` and `1e300` are integers.
    pub fn is_integer(self) -> bool {
        self.0.trunc() == self.0
    }

    /// The number as an integer, if it is one within ±(2^53 − 1).
    pub fn as_i64(self) -> Option<i64> {
        let integer = self.0 as i64;
        (integer as f64 == self.0 && (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&integer))
            .then_some(integer)
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.to_bits());
    }
}

/// ECMAScript number text.
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_number(self.0, &mut text);
        formatter.write_str(&text)
    }
}

/// ECMAScript number text.
impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

macro_rules! from_small_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(value: $integer) -> Number {
                Number(f64::from(value))
            }
        }
    )*};
}

from_small_integers!(i8, i16, i32, u8, u16, u32);

macro_rules! try_from_integers {
    ($($integer:ty),*) => {$(
        /// Refuses integers beyond ±(2^53 − 1) with [`Lossy::UnsafeInteger`].
        impl TryFrom<$integer> for Number {
            type Error = Lossy;

            fn try_from(value: $integer) -> Result<Number, Lossy> {
                match i64::try_from(value) {
                    Ok(integer) if (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&integer) => {
                        Ok(Number(integer as f64))
                    }
                    _ => Err(Lossy::UnsafeInteger(value.to_string().into())),
                }
            }
        }
    )*};
}

try_from_integers!(i64, u64, i128, u128, isize, usize);

impl TryFrom<f64> for Number {
    type Error = Lossy;

    fn try_from(value: f64) -> Result<Number, Lossy> {
        Number::new(value)
    }
}

/// Takes the double whose decimal text is that of the float, so `0.1_f32` becomes `0.1`.
impl TryFrom<f32> for Number {
    type Error = Lossy;

    fn try_from(value: f32) -> Result<Number, Lossy> {
        if !value.is_finite() || value.trunc() == value {
            return Number::new(f64::from(value));
        }
        let mut buffer = ryu_js::Buffer::new();
        let text = buffer.format_finite(value);
        Number::new(text.parse().expect("ryu writes a decimal number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: f64, expected: Result<f64, Lossy>) {
        assert_eq!(Number::new(value).map(Number::get), expected);
    }

    #[test]
    fn only_finite_numbers_other_than_negative_zero_are_taken() {
        check(0.0, Ok(0.0));
        check(-1.5, Ok(-1.5));
        check(f64::MAX, Ok(f64::MAX));
        check(f64::NAN, Err(Lossy::NotANumber));
        check(f64::INFINITY, Err(Lossy::PositiveInfinity));
        check(f64::NEG_INFINITY, Err(Lossy::NegativeInfinity));
        check(-0.0, Err(Lossy::NegativeZero));
    }

    #[test]
    fn integers_are_counted_as_in_ecmascript() {
        for (value, integer, exact) in [
            (1.0, true, Some(1)),
            (1e300, true, None),
            (1.5, false, None),
            (-7.0, true, Some(-7)),
            (9_007_199_254_740_991.0, true, Some(MAX_SAFE_INTEGER)),
            (9_007_199_254_740_992.0, true, None),
        ] {
            let number = Number::new(value).unwrap();
            assert_eq!((number.is_integer(), number.as_i64()), (integer, exact), "{value}");
        }
    }

    #[test]
    fn integers_beyond_the_safe_range_are_refused_not_rounded() {
        assert!(Number::try_from(MAX_SAFE_INTEGER).is_ok());
        assert!(Number::try_from(-MAX_SAFE_INTEGER).is_ok());
        assert_eq!(Number::try_from(u64::MAX), Err(Lossy::UnsafeInteger("18446744073709551615".into())));
        assert_eq!(
            Number::try_from(-MAX_SAFE_INTEGER - 1),
            Err(Lossy::UnsafeInteger("-9007199254740992".into()))
        );
    }

    #[test]
    fn floats_keep_their_decimal_text() {
        assert_eq!(Number::try_from(0.1_f32).map(Number::get), Ok(0.1));
        assert_eq!(Number::try_from(16_777_216_f32).map(Number::get), Ok(16_777_216.0));
        assert_eq!(Number::try_from(f32::NAN), Err(Lossy::NotANumber));
        assert_eq!(Number::try_from(-0.0_f32), Err(Lossy::NegativeZero));
    }
}
