//! IP addresses and prefixes, parsed as Go's `net/netip` does; mirrors
//! `staging/src/k8s.io/apiserver/pkg/cel/library/ip.go` and `cidr.go`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::error::{AddressError, EvalError};
use super::functions::no_overload;
use super::number::quote;
use super::value::Value;

/// An address with the length of its network prefix; host bits may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cidr {
    pub(super) address: IpAddr,
    pub(super) bits: u8,
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

fn number(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(v4) => (u32::from(v4).into(), 32),
        IpAddr::V6(v6) => (v6.into(), 128),
    }
}

impl Cidr {
    /// Returns the first `bits` bits of an address; `None` if the families differ.
    fn network(self, address: IpAddr, bits: u8) -> Option<u128> {
        let ((_, width), (value, other)) = (number(self.address), number(address));
        (width == other).then(|| value.checked_shr(width - u32::from(bits)).unwrap_or(0))
    }

    fn contains(self, address: IpAddr) -> bool {
        self.network(address, self.bits).is_some_and(|network| self.network(self.address, self.bits) == Some(network))
    }

    fn masked(self) -> Self {
        let (value, width) = number(self.address);
        let host = width - u32::from(self.bits);
        let value = value.checked_shr(host).and_then(|v| v.checked_shl(host)).unwrap_or(0);
        let address = if width == 32 { IpAddr::V4(Ipv4Addr::from(value as u32)) } else { IpAddr::V6(Ipv6Addr::from(value)) };
        Self { address, ..self }
    }
}

/// Calls a member function of an address or a prefix.
pub(super) fn call(name: &str, args: &[Value]) -> Result<Value, EvalError> {
    use Value::{Bool, Cidr as C, Int, Ip, String as S};
    Ok(match (name, args) {
        ("family", [Ip(ip)]) => Int(if ip.is_ipv4() { 4 } else { 6 }),
        ("isUnspecified", [Ip(ip)]) => Bool(ip.is_unspecified()),
        ("isLoopback", [Ip(ip)]) => Bool(ip.is_loopback()),
        ("isLinkLocalMulticast", [Ip(ip)]) => Bool(match ip {
            IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
            IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
        }),
        ("isLinkLocalUnicast", [Ip(ip)]) => Bool(is_link_local(*ip)),
        ("isGlobalUnicast", [Ip(ip)]) => Bool(
            *ip != IpAddr::V4(Ipv4Addr::BROADCAST)
                && !ip.is_unspecified()
                && !ip.is_loopback()
                && !ip.is_multicast()
                && !is_link_local(*ip),
        ),
        ("ip", [C(cidr)]) => Ip(cidr.address),
        ("prefixLength", [C(cidr)]) => Int(cidr.bits.into()),
        ("masked", [C(cidr)]) => C(cidr.masked()),
        ("containsIP", [C(cidr), Ip(ip)]) => Bool(cidr.contains(*ip)),
        // Upstream drops the parse error here.
        ("containsIP", [C(cidr), S(text)]) => Bool(cidr.contains(parse_ip(text).map_err(|_| EvalError::NoSuchOverload)?)),
        ("containsCIDR", [C(cidr), C(other)]) => Bool(contains_cidr(*cidr, *other)),
        ("containsCIDR", [C(cidr), S(text)]) => Bool(contains_cidr(*cidr, parse_cidr(text)?)),
        _ => return Err(no_overload(name, args)),
    })
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn contains_cidr(cidr: Cidr, other: Cidr) -> bool {
    cidr.bits <= other.bits && cidr.contains(other.address)
}

fn failed<T>(message: String) -> Result<T, AddressError> {
    Err(AddressError(message))
}

/// Parses an address; rejects zones and IPv4 addresses in IPv6 form.
pub(super) fn parse_ip(text: &str) -> Result<IpAddr, AddressError> {
    let shown = quote(text);
    match parse_addr(text) {
        Err(error) => failed(format!("IP Address {shown} parse error during conversion from string: {error}")),
        Ok((_, true)) => failed(format!("IP address {shown} with zone value is not allowed")),
        Ok((ip, _)) if is_mapped(ip) => failed(format!("IPv4-mapped IPv6 address {shown} is not allowed")),
        Ok((ip, _)) => Ok(ip),
    }
}

fn is_mapped(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some())
}

/// Parses a prefix for `cidr(…)`.
pub(super) fn parse_cidr(text: &str) -> Result<Cidr, AddressError> {
    check_cidr(text).map_err(|AddressError(error)| AddressError(format!("{CIDR_FAILED}: {error}")))
}

const CIDR_FAILED: &str = "network address parse error during conversion from string";

/// Parses a prefix; rejects IPv4 addresses in IPv6 form.
pub(super) fn check_cidr(text: &str) -> Result<Cidr, AddressError> {
    let shown = quote(text);
    let cidr = parse_prefix(text).map_err(|error| AddressError(format!("{CIDR_FAILED}: netip.ParsePrefix({shown}): {error}")))?;
    if is_mapped(cidr.address) {
        return failed(format!("IPv4-mapped IPv6 address {shown} is not allowed"));
    }
    Ok(cidr)
}

