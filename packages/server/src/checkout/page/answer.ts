import { type NoticeCode, type PageView, renderPage, type StoreFace } from '@florin/pages';
import { htmlAnswer, type PageAnswer, type PageRequest } from '../../platform/http/pages/index.ts';
import { languageOf } from './language.ts';

/** Pages of payers are found by their address alone, and need nothing of the device. */
const PAYER_HEADERS = {
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-robots-tag': 'noindex',
};

interface AnswerOptions {
  status?: number;
  headers?: Readonly<Record<string, string>>;
}

/** A page that a payer sees. */
export async function payerAnswer(
  view: PageView,
  { status = 200, headers = {} }: AnswerOptions = {},
): Promise<PageAnswer> {
  return htmlAnswer(await renderPage(view), { status, headers: { ...PAYER_HEADERS, ...headers } });
}

/** A page with a message only, in the reader's language. */
export async function noticeAnswer(
  request: PageRequest,
  code: NoticeCode,
  { store = null, ...options }: AnswerOptions & { status: number; store?: StoreFace | null },
): Promise<PageAnswer> {
  return await payerAnswer({ page: 'notice', language: languageOf(request), code, store }, options);
}
