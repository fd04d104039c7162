import type * as Signer from '@florin/signer';
import type * as Client from '@florin/signer/client';
import { CommandFailure, wrongUsage } from './failure.ts';

type SignerModule = typeof Signer;
type ClientModule = typeof Client;

/** Options that say where a signer listens. */
export interface SignerFlags {
  signer?: string;
  tlsKey?: string;
  tlsCert?: string;
  tlsCa?: string;
}

/** Where a signer listens: a socket, or a host and a port. */
export type SignerAddress = { socket: string } | { host: string; port: number };

/** `unix:/run/florin/signer.sock`, or `https://signer.internal:8443`. */
export function readSignerAddress(text: string): SignerAddress {
  if (text.startsWith('unix:/')) return { socket: text.slice('unix:'.length) };
  const { protocol, hostname, port } = URL.parse(text) ?? {};
  if (protocol === 'https:' && hostname !== undefined && port !== undefined && port !== '')
    return { host: hostname, port: Number(port) };
  throw wrongUsage(`${text} is no address of a signer: give unix:/path/to/socket or https://host:port.`);
}

/** Loads the signer package, if it is installed: only some commands need it. */
async function loadSigner(): Promise<SignerModule & ClientModule> {
  try {
    return { ...(await import('@florin/signer')), ...(await import('@florin/signer/client')) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !String(error).includes("'@florin/signer'")) throw error;
    throw new CommandFailure(
      'signer_not_installed',
      'This command needs the signer, which is not installed here: npm install @florin/signer.',
      { cause: error },
    );
  }
}

/** Runs `work` with the signer package; what an operator has to mend becomes one line. */
export async function withSigner<T>(work: (signer: SignerModule & ClientModule) => Promise<T>): Promise<T> {
  const modules = await loadSigner();
  try {
    return await work(modules);
  } catch (error) {
    if (error instanceof modules.SignerMistake)
      throw new CommandFailure(error.code, error.message, { cause: error });
    if (error instanceof modules.SignerRefused)
      throw new CommandFailure(error.code, error.message, { cause: error });
    if (error instanceof modules.SignerUnavailable)
      throw new CommandFailure('signer_unavailable', `${error.message}.`, { cause: error });
    throw error;
  }
}

/** Runs `work` with a client of the signer that the flags or FLORIN_SIGNER name. */
export async function withSignerClient<T>(
  { signer = process.env.FLORIN_SIGNER, tlsKey, tlsCert, tlsCa }: SignerFlags,
  work: (client: Client.SignerClient, modules: SignerModule) => Promise<T>,
): Promise<T> {
  if (signer === undefined) throw wrongUsage('Give --signer unix:/path/to/socket, or set FLORIN_SIGNER.');
  const listens = readSignerAddress(signer);
  return await withSigner(async (modules) => {
    const address =
      'socket' in listens
        ? listens
        : {
            ...listens,
            key: modules.readPrivateFile(needed(tlsKey, '--tls-key'), 'the TLS key'),
            cert: modules.readPublicFile(needed(tlsCert, '--tls-cert'), 'the TLS certificate'),
            serverCa: modules.readPublicFile(needed(tlsCa, '--tls-ca'), 'the TLS authority'),
          };
    const client = new modules.SignerClient(address);
    try {
      return await work(client, modules);
    } finally {
      client.close();
    }
  });
}

export function needed(value: string | undefined, flag: string): string {
  if (value === undefined) throw wrongUsage(`A signer behind https:// needs ${flag}.`);
  return value;
}
