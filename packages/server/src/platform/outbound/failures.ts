import { errors } from 'undici';

/** Why an attempt got no answer. Nothing more is told: an error's text may name what lies inside a network. */
export type OutboundFailure = 'timeout' | 'dns' | 'connection' | 'tls' | 'address_denied' | 'protocol';

/** An attempt that ended before anything of the request was written. */
export class NotSent extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure) {
    super(failure);
    this.failure = failure;
  }
}

/** Node's codes for a line that broke, whatever was spoken on it. */
const BROKEN_LINE = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

const NO_HTTP = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
];

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * The failure of a handshake whose TCP connection stood.
 *
 * @param hasAnswered whether the peer had said anything: a line that breaks before that is no matter of TLS
 */
export function failureOfHandshake(error: Error, hasAnswered: boolean): OutboundFailure {
  return BROKEN_LINE.has(codeOf(error)) && !hasAnswered ? 'connection' : 'tls';
}

/** The failure of an exchange on an open connection that broke off before the header of the answer was complete. */
export function failureOfExchange(error: Error): OutboundFailure {
  const code = codeOf(error);
  // With TLS 1.3 a peer refuses the handshake (for want of a client certificate, say) after we hold it for done.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls';
  if (NO_HTTP.some((kind) => error instanceof kind)) return 'protocol';
  // undici: "bad response" and "bad upgrade" are answers, its other socket errors say that the line broke.
  const isAnswer = error instanceof errors.SocketError && error.message.startsWith('bad ');
  return isAnswer ? 'protocol' : 'connection';
}
