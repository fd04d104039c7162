import { type PageView, renderPage } from '@florin/pages';
import { htmlAnswer, type PageAnswer } from '../../platform/http/index.ts';

/** Pages of payers are found by their address alone, and need nothing of the device. */
const PAYER_HEADERS = {
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-robots-tag': 'noindex',
};

/** A page that a payer sees. */
export async function payerAnswer(
  view: PageView,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Promise<PageAnswer> {
  return htmlAnswer(await renderPage(view), { status, headers: { ...PAYER_HEADERS, ...headers } });
}
