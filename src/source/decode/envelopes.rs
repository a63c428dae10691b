//! Decodes text that is not a plain object: nested lists, values of other types, and YAML of unusual layout.

use serde::Deserialize;
use serde_yaml::Value;

use super::classify::{Class, classify};
use super::untyped::{self, Untyped};
use super::{
    Context, DecodeError, Decoded, DecodedItem, OtherValue, SeenList, complete, decode, decode_text, decode_typed, push, put, syntax_error,
    without_line, yaml_error,
};
use crate::limits::sources::LISTS_WITHIN;
use crate::source::read::split::{ItemList, Json, Page, SpanState, Splitter, Syntax, TypeMeta, page_of, peek_json};

/// Decodes a JSON list within an object. Its items are split as those of a file are.
pub(in crate::source) fn decode_json_list(text: &[u8], context: Context<'_>, line: u32, out: &mut Vec<Decoded>) {
    if context.depth >= LISTS_WITHIN {
        return push(out, line, context, DecodeError::new("lists are nested too deeply").into());
    }
    let mut copy = text.to_vec();
    let mut splitter = Json::careful();
    let mut spans = Vec::new();
    splitter.split(&mut copy, true, &mut spans);
    let (first, before) = (line, out.len());
    let (mut line, mut counted) = (line, 0);
    for span in &spans {
        line += memchr::memchr_iter(b'\n', &copy[counted..span.start]).count() as u32;
        counted = span.start;
        let Some((list, index)) = span.item else {
            // There are no `items` to split: the list is empty or missing.
            let what = match syntax_error(text, Syntax::Json) {
                Some(bad) => bad.into(),
                None if has_items(text) => not_a_list(),
                None => DecodedItem::List(SeenList { types: peek_json(text), whole: true, page: page_within(text) }),
            };
            push(out, line, context, what);
            continue;
        };
        let list = &splitter.lists()[list];
        let inner = Context { list: &list.types, list_open: false, index: Some(index), depth: context.depth + 1, ..context };
        match span.state {
            SpanState::Whole => decode_text(&copy[span.start..span.end], Syntax::Json, inner, line, out),
            _ => decode(&copy, span, inner, out),
        }
    }
    let lost = out[before..].iter().any(|decoded| decoded.what.is_lost_item());
    for ItemList { types, closed, broken, page, .. } in splitter.lists() {
        let seen = SeenList { types: types.clone(), whole: *closed && !broken && !lost, page: *page };
        push(out, first, context, DecodedItem::List(seen));
    }
}

/// Returns the page that a list's text says it is.
fn page_within(text: &[u8]) -> Option<Page> {
    #[derive(Deserialize)]
    struct List<'a> {
        #[serde(borrow)]
        metadata: Option<&'a serde_json::value::RawValue>,
    }
    page_of(serde_json::from_slice::<List<'_>>(text).ok()?.metadata?.get().as_bytes())
}

fn has_items(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Items {
        items: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Items>(text).is_ok_and(|list| list.items.is_some())
}

fn not_a_list() -> DecodedItem {
    DecodeError::new("`items` is not a list").into()
}

/// Decodes a JSON value that is not an object.
pub(in crate::source) fn decode_json_other(text: &[u8], context: Context<'_>, line: u32, out: &mut Vec<Decoded>) {
    let text = text.trim_ascii();
    let what = match (text.first(), syntax_error(text, Syntax::Json)) {
        (_, Some(bad)) => bad.into(),
        // Go's decoder ignores the null in `items: [null]`.
        _ if text == b"null" => return,
        (Some(b'['), _) => DecodedItem::NoObject(OtherValue::List),
        (Some(b'"'), _) => DecodedItem::NoObject(OtherValue::Text),
        _ => DecodedItem::NoObject(OtherValue::Scalar),
    };
    push(out, line, context, what);
}

/// Decodes any YAML document through the generic value; the line numbers within it are lost.
pub(in crate::source) fn decode_yaml_value(text: &[u8], context: Context<'_>, line: u32, out: &mut Vec<Decoded>) {
    let value = Value::deserialize(serde_yaml::Deserializer::from_slice(text)).and_then(|mut value| {
        value.apply_merge()?;
        Ok(value)
    });
    match value {
        Ok(value) => decode_value(value, context, line, out),
        Err(error) => push(out, line, context, yaml_error(&error, text).into()),
    }
}

fn decode_value(value: Value, context: Context<'_>, line: u32, out: &mut Vec<Decoded>) {
    let mut mapping = match value {
        Value::Mapping(mapping) => mapping,
        Value::Null => return,
        Value::Sequence(items) if context.index.is_none() => {
            return decode_values(items, TypeMeta::default(), None, context, line, out);
        }
        Value::Sequence(_) => return push(out, line, context, DecodedItem::NoObject(OtherValue::List)),
        Value::String(text) if text.contains(' ') => return push(out, line, context, DecodedItem::NoObject(OtherValue::Words)),
        Value::String(_) => return push(out, line, context, DecodedItem::NoObject(OtherValue::Text)),
        _ => return push(out, line, context, DecodedItem::NoObject(OtherValue::Scalar)),
    };
    let text = |key: &str| mapping.get(key).and_then(Value::as_str).map(str::to_owned);
    let own = TypeMeta { kind: text("kind"), api_version: text("apiVersion"), self_link: None };
    let seen = match &own.kind {
        None => serde_json::to_vec(&mapping).map_or_else(|_| Untyped::default(), |json| untyped::look(&json, Syntax::Json)),
        Some(_) => Untyped::default(),
    };
    let Some(types) = complete(&own, context, &seen) else {
        return push(out, line, context, DecodedItem::Kindless { named: seen.named });
    };
    let class = classify(&types.0, types.1.as_deref());
    if class == Class::List {
        let page = mapping.get("metadata").and_then(|metadata| page_of(&serde_json::to_vec(metadata).ok()?));
        return match mapping.remove("items") {
            None | Some(Value::Null) => decode_values(Vec::new(), own, page, context, line, out),
            Some(Value::Sequence(items)) => decode_values(items, own, page, context, line, out),
            Some(_) => push(out, line, context, not_a_list()),
        };
    }
    // Only whole documents of rare layouts come here, so decoding their text again is cheap and keeps one code path.
    match serde_json::to_vec(&Value::Mapping(mapping)) {
        Ok(json) => {
            let json = if seen.internal { untyped::present_form(&json, Syntax::Json).unwrap_or(json) } else { json };
            let (newest, what, metadata, neighbor) = decode_typed(&json, Syntax::Json, class, types, context.hint);
            put(out, line, context, (newest, without_line(what), metadata, neighbor));
        }
        Err(error) => push(out, line, context, DecodeError::new(&error.to_string()).into()),
    }
}

fn decode_values(items: Vec<Value>, types: TypeMeta, page: Option<Page>, context: Context<'_>, line: u32, out: &mut Vec<Decoded>) {
    let before = out.len();
    for (index, item) in items.into_iter().enumerate() {
        let hint = context.hint;
        let within = Context { list: &types, list_open: false, index: Some(index as u32), depth: LISTS_WITHIN, hint, patterns: None };
        decode_value(item, within, line, out);
    }
    let whole = !out[before..].iter().any(|decoded| decoded.what.is_lost_item());
    push(out, line, context, DecodedItem::List(SeenList { types, whole, page }));
}
