import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { classifyAddress, type Network } from './addresses.ts';
import { checkCallbackUrl } from './callback-url.ts';
import type { Connection, OutboundRequest } from './connection.ts';
import { Deadline } from './deadline.ts';
import { dial } from './dial.ts';
import type { OutboundAnswer } from './exchange.ts';
import { NotSent } from './failures.ts';
import { Pool } from './pool.ts';
import { isLocalName, type Names, resolve } from './resolve.ts';

const HTTPS_PORT = 443;

export interface OutboundOptions extends Names {
  /** Networks to reach beside the public ones. */
  allow?: readonly Network[];
  /** Certificate authorities (PEM) to trust beside the built-in ones. */
  ca?: string | undefined;
  /** For the whole attempt: resolving, connecting, the answer (30,000). */
  timeoutMs?: number;
  /** Idle connections to one origin, for merchants of either mode (100). */
  idlePerOrigin?: number;
  /** Idle connections to all origins together (500). */
  idleInAll?: number;
  /** How long an idle connection is kept, unless its receiver sets another time (4,000: less than most servers). */
  idleMs?: number;
}

export interface Outbound {
  /**
   * Posts once to a merchant's URL. Failures of the network are in the answer and not thrown. Redirects are answers like
   * any other.
   *
   * @throws the reason of `signal`, or an error after `close`; then nothing is known about the receiver
   */
  post(request: OutboundRequest): Promise<OutboundAnswer>;
  /**
   * Numbers of connections, and of origins with idle ones. Open connections are at most the posts in progress, which the
   * caller limits, and the idle ones.
   */
  readonly size: { open: number; idle: number; origins: number };
  /** Aborts the posts in progress and closes all connections; later posts throw. */
  close(): void;
}

interface Destination {
  url: URL;
  sandbox: boolean;
}

function trust(ca: string | undefined): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca: [...getCACertificates('default'), ca] }),
  });
}

/** The name that a certificate must have: the host, without brackets of a literal and the dot at the end of a name. */
function certifiedName(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.$/g, '');
}

/** The only way to addresses that merchants name. */
class HttpsOutbound implements Outbound {
  readonly #options: OutboundOptions;
  readonly #context: SecureContext;
  readonly #pool: Pool;
  readonly #attempts = new Set<Deadline>();
  #open = 0;
  #isClosed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#context = trust(options.ca);
    this.#pool = new Pool({ perOrigin: options.idlePerOrigin ?? 100, total: options.idleInAll ?? 500 });
  }

  get size(): Outbound['size'] {
    return { open: this.#open, ...this.#pool.size };
  }

  async post(request: OutboundRequest): Promise<OutboundAnswer> {
    if (this.#isClosed) throw new Error('outbound is closed');
    const deadline = new Deadline(this.#options.timeoutMs ?? 30_000, request.signal);
    this.#attempts.add(deadline);
    try {
      const answer = await this.#attempt(request, deadline);
      // An answer counts even if its rest was aborted.
      if (answer.failure !== null) deadline.throwIfAborted();
      return answer;
    } catch (error) {
      deadline.throwIfAborted();
      if (!(error instanceof NotSent)) throw error;
      return { failure: deadline.isOver ? 'timeout' : error.failure, sent: false };
    } finally {
      deadline.clear();
      this.#attempts.delete(deadline);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const deadline of this.#attempts) deadline.abort(new Error('outbound is closed'));
    this.#pool.close();
  }

  async #attempt(request: OutboundRequest, deadline: Deadline): Promise<OutboundAnswer> {
    const checked = checkCallbackUrl(request.url);
    if ('refused' in checked) throw new NotSent('address_denied');
    const url = new URL(checked.url);
    // Sandbox and live merchants may reach different networks, so they share no connection.
    const key = `${request.sandbox ? 'sandbox' : 'live'} ${url.origin}`;
    for (;;) {
      const idle = this.#pool.take(key);
      const connection = idle ?? (await this.#connect({ url, sandbox: request.sandbox }, deadline));
      const answer = await connection.exchange(url, request, deadline);
      if (this.#isClosed) connection.close();
      else this.#pool.give(key, connection);
      // The idle connection was closed before anything was written: try another one.
      if (idle !== undefined && answer.failure === 'connection' && !answer.sent) continue;
      return answer;
    }
  }

  async #connect(to: Destination, deadline: Deadline): Promise<Connection> {
    const { hostname, port, origin } = to.url;
    // The HTTP library behind it is loaded with the first post: most sandboxes make none.
    const { Connection } = await import('./connection.ts');
    const addresses = await this.#resolve(to, deadline);
    const peer = { addresses, port: Number(port || HTTPS_PORT), host: certifiedName(hostname) };
    const socket = await dial(peer, this.#context, deadline);
    const connection = new Connection(socket, { origin, idleMs: this.#options.idleMs ?? 4_000 });
    this.#open++;
    connection.onClose(() => {
      this.#open--;
      this.#pool.remove(connection);
    });
    return connection;
  }

  /** @throws NotSent `address_denied` unless all addresses that the resolver answered are allowed */
  async #resolve({ url, sandbox }: Destination, deadline: Deadline): Promise<string[]> {
    const addresses = await resolve(url.hostname, this.#options, deadline);
    const policy = { allow: this.#options.allow ?? [], sandbox };
    const allowed = addresses.filter((address) => classifyAddress(address, policy) === 'allowed');
    // The addresses of a local name come from no resolver: one that is allowed is enough.
    const isEnough = isLocalName(url.hostname) ? allowed.length > 0 : allowed.length === addresses.length;
    if (!isEnough) throw new NotSent('address_denied');
    return allowed;
  }
}

/** Creates the outbound client; its TLS context and connections are shared by all posts. */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  return new HttpsOutbound(options);
}
