//! The engine for Python: JSON texts in and out. `schedscope/__init__.py` turns them into dicts.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

fn raised(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An engine.
#[pyclass]
#[derive(Clone)]
struct Engine(schedscope::engine::Engine);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (objects, release=None, config=None, feature_gates=None, unknown=Vec::new(), now=None))]
    fn new(
        objects: Vec<String>,
        release: Option<String>,
        config: Option<String>,
        feature_gates: Option<String>,
        unknown: Vec<String>,
        now: Option<String>,
    ) -> PyResult<Self> {
        let mut builder = schedscope::engine::Engine::builder().unknown(unknown);
        for text in objects {
            builder = builder.objects(text);
        }
        if let Some(release) = release {
            builder = builder.release(release);
        }
        if let Some(config) = config {
            builder = builder.config(config);
        }
        if let Some(gates) = feature_gates {
            builder = builder.feature_gates(gates);
        }
        if let Some(now) = now {
            builder = builder.now(now);
        }
        builder.build().map(Self).map_err(raised)
    }

    fn release(&self) -> String {
        self.0.release()
    }

    fn now(&self) -> String {
        self.0.now()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.warnings().collect()
    }

    fn fork(&self) -> Self {
        self.clone()
    }

    fn decide(&self, namespace: &str, name: &str) -> PyResult<String> {
        self.0.decide(namespace, name).map(|decision| decision.to_json().to_string()).map_err(raised)
    }

    fn fixes(&self, namespace: &str, name: &str) -> PyResult<String> {
        self.0.fixes(namespace, name).map(|fixes| fixes.to_json().to_string()).map_err(raised)
    }

    fn what_if(&self, words: &str) -> PyResult<String> {
        self.0.what_if(words).map(|answer| answer.to_json().to_string()).map_err(raised)
    }

    fn place(&self, object: &str, replicas: usize) -> PyResult<String> {
        let object: Value = serde_json::from_str(object).map_err(raised)?;
        self.0.place(&object, replicas).map(|placed| placed.to_json().to_string()).map_err(raised)
    }

    fn admit(&self, pod: &str) -> PyResult<String> {
        let pod: Value = serde_json::from_str(pod).map_err(raised)?;
        self.0.admit(&pod).map(|pod| pod.to_string()).map_err(raised)
    }

    fn apply(&mut self, operation: &str) -> PyResult<String> {
        let operation: Value = serde_json::from_str(operation).map_err(raised)?;
        self.0.apply(&operation).map(|applied| applied.to_json().to_string()).map_err(raised)
    }

    fn settle(&mut self) -> PyResult<String> {
        self.0.settle().map(|settled| settled.to_json().to_string()).map_err(raised)
    }

    fn queues(&self) -> String {
        self.0.queues().to_json().to_string()
    }
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Engine>()
}
