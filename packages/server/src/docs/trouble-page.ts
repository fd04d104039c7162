import { renderPage, type TroubleKind } from '@florin/pages';
import { languageOf } from '../checkout/page/index.ts';
import type { FailCode } from '../platform/fail.ts';
import { htmlAnswer, type PageAnswer, type PageRequest } from '../platform/http/pages/index.ts';

interface PageError extends Pick<PageRequest, 'url' | 'headers'> {
  code: FailCode;
  status: number;
  message: string;
  requestId: string;
}

const KINDS: Partial<Record<FailCode, TroubleKind>> = {
  resource_not_found: 'missing',
  forbidden: 'forbidden',
  rate_limited: 'busy',
  service_unavailable: 'away',
};
/** Pages that also show the error's own message. */
const DETAILED = new Set<TroubleKind>(['forbidden', 'refused']);

const kindOf = ({ code, status }: PageError): TroubleKind =>
  KINDS[code] ?? (status >= 500 ? 'broken' : 'refused');

/** The page of an error, in the reader's language. */
export async function troublePage(error: PageError): Promise<PageAnswer> {
  const { status, message, requestId } = error;
  const kind = kindOf(error);
  const detail = DETAILED.has(kind) ? message : null;
  const view = { page: 'trouble', language: languageOf(error), kind, detail, requestId } as const;
  return htmlAnswer(await renderPage(view), { status, headers: { 'x-robots-tag': 'noindex' } });
}
