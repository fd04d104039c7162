import { readdirSync, readFileSync } from 'node:fs';

/** Jiffies a second: fixed at 100 for user space on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Fields of /proc/<pid>/stat after the command's name, counted from the state. */
const PARENT = 1;
const USER = 11;
const SYSTEM = 12;
const REAPED_USER = 13;
const REAPED_SYSTEM = 14;

function statOf(pid: number | string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name stands in parentheses and may hold anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

const seconds = (stat: readonly string[], fields: readonly number[]) =>
  fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0) / TICKS_PER_SECOND;

/** CPU seconds that a process has used so far. */
export function cpuSeconds(pid: number): number {
  const stat = statOf(pid);
  return stat === undefined ? 0 : seconds(stat, [USER, SYSTEM]);
}

/** CPU seconds of all children of this process that have ended so far, and of theirs. */
export function endedChildrenCpuSeconds(): number {
  const stat = statOf('self');
  return stat === undefined ? 0 : seconds(stat, [REAPED_USER, REAPED_SYSTEM]);
}

/** CPU seconds of a PostgreSQL server: the postmaster, its children, and those that have ended. */
export function serverCpuSeconds(postmaster: number): number {
  const own = statOf(postmaster);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat !== undefined)
    .filter((stat) => Number(stat[PARENT]) === postmaster);
  const living = children.reduce((sum, stat) => sum + seconds(stat, [USER, SYSTEM]), 0);
  return living + (own === undefined ? 0 : seconds(own, [USER, SYSTEM, REAPED_USER, REAPED_SYSTEM]));
}

/** Memory that a process has in RAM, in megabytes (10^6 bytes). */
export function residentMegabytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1]) * 1024) / 1e6;
}

/** A moment of the machine's CPU counters. */
function readCounters(): { all: number; stolen: number } {
  const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0] ?? '';
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: fields.reduce((sum, field) => sum + field, 0), stolen: fields[7] ?? 0 };
}

/** Begins to watch how much of the machine its host gave to others. @returns a share from 0 to 1 since then */
export function watchSteal(): () => number {
  const before = readCounters();
  return () => {
    const after = readCounters();
    return (after.stolen - before.stolen) / Math.max(1, after.all - before.all);
  };
}
