//! Metrics in Prometheus' text format, version 0.0.4.

use std::fmt::{self, Display};

use super::{Text, escape};

pub const METRICS_MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The type of a metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// A value that can go up and down.
    Gauge,
    /// A value that only grows, until the process ends. Its name ends in `_total`.
    Counter,
}

/// The value of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue {
    /// A whole number, written in full.
    Whole(u64),
    /// Any number, `NaN` and the infinities included.
    Number(f64),
}

impl From<usize> for MetricValue {
    fn from(value: usize) -> Self {
        Self::Whole(value as u64)
    }
}

impl From<u64> for MetricValue {
    fn from(value: u64) -> Self {
        Self::Whole(value)
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl Display for MetricValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Whole(value) => value.fmt(f),
            Self::Number(value) if value.is_nan() => f.write_str("NaN"),
            Self::Number(value) if value.is_infinite() => f.write_str(if value > 0.0 { "+Inf" } else { "-Inf" }),
            Self::Number(value) => value.fmt(f),
        }
    }
}

/// Metric families in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    out: String,
}

impl Metrics {
    /// Adds a family of metrics and returns it for its samples. A family without samples says that nothing is known.
    ///
    /// `name` consists of ASCII letters, digits and underscores, and comes once.
    pub fn family(&mut self, name: &'static str, of: MetricType, help: &str) -> MetricFamily<'_> {
        debug_assert!(is_name(name), "{name}");
        let of = match of {
            MetricType::Gauge => "gauge",
            MetricType::Counter => "counter",
        };
        let help = escape(help).replace('\\', "\\\\");
        self.out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {of}\n"));
        MetricFamily { name, out: &mut self.out }
    }

    /// Returns the text. Characters that are not plain are escaped in the values of labels.
    pub fn text(&self) -> Text {
        Text::written(self.out.clone())
    }
}

/// A family of metrics that takes samples.
#[derive(Debug)]
pub struct MetricFamily<'a> {
    name: &'static str,
    out: &'a mut String,
}

impl MetricFamily<'_> {
    /// Adds a sample. Each set of labels comes once in a family.
    pub fn sample(&mut self, labels: &[(&'static str, &str)], value: impl Into<MetricValue>) -> &mut Self {
        self.out.push_str(self.name);
        for (number, (label, text)) in labels.iter().enumerate() {
            debug_assert!(is_name(label), "{label}");
            let text = escape(text).replace('\\', "\\\\").replace('"', "\\\"");
            self.out.push_str(&format!("{}{label}=\"{text}\"", if number == 0 { '{' } else { ',' }));
        }
        self.out.push_str(if labels.is_empty() { " " } else { "} " });
        self.out.push_str(&format!("{}\n", value.into()));
        self
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_samples_are_in_prometheus_text_format() {
        let mut metrics = Metrics::default();
        metrics
            .family("schedscope_pending_pods", MetricType::Gauge, "Pending pods by cause.")
            .sample(&[("cause", "Insufficient cpu"), ("plugin", "NodeResourcesFit")], 3_usize)
            .sample(&[("cause", "a \"b\" c\\d\n\u{1b}[31m"), ("plugin", "")], 1.5);
        metrics.family("schedscope_bytes_total", MetricType::Counter, "Bytes\nwritten.").sample(&[], u64::MAX);
        metrics.family("schedscope_nothing", MetricType::Gauge, "Without samples.");
        let expected = "# HELP schedscope_pending_pods Pending pods by cause.\n\
                        # TYPE schedscope_pending_pods gauge\n\
                        schedscope_pending_pods{cause=\"Insufficient cpu\",plugin=\"NodeResourcesFit\"} 3\n\
                        schedscope_pending_pods{cause=\"a \\\"b\\\" c\\\\d\\\\n\\\\u{1b}[31m\",plugin=\"\"} 1.5\n\
                        # HELP schedscope_bytes_total Bytes\\\\nwritten.\n\
                        # TYPE schedscope_bytes_total counter\n\
                        schedscope_bytes_total 18446744073709551615\n\
                        # HELP schedscope_nothing Without samples.\n\
                        # TYPE schedscope_nothing gauge\n";
        assert_eq!(metrics.text().as_str(), expected);
    }

    #[test]
    fn numbers_that_are_none_have_the_names_of_prometheus() {
        let written = |value: f64| MetricValue::from(value).to_string();
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0, 0.25].map(written), ["NaN", "+Inf", "-Inf", "2", "0.25"]);
    }
}
