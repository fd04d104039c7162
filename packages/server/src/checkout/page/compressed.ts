import { gzipSync } from 'node:zlib';
import { acceptsGzip, type PageAnswer, type PageRequest } from '../../platform/http/pages/index.ts';

/** A smaller body fits into one packet anyway. */
const COMPRESS_MIN_BYTES = 1_024;

/** Compresses pages for phones. Pages reflect no attacker's input, so the compressed length leaks nothing (BREACH). */
export function compressed(request: Pick<PageRequest, 'headers'>, answer: PageAnswer): PageAnswer {
  const { body } = answer;
  if (typeof body !== 'string' || body.length < COMPRESS_MIN_BYTES || !acceptsGzip(request)) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: gzipSync(body),
  };
}
