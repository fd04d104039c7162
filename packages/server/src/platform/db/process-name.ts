import { hostname } from 'node:os';
import packageJson from '../../../package.json' with { type: 'json' };

/** PostgreSQL cuts a longer name. */
const NAME_MAX = 63;
const FIRST = 'florin';

/** What the database knows of a process by its connections' names. */
export interface NamedProcess {
  version: string;
  machine: string;
  /** Its number on that machine. */
  pid: string;
}

const nameOf = ({ version, machine, pid }: NamedProcess): string => {
  const rest = `${FIRST} ${version}  ${pid}`.length;
  return `${FIRST} ${version} ${machine.slice(0, NAME_MAX - rest)} ${pid}`;
};

/** `application_name` of all connections of this process, unless the database's URL gives another one. */
export const PROCESS_NAME = nameOf({
  version: packageJson.version,
  machine: hostname(),
  pid: String(process.pid),
});

/** @returns undefined for the name of something else */
export function readProcessName(name: string): NamedProcess | undefined {
  const [first, version, machine, pid, ...others] = name.split(' ');
  if (first !== FIRST || version === undefined || machine === undefined || pid === undefined)
    return undefined;
  return others.length === 0 ? { version, machine, pid } : undefined;
}
