import { createConnection, isIP, type Socket } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Deadline } from './deadline.ts';
import { failureOfHandshake, NotSent } from './failures.ts';

/** Addresses of a name that are tried at most. */
const ADDRESSES_MAX = 8;
/** Timeout of an address while another one is left to try. */
const ADDRESS_TIMEOUT_MS = 3_000;

export interface Peer {
  /** Checked addresses; the first that answers is used. */
  addresses: readonly string[];
  port: number;
  /** The name that the certificate must have: the host of the URL, not its address. */
  host: string;
}

/**
 * Opens a TLS connection to one of the checked addresses. It dials addresses only, so nothing is resolved again.
 *
 * @throws NotSent `connection` or `tls`
 */
export async function dial(peer: Peer, context: SecureContext, deadline: Deadline): Promise<TLSSocket> {
  const addresses = peer.addresses.slice(0, ADDRESSES_MAX);
  for (const [index, address] of addresses.entries()) {
    const limitMs = index < addresses.length - 1 ? ADDRESS_TIMEOUT_MS : undefined;
    const socket = await connectTo({ address, port: peer.port, limitMs }, deadline);
    if (socket !== undefined) return await shakeHands(socket, { peer, context }, deadline);
    if (deadline.isOver) break;
  }
  throw new NotSent('connection');
}

function connectTo(
  { address, port, limitMs }: { address: string; port: number; limitMs: number | undefined },
  deadline: Deadline,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address, port, noDelay: true });
    const limit = limitMs === undefined ? undefined : setTimeout(() => socket.destroy(), limitMs);
    // Stays for the life of the socket: an unhandled error would end the process.
    socket.on('error', () => {});
    socket.once('connect', () => {
      clearTimeout(limit);
      resolve(socket);
    });
    socket.once('close', () => {
      clearTimeout(limit);
      resolve(undefined);
    });
    deadline.onEnd(() => socket.destroy());
  });
}

function shakeHands(
  raw: Socket,
  { peer, context }: { peer: Peer; context: SecureContext },
  deadline: Deadline,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      socket: raw,
      // Server name indication has no IP addresses; the certificate is checked against `host` then.
      ...(isIP(peer.host) === 0 ? { servername: peer.host } : { host: peer.host }),
      secureContext: context,
      // Explicit, as the environment can turn it off.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    });
    let broken: Error | undefined;
    const onClose = () =>
      reject(new NotSent(failureOfHandshake(broken ?? new Error('closed'), raw.bytesRead > 0)));
    socket.on('error', (error) => {
      broken ??= error;
    });
    socket.once('close', onClose);
    socket.once('secureConnect', () => {
      socket.removeListener('close', onClose);
      resolve(socket);
    });
    deadline.onEnd(() => socket.destroy());
  });
}
