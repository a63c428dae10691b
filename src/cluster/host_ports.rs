//! The host ports in use on a node.

use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, OnceLock};

use imbl::OrdSet;

use super::{ContainerPort, PodSpec, Str};

/// Ports in use on a node, as a set of (port, protocol, IP). As upstream, removing one of two pods with the same port frees it.
/// Sets share their parts, so that a pod with many ports costs no more on a thousand nodes than on one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostPorts(OrdSet<(i32, Str, Str)>);

static ANY_IP: LazyLock<Str> = LazyLock::new(|| "0.0.0.0".into());
static TCP: LazyLock<Str> = LazyLock::new(|| "TCP".into());

fn entry(port: &ContainerPort) -> (i32, Str, Str) {
    let ip = if port.host_ip.is_empty() { &ANY_IP } else { &port.host_ip };
    let protocol = if port.protocol.is_empty() { &TCP } else { &port.protocol };
    (port.host_port.unwrap_or(0), protocol.clone(), ip.clone())
}

impl<'a> FromIterator<&'a ContainerPort> for HostPorts {
    fn from_iter<T: IntoIterator<Item = &'a ContainerPort>>(ports: T) -> Self {
        Self(ports.into_iter().map(entry).filter(|(number, ..)| *number > 0).collect())
    }
}

impl HostPorts {
    /// Returns whether no port is in use.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, ports: &Self) {
        let (more, fewer) = if self.0.len() < ports.0.len() { (&ports.0, &self.0) } else { (&self.0, &ports.0) };
        let mut union = more.clone();
        union.extend(fewer.iter().cloned());
        self.0 = union;
    }

    pub fn remove(&mut self, ports: &Self) {
        if self.0.ptr_eq(&ports.0) {
            self.0.clear();
        }
        for port in &ports.0 {
            self.0.remove(port);
        }
    }

    /// Whether a port conflicts with one in use.
    pub fn conflicts(&self, port: &ContainerPort) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let (number, protocol, ip) = entry(port);
        if number <= 0 {
            return false;
        }
        if ip == *ANY_IP {
            let first = self.0.range((number, protocol.clone(), Str::default())..).next();
            return first.is_some_and(|(n, p, _)| *n == number && *p == protocol);
        }
        let with = |ip: Str| self.0.contains(&(number, protocol.clone(), ip));
        with(ip) || with(ANY_IP.clone())
    }
}

/// The host ports of a spec, without and with those of sidecars; made when they are first needed. Equal to any other, as they follow
/// from the spec.
#[derive(Debug, Default)]
pub(super) struct PortsMemo([OnceLock<HostPorts>; 2]);

impl PortsMemo {
    pub(super) fn of(&self, spec: &PodSpec, sidecars: bool) -> &HostPorts {
        self.0[usize::from(sidecars)].get_or_init(|| spec.host_port_list(sidecars).collect())
    }
}

impl Clone for PortsMemo {
    /// Returns an empty one: clones of a spec are made to be changed.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for PortsMemo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PortsMemo {}

impl Hash for PortsMemo {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(list: &[(i32, &str)]) -> HostPorts {
        let port =
            |(number, ip): &(i32, &str)| ContainerPort { host_port: Some(*number), host_ip: (*ip).into(), ..ContainerPort::default() };
        list.iter().map(port).collect::<Vec<_>>().iter().collect()
    }

    #[test]
    fn removing_one_of_two_equal_ports_frees_it() {
        let (a, b) = (ports(&[(80, ""), (81, "10.0.0.1")]), ports(&[(80, ""), (0, "")]));
        let mut used = HostPorts::default();
        used.add(&a);
        used.add(&b);
        assert_eq!(used, a, "a set");
        used.remove(&b);
        assert_eq!(used, ports(&[(81, "10.0.0.1")]));
        used.remove(&a);
        assert!(used.is_empty());
        used.add(&a);
        used.remove(&a);
        assert!(used.is_empty());
    }

    #[test]
    fn a_changed_spec_has_its_own_ports() {
        let text = r#"{"spec":{"containers":[{"ports":[{"hostPort":80}]}],"initContainers":[{"restartPolicy":"Always","ports":[{"hostPort":90}]}]}}"#;
        let mut pod: super::super::Pod = serde_json::from_str(text).unwrap();
        assert_eq!(*pod.spec.host_ports(false), ports(&[(80, "")]));
        assert_eq!(*pod.spec.host_ports(true), ports(&[(80, ""), (90, "")]));
        pod.spec_mut().containers = super::super::List::default();
        assert!(pod.spec.host_ports(false).is_empty());
    }
}
