import { chmodSync, statSync, unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { JournalFailure } from './journal.ts';
import { SignerMistake } from './mistake.ts';
import { PATHS, type RefusalAnswer } from './protocol.ts';
import { Refused } from './refusal.ts';
import {
  InvalidRequest,
  readAccountRequest,
  readAddressesRequest,
  readClaimRequest,
  readEpochRequest,
  readFreezeRequest,
  readJournalHead,
  readOwnerCallRequest,
  readSignRequest,
  readUnfreezeRequest,
} from './schemas.ts';
import type { Signer } from './signer.ts';

const BODY_MAX = 1_048_576;
const REQUEST_MS = 10_000;
const CONNECTIONS_MAX = 200;
/** The user and the group of the socket alone. */
const SOCKET_MODE = 0o660;
/** What every system takes; Linux has room for 107. */
const SOCKET_PATH_MAX = 103;

/** Where the signer listens: a socket of this machine, or TLS 1.3 to callers with a certificate of `clientCa`. */
export type Listen =
  | { socket: string }
  | { host: string; port: number; key: string; cert: string; clientCa: string };

type Failed = (error: unknown, mustEnd: boolean) => void;

export interface SignerServer {
  /** Of TLS; undefined on a socket. */
  port: number | undefined;
  stop(): Promise<void>;
}

/**
 * Answers the protocol until it is stopped.
 *
 * @param failed is told what went wrong in a call; with `mustEnd` the journal cannot be written, and the process must end
 * @throws SignerMistake where it cannot listen there
 */
export async function serveSigner(signer: Signer, listen: Listen, failed: Failed): Promise<SignerServer> {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    void answer(signer, request, failed).then(
      ([status, body]) => send(response, status, body),
      () => response.destroy(),
    );
  };
  const limits = {
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    connectionsCheckingInterval: 1_000,
  };
  const server =
    'socket' in listen
      ? createServer(limits, listener)
      : createTlsServer(
          {
            ...limits,
            key: listen.key,
            cert: listen.cert,
            ca: listen.clientCa,
            requestCert: true,
            rejectUnauthorized: true,
            minVersion: 'TLSv1.3',
          },
          listener,
        );
  server.maxConnections = CONNECTIONS_MAX;
  await ('socket' in listen ? listenOnSocket(server, listen.socket) : listenOnPort(server, listen));
  const address = server.address();
  return {
    port: typeof address === 'string' || address === null ? undefined : (address satisfies AddressInfo).port,
    stop: () => stop(server),
  };
}

async function listenOnSocket(server: Server, socket: string): Promise<void> {
  if (Buffer.byteLength(socket) > SOCKET_PATH_MAX)
    throw new SignerMistake(
      'listen',
      `the path of a socket has at most ${SOCKET_PATH_MAX} bytes, and ${socket} has more: name a shorter one.`,
    );
  await removeStale(socket);
  // The socket is made with the mode that the mask leaves, before anybody can connect.
  const mask = process.umask(0o777 & ~SOCKET_MODE);
  try {
    await listening(server, () => server.listen(socket), socket);
  } finally {
    process.umask(mask);
  }
  chmodSync(socket, SOCKET_MODE);
}

async function listenOnPort(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  await listening(server, () => server.listen(port, host), `${host}:${port}`);
}

function listening(server: Server, start: () => void, where: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('listening', resolve);
  server.once('error', ({ code, message }: NodeJS.ErrnoException) =>
    reject(new SignerMistake('listen', `the signer cannot listen on ${where} (${code ?? message}).`)),
  );
  start();
  return promise;
}

/** A socket that a killed signer left. One that answers, or another file, stays. */
async function removeStale(socket: string): Promise<void> {
  const found = statSync(socket, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket())
    throw new SignerMistake('listen', `${socket} exists and is no socket: give another name.`);
  if (await answers(socket)) throw new SignerMistake('listen', `another process listens on ${socket}.`);
  unlinkSync(socket);
}

function answers(socket: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const connection = connect(socket, () => resolve(true));
  connection.once('error', () => resolve(false));
  return promise.finally(() => connection.destroy());
}

async function stop(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  await promise;
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  // What was not read of a long body would be taken for the next request.
  const close = status === 200 || status === 403 ? {} : { connection: 'close' };
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...close,
  });
  response.end(text);
}

type Answer = [status: number, body: object];

async function answer(signer: Signer, request: IncomingMessage, failed: Failed): Promise<Answer> {
  try {
    return [200, await dispatch(signer, request)];
  } catch (error) {
    if (error instanceof InvalidRequest)
      return refusal(400, { code: 'invalid_request', message: error.message });
    if (error instanceof SignerMistake)
      return refusal(403, { code: 'invalid_request', message: error.message });
    if (error instanceof Refused) {
      const { code, message, from } = error;
      return refusal(403, { code, message, ...(code === 'unknown_attempts' && { from }) });
    }
    if (error instanceof ClosedByCaller) throw error;
    failed(error, error instanceof JournalFailure);
    return [500, { code: 'internal_error', message: 'the signer failed.' }];
  }
}

const refusal = (status: number, body: RefusalAnswer): Answer => [status, body];

class ClosedByCaller extends Error {}

/** The calls with a body, by path. */
const CALLS = new Map<string, (signer: Signer, body: unknown) => Promise<object> | object>([
  [PATHS.sign, (signer, body) => signer.sign(readSignRequest(body))],
  [PATHS.accounts, (signer, body) => signer.account(readAccountRequest(body))],
  [PATHS.addresses, (signer, body) => signer.addresses(readAddressesRequest(body))],
  [PATHS.journal, (signer, body) => signer.checkJournal(readJournalHead(body))],
  [PATHS.claim, (signer, body) => signer.claim(readClaimRequest(body))],
  [PATHS.epochs, (signer, body) => signer.beginEpoch(readEpochRequest(body))],
  [PATHS.ownerCalls, (signer, body) => signer.ownerCall(readOwnerCallRequest(body))],
  [PATHS.freeze, (signer, body) => withStatus(signer, signer.freeze(readFreezeRequest(body).reason))],
  [
    PATHS.unfreeze,
    (signer, body) => withStatus(signer, signer.unfreeze(readUnfreezeRequest(body).passphrase)),
  ],
]);

async function withStatus(signer: Signer, work: Promise<void>): Promise<object> {
  await work;
  return signer.status();
}

async function dispatch(signer: Signer, request: IncomingMessage): Promise<object> {
  const { method = '', url = '' } = request;
  if (method === 'GET' && url === PATHS.status) return signer.status();
  const call = CALLS.get(url);
  if (method !== 'POST' || call === undefined)
    throw new InvalidRequest(`${method} ${url} is no call of the signer.`);
  return await call(signer, await bodyOf(request));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const text = await textOf(request);
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidRequest('the body is not JSON.');
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = Buffer.from(chunk);
      length += bytes.length;
      if (length > BODY_MAX) break;
      chunks.push(bytes);
    }
  } catch {
    throw new ClosedByCaller('the caller closed the connection');
  }
  if (length > BODY_MAX) throw new InvalidRequest('the body is larger than 1 MiB.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new InvalidRequest('the body is not UTF-8.');
  }
}
