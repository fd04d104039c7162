import { gzipSync } from 'node:zlib';
import type { PageAnswer, PageRequest } from '../../platform/http/index.ts';

/** Below this a compressed answer takes as many packets as the plain one. */
const WORTH_BYTES = 1_024;

export const takesGzip = ({ headers }: Pick<PageRequest, 'headers'>): boolean =>
  /(^|,)\s*gzip\s*(,|;(?!\s*q=0(\.0*)?\s*(,|$))|$)/.test(headers['accept-encoding'] ?? '');

/** Payers are on phones. Nothing of a page comes from whoever could measure its length, so compression tells nothing. */
export function compressed(request: Pick<PageRequest, 'headers'>, answer: PageAnswer): PageAnswer {
  const { body } = answer;
  if (typeof body !== 'string' || body.length < WORTH_BYTES || !takesGzip(request)) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: gzipSync(body),
  };
}
