import { isPayoutPath } from '../http/expect-error.ts';
import type { Contract } from './document.ts';
import type { Draft } from './draft.ts';
import { mayRefuse } from './rules.ts';
import { type Answer, isStream, type Ready } from './wire.ts';

export interface Exchange {
  draft: Draft;
  ready: Ready;
  answer: Answer;
  /** Whether every id in the request is of something that surely exists. */
  idsExist: boolean;
}

type Json = Record<string, unknown>;

/** Statuses of requests that name no operation. */
const UNROUTED = new Set([400, 401, 404, 405, 413, 415]);
const STANDARD_HEADERS = {
  'cache-control': 'no-store',
  'x-service-version': '2026-04-20',
};
const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;

/** Everything that is wrong with an answer, in words; empty when nothing is. */
export function problemsOf(contract: Contract, exchange: Exchange): string[] {
  const { draft, answer } = exchange;
  const problems = [...statusProblems(exchange), ...headerProblems(exchange)];
  if (draft.method === 'HEAD') return problems;
  if (isStream(answer)) return [...problems, ...streamProblems(exchange)];
  let json: Json;
  try {
    json = JSON.parse(answer.text);
  } catch {
    return [...problems, `the body is no JSON: ${answer.text.slice(0, 200)}`];
  }
  problems.push(...shapeProblems(contract, exchange, json), ...unsafeNumbers(json));
  if (answer.status >= 400) problems.push(...errorProblems(exchange, json));
  return problems;
}

/** A stream answers 200 alone, and only where it is documented. */
function streamProblems({ draft, answer }: Exchange): string[] {
  const documented = draft.routed ? draft.operation.answers.get(answer.status) : undefined;
  const isRight = answer.status === 200 && documented !== undefined && documented.fits === undefined;
  return isRight ? [] : [`a stream where none is documented: ${answer.status}`];
}

function codeOf(json: Json): string {
  const error = json.error as Json | undefined;
  const code = json.errorCode ?? error?.code ?? 'forbidden';
  return typeof code === 'string' ? code : JSON.stringify(code);
}

function statusProblems({ draft, ready, answer, idsExist }: Exchange): string[] {
  const { status } = answer;
  if (status >= 500) return [`${status}: ${answer.text.slice(0, 300)}`];
  if (draft.expected !== 'fits') {
    return draft.expected.includes(status) ? [] : [`${status} instead of ${draft.expected.join(' or ')}`];
  }
  if (status === 200) return [];
  if (status === 404 && !idsExist) return [];
  const code = parsedCode(answer);
  if (mayRefuse(draft.operation.id, code, ready)) return [];
  if (status === 404) return ['404 for what exists'];
  return [`a request that fits the document is refused: ${status} ${answer.text.slice(0, 300)}`];
}

function parsedCode(answer: Answer): string {
  try {
    return codeOf(JSON.parse(answer.text));
  } catch {
    return '';
  }
}

function headerProblems({ ready, answer }: Exchange): string[] {
  const problems: string[] = [];
  const { headers } = answer;
  const id = String(headers['x-request-id']);
  if (!REQUEST_ID.test(id)) problems.push(`X-Request-ID: ${id}`);
  const asked = ready.headers.find(([name]) => name === 'X-Request-ID')?.[1];
  if (asked !== undefined && (asked === id) !== REQUEST_ID.test(asked))
    problems.push(`X-Request-ID ${id} for ${asked}`);
  for (const [name, value] of Object.entries(STANDARD_HEADERS)) {
    if (headers[name] !== value) problems.push(`${name}: ${String(headers[name])}`);
  }
  const type = String(headers['content-type']);
  if (!isStream(answer) && type !== 'application/json; charset=utf-8') problems.push(`content-type: ${type}`);
  if (answer.status === 405 && headers.allow === undefined) problems.push('405 without Allow');
  return problems;
}

function shapeProblems(contract: Contract, { draft, ready, answer }: Exchange, json: Json): string[] {
  const { status } = answer;
  const family = isPayoutPath(ready.target) ? 'PayoutError' : 'StructuredError';
  const fitsFamily = contract.fits({ $ref: `#/components/schemas/${family}` });
  if (status >= 400 && !fitsFamily(json)) return [`no ${family}: ${answer.text.slice(0, 300)}`];
  if (!draft.routed) return UNROUTED.has(status) ? [] : [`${status} where no operation is`];
  const documented = draft.operation.answers.get(status);
  if (documented === undefined) return [`${status} is not documented for ${draft.operation.id}`];
  if (documented.fits === undefined) return ['JSON where a stream is documented'];
  if (!documented.fits(json)) return [`breaks its schema: ${JSON.stringify(documented.fits.errors)}`];
  const code = codeOf(json);
  if (status >= 400 && !documented.codes.has(code))
    return [`${status} ${code} is not documented for ${draft.operation.id}`];
  if (json.object === 'list' && json.url !== ready.target) return [`url is ${String(json.url)}`];
  return [];
}

/** An integer that readers in other languages would round. Fractions are a merchant's own, in metadata alone. */
function unsafeNumbers(value: unknown, path = ''): string[] {
  if (typeof value === 'number') {
    const isFree = path.includes('.metadata.') && !Number.isInteger(value);
    return isFree || Number.isSafeInteger(value) ? [] : [`${path} is ${value}: no safe integer`];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => unsafeNumbers(inner, `${path}.${key}`));
}

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  409: 'idempotency_error',
  429: 'rate_limit_error',
};

function errorProblems({ ready, answer }: Exchange, json: Json): string[] {
  if (isPayoutPath(ready.target))
    return json.code === answer.status ? [] : [`code ${String(json.code)} in a ${answer.status}`];
  const type = TYPES[answer.status] ?? (answer.status >= 500 ? 'api_error' : 'invalid_request_error');
  const error = (json.error ?? {}) as Json;
  const problems = error.type === type ? [] : [`type ${String(error.type)} in a ${answer.status}`];
  if (json.request_id !== answer.headers['x-request-id']) problems.push('request_id differs from the header');
  return problems;
}
