use super::*;
use crate::cel::CompileError;

#[test]
fn errors_read_as_kube_scheduler_words_them() {
    let (claim, request) = (Key::new("a", "c"), Str::from("r"));
    let of_request = |error| AllocatorError::Request { claim: claim.clone(), request: request.clone(), error };
    let of_selector = |owner, error| AllocatorError::Selector { owner, selector: 1, error };
    let node_selector = NodeSelectorError(SelectorError("odd".into()));
    let pools = PoolError::Device { device: "d".into(), slice: "s".into(), error: node_selector.clone() };
    let (driver, pool) = (Str::from("d.example.com"), Str::from("p"));
    let constraint = RequestError::Constraint { driver: driver.clone(), pool: pool.clone(), device: "d".into() };
    for (error, text) in [
        (
            pools.into(),
            "gather pool information: failed to perform node selection for device d in slice s: failed to parse node selector: odd",
        ),
        (
            PoolError::Slice { slice: "s".into(), error: node_selector.clone() }.into(),
            "gather pool information: failed to perform node selection for slice s: failed to parse node selector: odd",
        ),
        (node_selector.into(), "failed to parse node selector: odd"),
        (
            AllocatorError::TooManyTerms { claim: "c".into(), terms: 2 },
            "create NodeSelector for claim c: unsupported ResourceSlice.NodeSelector with 2 terms",
        ),
        (
            AllocatorError::TooManyRequested { claim: claim.clone(), devices: 33 },
            "claim a/c: number of requested devices 33 exceeds the claim limit of 32",
        ),
        (AllocatorError::DuplicateDevice { pool: "p".into(), device: "gpu-0".into() }, "pool p is invalid: duplicate device name gpu-0"),
        (AllocatorError::EmptyRequest { claim: claim.clone(), request: 1 }, "claim a/c: request #1 asks for nothing"),
        (
            AllocatorError::EmptyConstraint { claim: claim.clone(), constraint: 0 },
            "claim a/c, constraint #0: empty constraint (unsupported constraint type?)",
        ),
        (
            of_request(RequestError::EmptySelector(2)),
            "claim a/c, request r, selector #2: CEL expression empty (unsupported selector type?)",
        ),
        (
            of_request(RequestError::ClassNotFound { class: "x".into() }),
            "claim a/c, request r: could not retrieve device class x: deviceclass.resource.k8s.io \"x\" not found",
        ),
        (
            of_request(RequestError::PoolIncomplete { driver: driver.clone(), pool: pool.clone() }),
            "claim a/c, request r: asks for all devices, but resource pool d.example.com/p is currently being updated",
        ),
        (
            of_request(constraint),
            "claim a/c, request r: cannot add device d.example.com/p/d because a claim constraint would not be satisfied",
        ),
        (
            of_selector(SelectorOwner::Class("x".into()), SelectorProblem::Empty),
            "class x: selector #1: CEL expression empty (unsupported selector type?)",
        ),
        (
            of_selector(SelectorOwner::Claim(claim.clone()), CelError::Runtime(EvalError::DivisionByZero).into()),
            "claim a/c: selector #1: CEL runtime error: division by zero",
        ),
        (
            of_selector(SelectorOwner::Class("x".into()), CelError::Compile(CompileError::Program(EvalError::IntegerOverflow)).into()),
            "class x: selector #1: CEL compile error: program instantiation failed: integer overflow",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn errors_of_binding_name_the_claim() {
    let claim = Key::new("a", "c");
    for (error, text) in [
        (BindError::Timeout { claim: "c".into() }, "device binding timeout: claim=c"),
        (
            BindError::Failed { claim: "c".into(), reason: "R".into(), message: "m \"q\"".into() },
            "device binding failed: claim=c, reason=R, message=\"m \\\"q\\\"\"",
        ),
        (
            BindError::ClaimNotFound { doing: "add finalizer", claim: claim.clone() },
            "add finalizer to claim a/c: resourceclaims.resource.k8s.io \"c\" not found",
        ),
        (BindError::Deleted { claim: claim.clone() }, "claim a/c got deleted in the meantime"),
        (
            BindError::NoMappings { pod: Key::new("a", "p") },
            "nil or empty request mappings, no update of pod a/p ExtendedResourceClaimStatus",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}
