import { takeAhead } from './ahead.ts';

/** What a page was opened for: it stands in its address. */
export interface Place {
  merchant: string;
  store: string;
}

/** A refusal, as the service worded it. */
export class ApiError extends Error {
  readonly status: number;
  readonly requestId: string;
  readonly param: string | undefined;
  /** The password has to be given again first. */
  readonly needsProof: boolean;

  constructor(message: string, answer: Response, param?: string) {
    super(message);
    this.status = answer.status;
    this.requestId = answer.headers.get('x-request-id') ?? '';
    this.param = param;
    this.needsProof = answer.headers.get('x-service-proof') === 'required';
  }
}

/** A 401 that names a field is of what was typed, such as a wrong password. */
export const hasEnded = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401 && error.param === undefined;

/** What the page itself found, in words for the person. */
export class PageError extends Error {
  /** The field that it is about. */
  readonly param: string | undefined;

  constructor(message: string, param?: string) {
    super(message);
    this.param = param;
  }
}

export interface CallOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: object | undefined;
  place?: Place | undefined;
  idempotencyKey?: string | undefined;
  accept?: string;
  signal?: AbortSignal | undefined;
}

/** The session's token; known once somebody is signed in. */
let csrfToken = '';
export const keepCsrfToken = (token: string): void => {
  csrfToken = token;
};

/** After a minute without input the page marks its requests as background: these do not extend the session. */
const AWAY_MS = 60_000;
/** Input without requests, as in a long form, extends the session by one request every five minutes. */
const TELL_EVERY_MS = 5 * 60_000;
// The wall clock, as it goes on while the computer sleeps.
let touchedAtMs = Date.now();
let toldAtMs = Date.now();
function touch(): void {
  touchedAtMs = Date.now();
  if (touchedAtMs - toldAtMs < TELL_EVERY_MS) return;
  toldAtMs = touchedAtMs;
  void send('/console/api/me').catch(() => undefined);
}
// Screen readers and voice control send clicks and input events without keys or pointers.
for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchmove', 'click', 'input'])
  addEventListener(kind, touch, { passive: true, capture: true });
const isAway = (): boolean => Date.now() - touchedAtMs > AWAY_MS;

const headersOf = ({ body, place, idempotencyKey, accept }: CallOptions): Record<string, string> => ({
  ...(isAway() ? { 'x-service-background': 'true' } : {}),
  ...(csrfToken === '' ? {} : { 'x-csrf-token': csrfToken }),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(place === undefined ? {} : { 'x-service-merchant': place.merchant, 'x-service-store': place.store }),
  ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  ...(accept === undefined ? {} : { accept }),
});

interface Refusal {
  message?: string;
  error?: { message?: string; param?: string };
}

/** Both formats of errors, and what a proxy in between may answer. */
async function refusalOf(answer: Response): Promise<ApiError> {
  const body: Refusal = await answer.json().catch(() => ({}));
  const message = body.error?.message ?? body.message ?? `The service answers ${answer.status}.`;
  return new ApiError(message, answer, body.error?.param);
}

/** @throws ApiError; TypeError while the service cannot be reached */
export async function send(path: string, options: CallOptions = {}): Promise<Response> {
  const { method = 'GET', body, signal } = options;
  const ahead = method === 'GET' ? takeAhead(path, options.place) : undefined;
  const answer = await (ahead ??
    fetch(path, {
      method,
      headers: headersOf(options),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }));
  if (!answer.ok) throw await refusalOf(answer);
  return answer;
}

/** @throws ApiError */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  return (await send(path, options)).json();
}

type AskForProof = () => Promise<boolean>;
let askForProof: AskForProof = async () => false;
/** The dialog that asks for the password; one is on the page. */
export const answerProofsBy = (ask: AskForProof): void => {
  askForProof = ask;
};

/** A change: where the service wants a fresh proof, the person is asked and the same change is sent again. @throws ApiError */
export async function change<T>(path: string, options: CallOptions = {}): Promise<T> {
  // What takes something away takes no body.
  const sent = { method: 'POST', ...(options.method === 'DELETE' ? {} : { body: {} }), ...options } as const;
  try {
    return await call<T>(path, sent);
  } catch (error) {
    const asks = error instanceof ApiError && (error.needsProof || error.param === 'proof');
    if (!asks || !(await askForProof())) throw error;
    return await call<T>(path, sent);
  }
}

/** A path with those parameters that have a value. */
export function pathWith(path: string, query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
