import { parseTokens } from '@florin/contract/money';
import { type WalletOrder, walletTexts } from '@florin/pages';
import type { PaymentDeps } from '../../payments/index.ts';
import { Fail } from '../../platform/fail.ts';
import { TokenBuckets } from '../../platform/http/index.ts';
import {
  formOf,
  type PageAnswer,
  type PageRequest,
  type PublicPage,
  pageHeaders,
} from '../../platform/http/pages/index.ts';
import { type FoundPage, findPage } from '../page/find-page.ts';
import { languageOf } from '../page/language.ts';
import { readPage } from '../page/read-page.ts';
import { proveByText, textToSign } from './prove-by-text.ts';
import { transferData } from './transfer-call.ts';

/** Rate limit per page, for a person who tries wallets. */
const CLICKS = { perSecond: 1, burst: 20 };
const BUCKETS_MAX = 10_000;
/** With the signature of a contract wallet. */
const BYTES_MAX = 16_384;

/**
 * The calls of a payer's page around a wallet in the browser: what it shall send, the text that it shall sign, and the
 * signature. Whoever has the page's address may make them, as the wallet's owner decides what happens. Simulated networks
 * have none: no browser's wallet knows them.
 */
export function walletPages(deps: PaymentDeps, publicUrl: () => string): PublicPage[] {
  const buckets = new TokenBuckets(CLICKS.perSecond, CLICKS.burst, BUCKETS_MAX);
  const call = (name: string, answer: (page: FoundPage, request: PageRequest) => Promise<object>) => ({
    method: 'POST' as const,
    path: `/checkout/{token}/${name}`,
    bodyBytesMax: BYTES_MAX,
    handle: async (request: PageRequest) => {
      const page = await findPage(deps.db, request.params.token ?? '');
      if (page === undefined || page.merchant.mode !== 'live')
        throw new Fail('resource_not_found', 'There is nothing at this path.');
      buckets.takeOrRefuse(page.session.session_id, deps.clock.nowMs(), 'Too many clicks on this page.');
      // Its page takes and changes nothing.
      if (page.merchant.isSuspended) throw new Fail('invalid_request', 'The store takes no payments now.');
      return json(await answer(page, request));
    },
  });
  return [
    call('wallet', async (page, request) => await orderOf(deps, page, request)),
    call('wallet-text', async (page, request) => {
      const account = formOf(request).get('account') ?? '';
      const text = textToSign(deps, page, { publicUrl: publicUrl(), network: 'erc20', account });
      if (text !== undefined) return text;
      throw new Fail('invalid_request', { message: 'This is no wallet.', param: 'account' });
    }),
    call('wallet-proof', async (page, request) => {
      const form = formOf(request, BYTES_MAX);
      const signed = { token: form.get('token') ?? '', signature: form.get('signature') ?? '' };
      return { outcome: await proveByText(deps, page, { publicUrl: publicUrl(), ...signed }) };
    }),
  ];
}

/**
 * The transfer that pays what the page shows. `isChanged`: by now it would show something else, and the payer should see
 * that first.
 */
async function orderOf(
  deps: PaymentDeps,
  page: FoundPage,
  request: PageRequest,
): Promise<WalletOrder | { isChanged: true }> {
  const language = languageOf(request);
  const view = await readPage(deps, page, language);
  const due = view?.due ?? null;
  const form = formOf(request);
  const facts = deps.chains.facts(page.merchant, 'erc20');
  const isShown = due?.address === form.get('address') && due?.amount === form.get('amount');
  if (due === null || due.wallet === null || facts === undefined || !isShown) return { isChanged: true };
  const { chainId, contract } = due.wallet;
  return {
    chain: { id: chainId, name: facts.name, endpoint: facts.publicEndpoint },
    call: { to: contract, data: transferData(due.address, parseTokens(due.amount)) },
    texts: await walletTexts(language),
  };
}

const json = (value: object): PageAnswer => ({
  status: 200,
  type: 'application/json; charset=utf-8',
  headers: pageHeaders({}),
  body: JSON.stringify(value),
});
