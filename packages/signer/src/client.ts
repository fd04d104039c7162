import { Agent, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import Type, { type Static, type TSchema } from 'typebox';
import {
  type AccountAnswer,
  type AccountRequest,
  type AddressesAnswer,
  type AddressesRequest,
  type ClaimAnswer,
  type ClaimRequest,
  type EpochAnswer,
  type EpochRequest,
  type JournalAnswer,
  type JournalHead,
  type OwnerCallAnswer,
  type OwnerCallRequest,
  PATHS,
  REFUSALS,
  type Refusal,
  type SignAnswer,
  type SignerNetwork,
  type SignerStatus,
  type SignRequest,
} from './protocol.ts';
import { isOf, shapedAs } from './shape.ts';

const TIMEOUT_MS = 10_000;
/** Of calls that stretch a passphrase, behind others that do. */
const PASSPHRASE_MS = 30_000;
const ANSWER_MAX = 4_194_304;
/** Connections at once; further calls wait. */
const SOCKETS_MAX = 32;

/** A socket of this machine, or TLS 1.3 with certificates of both sides, each as PEM. */
export type SignerAddress =
  | { socket: string }
  | { host: string; port: number; key: string; cert: string; serverCa: string };

/** It did not answer, or with something else than the protocol. A signature may have been made. */
export class SignerUnavailable extends Error {}

/** It answered that it does not sign. */
export class SignerRefused extends Error {
  readonly code: Refusal | 'invalid_request';
  /** With `unknown_attempts`: the first ordinal that it lacks, decimal digits; null: all of them. */
  readonly from: string | null;

  constructor(code: Refusal | 'invalid_request', message: string, from: string | null) {
    super(message);
    this.code = code;
    this.from = from;
  }
}

const Head = Type.Object({ entries: Type.Integer(), head: Type.String() });
const PUBLIC_ACCOUNT = {
  version: Type.String(),
  account: Type.Integer(),
  extendedPublicKey: Type.String(),
  epoch: Type.Integer(),
  hot: Type.String(),
};
const OptionalText = Type.Union([Type.Null(), Type.String()]);
const ACCOUNT_SHAPES = {
  erc20: Type.Object({ ...PUBLIC_ACCOUNT, network: Type.Literal('erc20'), coldOwner: OptionalText }),
  trc20: Type.Object({ ...PUBLIC_ACCOUNT, network: Type.Literal('trc20') }),
  spl: Type.Object({
    version: Type.String(),
    network: Type.Literal('spl'),
    account: Type.Integer(),
    hot: Type.String(),
  }),
} as const;
const AddressesShape = Type.Object({
  network: Type.Literal('spl'),
  account: Type.Integer(),
  from: Type.Integer(),
  addresses: Type.Array(Type.String()),
});
const EpochShape = Type.Object({
  network: Type.Literal('erc20'),
  account: Type.Integer(),
  epoch: Type.Integer(),
  hot: Type.String(),
  journal: Head,
});
const ownerCall = { owner: Type.String(), collector: Type.String(), collectorAccount: Type.String() };
const OwnerCallShape = Type.Union([
  Type.Object({ ...ownerCall, costAtMost: Type.String(), raw: Type.String(), txId: Type.String() }),
  Type.Object({
    ...ownerCall,
    unsigned: Type.Object({
      chainId: Type.Integer(),
      from: Type.String(),
      to: Type.String(),
      data: Type.String(),
      value: Type.String(),
    }),
    does: Type.String(),
  }),
]);
const SignShape = Type.Object({ raw: Type.String(), txId: Type.String(), journal: Head });
const JournalShape = Type.Object({ known: Type.Boolean(), journal: Head });
const ClaimShape = Type.Object({ claimed: Type.Boolean() });
const Units = Type.String({ pattern: '^[0-9]{1,77}$' });
const ThresholdShape = Type.Object({
  approveAbove: Units,
  approvals: Type.Integer(),
  unapprovedPerDay: Units,
  unapprovedUsed: Units,
});
const StatusShape = Type.Object({
  version: Type.String(),
  policy: Type.String(),
  frozen: Type.Union([Type.Null(), Type.Object({ since: Type.Number(), reason: Type.String() })]),
  journal: Head,
  held: Type.Union([Type.Null(), Type.Object({ history: Type.String(), generation: Type.String() })]),
  networks: Type.Array(
    Type.Union([
      Type.Object({
        network: Type.Literal('erc20'),
        chainId: Type.Number(),
        collector: OptionalText,
        gasTopUp: Units,
        gasTopUpsLeft: Units,
      }),
      Type.Object({
        network: Type.Literal('trc20'),
        genesis: Type.String(),
        collector: OptionalText,
        gasTopUp: Units,
        gasTopUpsLeft: Units,
      }),
      Type.Object({
        network: Type.Literal('spl'),
        genesis: Type.String(),
        feePayer: Type.String(),
        delegate: OptionalText,
        chargeAtMost: Type.Optional(OptionalText),
      }),
    ]),
  ),
  thresholds: Type.Object({ payouts: ThresholdShape, refunds: ThresholdShape }),
  approvers: Type.Array(
    Type.Union([
      Type.Object({
        name: Type.String(),
        kind: Type.Union([Type.Literal('ed25519'), Type.Literal('ethereum')]),
        key: Type.String(),
      }),
      Type.Object({
        name: Type.String(),
        kind: Type.Literal('passkey'),
        key: Type.String(),
        rpId: Type.String(),
        origin: Type.String(),
      }),
    ]),
  ),
});
const RefusalShape = Type.Object({
  code: Type.String(),
  message: Type.String(),
  from: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

/** Calls a signer. Every call throws SignerUnavailable or SignerRefused. */
export class SignerClient {
  readonly #send: typeof plainRequest;
  readonly #target: RequestOptions;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  constructor(address: SignerAddress, { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {}) {
    this.#timeoutMs = timeoutMs;
    if ('socket' in address) {
      this.#agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
      this.#send = plainRequest;
      this.#target = { socketPath: address.socket };
    } else {
      const { host, port, key, cert, serverCa } = address;
      const tls = { key, cert, ca: serverCa, minVersion: 'TLSv1.3' } as const;
      this.#agent = new TlsAgent({ keepAlive: true, maxSockets: SOCKETS_MAX, ...tls });
      this.#send = tlsRequest;
      this.#target = { host, port };
    }
  }

  async status(): Promise<SignerStatus> {
    return await this.#call('GET', PATHS.status, StatusShape);
  }

  async account<const Network extends SignerNetwork>(
    request: AccountRequest & { network: Network },
  ): Promise<Extract<AccountAnswer, { network: Network }>>;
  async account(request: AccountRequest): Promise<AccountAnswer> {
    return await this.#call('POST', PATHS.accounts, ACCOUNT_SHAPES[request.network], { body: request });
  }

  /** Deposit addresses of an account on spl. Asking again gives the same ones. */
  async addresses(request: AddressesRequest): Promise<AddressesAnswer> {
    const answer = await this.#call('POST', PATHS.addresses, AddressesShape, { body: request });
    if (answer.account !== request.account || answer.from !== request.from)
      throw new SignerUnavailable('the signer gave the addresses of other indexes');
    if (answer.addresses.length !== request.count)
      throw new SignerUnavailable(
        `the signer gave ${answer.addresses.length} addresses, not ${request.count}`,
      );
    return answer;
  }

  /** Asking again is safe: the same attempt with the same fees gives the same bytes. */
  async sign(request: SignRequest): Promise<SignAnswer> {
    return await this.#call('POST', PATHS.sign, SignShape, { body: request });
  }

  /**
   * As `sign`; where the signer lacks attempts before this one it is asked again with them.
   *
   * @param before as `SigningRequest.before` of the server: ids from that ordinal on, null from the first
   */
  async signAttempt(
    request: SignRequest,
    before: (from: bigint | null) => Promise<readonly string[]>,
  ): Promise<SignAnswer> {
    try {
      return await this.sign(request);
    } catch (error) {
      if (!(error instanceof SignerRefused && error.code === 'unknown_attempts')) throw error;
      const known = await before(error.from === null ? null : BigInt(error.from));
      return await this.sign({ ...request, attempt: { ...request.attempt, before: known } });
    }
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return await this.#call('POST', PATHS.claim, ClaimShape, { body: request });
  }

  /** Whether the signer's journal has this head. */
  async checkJournal(head: JournalHead): Promise<JournalAnswer> {
    return await this.#call('POST', PATHS.journal, JournalShape, { body: head });
  }

  async freeze(reason: string): Promise<SignerStatus> {
    return await this.#call('POST', PATHS.freeze, StatusShape, { body: { reason } });
  }

  /** @param passphrase of the key file */
  async unfreeze(passphrase: string): Promise<SignerStatus> {
    return await this.#call('POST', PATHS.unfreeze, StatusShape, {
      body: { passphrase },
      timeoutMs: PASSPHRASE_MS,
    });
  }

  /** Gives an account its next hot wallet. Asking again is safe. */
  async beginEpoch(request: EpochRequest): Promise<EpochAnswer> {
    return await this.#call('POST', PATHS.epochs, EpochShape, {
      body: request,
      timeoutMs: PASSPHRASE_MS,
    });
  }

  /** What gives a merchant's account at the collector to its present hot wallet: signed, or for its cold owner to send. */
  async ownerCall(request: OwnerCallRequest): Promise<OwnerCallAnswer> {
    return await this.#call('POST', PATHS.ownerCalls, OwnerCallShape, {
      body: request,
      timeoutMs: PASSPHRASE_MS,
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call<const Shape extends TSchema>(
    method: string,
    path: string,
    shape: Shape,
    { body, timeoutMs = this.#timeoutMs }: { body?: object; timeoutMs?: number } = {},
  ): Promise<Static<Shape>> {
    const { status, text } = await this.#exchange(method, path, body, timeoutMs);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new SignerUnavailable(`the signer answered ${status} and no JSON`);
    }
    if (status === 200)
      return shapedAs(shape, value, (fault) => new SignerUnavailable(misread(fault, value)));
    if ((status === 400 || status === 403) && isRefusal(value))
      throw new SignerRefused(value.code, value.message, value.from ?? null);
    throw new SignerUnavailable(`the signer answered ${status}`);
  }

  #exchange(
    method: string,
    path: string,
    body: object | undefined,
    timeoutMs: number,
  ): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = (error: Error) =>
      reject(
        new SignerUnavailable(
          signal.aborted
            ? `the signer did not answer within ${timeoutMs} ms`
            : `the signer does not answer: ${error.message}`,
          { cause: error },
        ),
      );
    const headers =
      text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const request = this.#send(
      { ...this.#target, method, path, headers, signal, agent: this.#agent },
      (response) =>
        void readText(response).then(
          (read) => resolve({ status: response.statusCode ?? 0, text: read }),
          fail,
        ),
    );
    request.once('error', fail);
    request.end(text);
    return promise;
  }
}

/** Releases add to answers: one that lacks something comes from an older signer. */
function misread(fault: string, answer: unknown): string {
  const version: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'version') : undefined;
  const whose = typeof version === 'string' ? `of version ${version.slice(0, 40)}` : 'of an older version';
  return `the signer is ${whose}, and this server cannot read its answer (${fault}): update the signer first, then the server.`;
}

function isRefusal(
  value: unknown,
): value is { code: Refusal | 'invalid_request'; message: string; from?: string | null } {
  if (!isOf(RefusalShape, value)) return false;
  const { code } = value;
  return code === 'invalid_request' || REFUSALS.some((one) => one === code);
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > ANSWER_MAX) throw new Error('the answer is too long');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
