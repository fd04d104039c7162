import { Resolver } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Deadline } from './deadline.ts';
import { NotSent } from './failures.ts';

/** Timeout of the first query; retries wait longer each time: about 14 s in all. */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 3;
/** The name has no address of this kind, or does not exist. */
const NO_ADDRESS = new Set(['ENODATA', 'ENOTFOUND']);

export interface Names {
  /** DNS server as `ip:port` instead of the system's DNS servers and hosts file. */
  resolver?: string | undefined;
  /** The system's hosts file. */
  hostsFile?: string | undefined;
}

/** Names of this machine, which are not resolved. */
export function isLocalName(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/.test(host);
}

/**
 * The addresses of a URL's host: the literal itself, else all that the resolver answers, IPv4 first. Resolved for each
 * connection, so that exactly the checked addresses are dialled.
 *
 * Uses its own queries instead of getaddrinfo, which occupies one of the process's few threads until a DNS server
 * answers: a few dead names would delay the deliveries to all others.
 *
 * @throws NotSent `dns` unless both queries were answered, as half an answer cannot be judged
 */
export async function resolve(host: string, names: Names, deadline: Deadline): Promise<string[]> {
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(literal) !== 0) return [literal];
  if (isLocalName(host)) return ['127.0.0.1', '::1'];
  const name = host.replace(/\.$/, '');
  const listed = names.resolver === undefined ? await findInHostsFile(name, names.hostsFile) : [];
  return listed.length > 0 ? listed : await queryServer(name, names.resolver, deadline);
}

async function findInHostsFile(name: string, file = '/etc/hosts'): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/));
  return lines.flatMap(([address = '', ...found]) => (found.includes(name) ? [address] : []));
}

async function queryServer(name: string, server: string | undefined, deadline: Deadline): Promise<string[]> {
  // One for each name: it follows changes of the system's settings and can be canceled alone.
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (server !== undefined) resolver.setServers([server]);
  deadline.onEnd(() => resolver.cancel());
  const query = (kind: 'resolve4' | 'resolve6') =>
    new Promise<string[]>((done, fail) => {
      resolver[kind](name, (error, addresses) => {
        if (error === null) done(addresses);
        else if (NO_ADDRESS.has(error.code ?? '')) done([]);
        else fail(error);
      });
    });
  // An invalid name throws from the call itself.
  const answers = await Promise.all([query('resolve4'), query('resolve6')]).catch(() => []);
  if (answers.flat().length === 0) throw new NotSent('dns');
  return answers.flat();
}
