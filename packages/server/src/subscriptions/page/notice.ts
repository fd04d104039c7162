import type { NoticeCode } from '@florin/pages';
import { languageOf, payerAnswer } from '../../checkout/index.ts';
import type { PageAnswer, PageRequest } from '../../platform/http/index.ts';

/** A page that only says something. */
export async function noticePage(
  request: PageRequest,
  code: NoticeCode,
  more: { status: number; storeName?: string | null; headers?: Readonly<Record<string, string>> },
): Promise<PageAnswer> {
  const { status, storeName = null, headers = {} } = more;
  const view = { page: 'notice', language: languageOf(request), code, storeName } as const;
  return await payerAnswer(view, { status, headers });
}

/** The same for every address that opens nothing, whatever is wrong with it. */
export const missingPage = (request: PageRequest): Promise<PageAnswer> =>
  noticePage(request, 'subscription_missing', { status: 404 });