fn parse_prefix(text: &str) -> Result<Cidr, String> {
    let (address, bits) = text.rsplit_once('/').ok_or("no '/'")?;
    let (address, has_zone) = parse_addr(address)?;
    if has_zone {
        return Err("IPv6 zones cannot be present in a prefix".to_owned());
    }
    let bad = || format!("bad bits after slash: {}", quote(bits));
    if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) || (bits.len() > 1 && bits.starts_with('0')) {
        return Err(bad());
    }
    let value: u64 = bits.parse().map_err(|_| bad())?;
    match u8::try_from(value) {
        Ok(bits) if u32::from(bits) <= number(address).1 => Ok(Cidr { address, bits }),
        _ if i64::try_from(value).is_err() => Err(bad()),
        _ => Err("prefix length out of range".to_owned()),
    }
}

/// Why an address cannot be parsed, and the part at fault.
struct Fault(&'static str, Option<String>);

fn fault<T>(message: &'static str) -> Result<T, Fault> {
    Err(Fault(message, None))
}

fn fault_at<T>(message: &'static str, at: &[u8]) -> Result<T, Fault> {
    Err(Fault(message, Some(String::from_utf8_lossy(at).into_owned())))
}

/// Returns the address and whether it has a zone; mirrors `netip.ParseAddr`.
pub(super) fn parse_addr(text: &str) -> Result<(IpAddr, bool), String> {
    let parsed = match text.bytes().find(|b| matches!(b, b'.' | b':' | b'%')) {
        Some(b'.') => parse_v4(text.as_bytes()).map(|octets| (IpAddr::from(octets), false)),
        Some(b':') => parse_v6(text.as_bytes()),
        Some(_) => fault("missing IPv6 address"),
        None => fault("unable to parse IP"),
    };
    parsed.map_err(|Fault(message, at)| {
        let at = at.map_or(String::new(), |at| format!(" (at {})", quote(&at)));
        format!("ParseAddr({}): {message}{at}", quote(text))
    })
}

fn parse_v4(text: &[u8]) -> Result<[u8; 4], Fault> {
    let (mut fields, mut field, mut value, mut digits) = ([0; 4], 0, 0_u16, 0);
    for (i, &b) in text.iter().enumerate() {
        if b.is_ascii_digit() {
            if digits == 1 && value == 0 {
                return fault("IPv4 field has octet with leading zero");
            }
            value = value * 10 + u16::from(b - b'0');
            digits += 1;
            if value > 255 {
                return fault("IPv4 field has value >255");
            }
        } else if b == b'.' {
            if i == 0 || i == text.len() - 1 || text[i - 1] == b'.' {
                return fault_at("IPv4 field must have at least one digit", &text[i..]);
            }
            if field == 3 {
                return fault("IPv4 address too long");
            }
            fields[field] = value as u8;
            field += 1;
            (value, digits) = (0, 0);
        } else {
            return fault_at("unexpected character", &text[i..]);
        }
    }
    if field < 3 {
        return fault("IPv4 address too short");
    }
    fields[3] = value as u8;
    Ok(fields)
}

fn parse_v6(text: &[u8]) -> Result<(IpAddr, bool), Fault> {
    let (mut s, zone) = match text.iter().position(|b| *b == b'%') {
        Some(i) if i + 1 == text.len() => return fault("zone must be a non-empty string"),
        Some(i) => (&text[..i], true),
        None => (text, false),
    };
    let (mut ip, mut i, mut ellipsis) = ([0_u8; 16], 0, None);
    if s.starts_with(b"::") {
        ellipsis = Some(0);
        s = &s[2..];
        if s.is_empty() {
            return Ok((Ipv6Addr::UNSPECIFIED.into(), zone));
        }
    }
    while i < 16 {
        let digits = s.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        if digits > 4 {
            return fault_at("each group must have 4 or less digits", s);
        }
        if digits == 0 {
            return fault_at("each colon-separated field must have at least one digit", s);
        }
        if s.get(digits) == Some(&b'.') {
            if ellipsis.is_none() && i != 12 {
                return fault_at("embedded IPv4 address must replace the final 2 fields of the address", s);
            }
            if i + 4 > 16 {
                return fault_at("too many hex fields to fit an embedded IPv4 at the end of the address", s);
            }
            ip[i..i + 4].copy_from_slice(&parse_v4(s)?);
            i += 4;
            s = &[];
            break;
        }
        let group = s[..digits].iter().fold(0_u16, |v, b| v << 4 | char::from(*b).to_digit(16).unwrap_or(0) as u16);
        ip[i..i + 2].copy_from_slice(&group.to_be_bytes());
        i += 2;
        s = &s[digits..];
        match s {
            [] => break,
            [b':'] => return fault_at("colon must be followed by more characters", s),
            [b':', rest @ ..] => s = rest,
            _ => return fault_at("unexpected character, want colon", s),
        }
        if let [b':', rest @ ..] = s {
            if ellipsis.is_some() {
                return fault_at("multiple :: in address", s);
            }
            ellipsis = Some(i);
            s = rest;
            if s.is_empty() {
                break;
            }
        }
    }
    if !s.is_empty() {
        return fault_at("trailing garbage after address", s);
    }
    match ellipsis {
        None if i < 16 => return fault("address string too short"),
        Some(_) if i >= 16 => return fault("the :: must expand to at least one field of zeros"),
        Some(at) => {
            ip.copy_within(at..i, at + 16 - i);
            ip[at..at + 16 - i].fill(0);
        }
        None => {}
    }
    Ok((Ipv6Addr::from(ip).into(), zone))
}
