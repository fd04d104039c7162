/** Why an attempt got no answer. Texts of errors are not passed on, as they may name hosts of an internal network. */
export type OutboundFailure = 'timeout' | 'dns' | 'connection' | 'tls' | 'address_denied' | 'protocol';

/** The attempt ended before any byte of the request was written. */
export class NotSent extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure) {
    super(failure);
    this.failure = failure;
  }
}

/** Node's codes for a broken connection. */
const BROKEN_LINE = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * undici's errors for bytes that are no HTTP answer. By name, so that the library is loaded with the first request only;
 * the parser's errors have no code.
 */
const NO_HTTP = new Set(['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']);

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * The failure of a TLS handshake on an open TCP connection.
 *
 * @param hasAnswered whether the peer had sent a byte: a connection that breaks before is no failure of TLS
 */
export function failureOfHandshake(error: Error, hasAnswered: boolean): OutboundFailure {
  return BROKEN_LINE.has(codeOf(error)) && !hasAnswered ? 'connection' : 'tls';
}

/** The failure of an exchange on an open connection that broke off before the header of the answer was complete. */
export function failureOfExchange(error: Error): OutboundFailure {
  const code = codeOf(error);
  // With TLS 1.3 a peer may refuse the handshake (without a client certificate, say) after our side has completed it.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls';
  if (NO_HTTP.has(error.name)) return 'protocol';
  // undici: "bad response" and "bad upgrade" are answers, its other socket errors mean a broken connection.
  const isAnswer = error.name === 'SocketError' && error.message.startsWith('bad ');
  return isAnswer ? 'protocol' : 'connection';
}
