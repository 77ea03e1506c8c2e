//! What a script process gives up before it runs any script.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Address space beyond what the program itself takes: the scripts' machines (one at a time), frames, what compiling takes.
const ADDRESS_SPACE_BYTES: u64 = 256 << 20;
/// CPU time of a process's whole life, in seconds. Its host gives it up long before.
const CPU_S: u64 = 120;

/// The system refused a step.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {reason}")]
pub(crate) struct SandboxError {
    step: &'static str,
    reason: String,
}

fn step<E: std::fmt::Display>(step: &'static str) -> impl FnOnce(E) -> SandboxError {
    move |reason| SandboxError { step, reason: reason.to_string() }
}

/// The first thing in a script process's life: it ends with its parent, can't be looked into, and keeps no descriptor but
/// the standard three of whatever the host's own parents left open.
pub(crate) fn detach() -> Result<(), SandboxError> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("parent-death signal"))?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(step("dumpable"))?;
    let listing = std::fs::read_dir("/proc/self/fd").map_err(step("list of descriptors"))?;
    let numbers = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let open: Vec<RawFd> = numbers.filter(|number: &RawFd| *number > 2).collect();
    for descriptor in open {
        // The listing's own descriptor is among them and closed already.
        let _ = nix::unistd::close(descriptor);
    }
    // When memory runs out, it can be replaced and its host can't. Not every system lets it say so.
    let _ = std::fs::write("/proc/self/oom_score_adj", "600");
    Ok(())
}

/// Gives up files, network, other processes, executable memory and every call of the system but a few.
pub(crate) fn enter(socket: BorrowedFd<'_>) -> Result<(), SandboxError> {
    let taken = address_space().map_err(step("size"))?;
    restrict_access()?;
    for (resource, max) in [
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Nofile, 0),
        (Resource::Cpu, CPU_S),
        (Resource::As, taken.saturating_add(ADDRESS_SPACE_BYTES)),
    ] {
        let limit = Rlimit { current: Some(max), maximum: Some(max) };
        rustix::process::setrlimit(resource, limit).map_err(step("resource limit"))?;
    }
    let filter = filter(socket).map_err(step("seccomp filter"))?;
    // This sets no_new_privs too, without which the system takes no filter.
    seccompiler::apply_filter_all_threads(&filter).map_err(step("seccomp"))
}

/// Bytes of address space that the process has by now.
fn address_space() -> Result<u64, String> {
    let statm = std::fs::read_to_string("/proc/self/statm").map_err(|error| error.to_string())?;
    let pages = statm.split_ascii_whitespace().next().and_then(|pages| pages.parse::<u64>().ok());
    Ok(pages.ok_or("statm can't be read")?.saturating_mul(rustix::param::page_size() as u64))
}

/// A second wall beside the filter, on kernels that have it: no path can be opened, no port bound or connected to.
fn restrict_access() -> Result<(), SandboxError> {
    let restrict = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V5))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()
    };
    restrict().map(drop).map_err(step("landlock"))
}

/// The calls that a script process's life needs. Every other one ends the process.
fn filter(socket: BorrowedFd<'_>) -> Result<BpfProgram, seccompiler::BackendError> {
    let argument = |index, operator, value| SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value);
    let socket = u64::from(socket.as_fd().as_raw_fd().unsigned_abs());
    let on_socket = || SeccompRule::new(vec![argument(0, SeccompCmpOp::Eq, socket)?]);
    let bits = |bits: i32| u64::from(bits.unsigned_abs());
    let not_executable = || argument(2, SeccompCmpOp::MaskedEq(bits(libc::PROT_EXEC)), 0);
    let anonymous = argument(3, SeccompCmpOp::MaskedEq(bits(libc::MAP_ANONYMOUS)), bits(libc::MAP_ANONYMOUS))?;
    let mut rules = BTreeMap::from([
        (libc::SYS_read, vec![on_socket()?]),
        (libc::SYS_write, vec![on_socket()?]),
        (libc::SYS_recvfrom, vec![on_socket()?]),
        (libc::SYS_sendto, vec![on_socket()?]),
        (libc::SYS_mmap, vec![SeccompRule::new(vec![not_executable()?, anonymous])?]),
        (libc::SYS_mprotect, vec![SeccompRule::new(vec![not_executable()?])?]),
    ]);
    for call in [
        // Memory.
        libc::SYS_brk,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        // Time, where the system's shared page does not give it; going on after a stop.
        libc::SYS_clock_gettime,
        libc::SYS_restart_syscall,
        libc::SYS_rt_sigreturn,
        // The end, before which the standard library takes its own handler's stack down.
        libc::SYS_sigaltstack,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ] {
        rules.insert(call, Vec::new());
    }
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, architecture)?.try_into()
}
