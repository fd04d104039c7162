import { ASSETS, NETWORKS, parseTokens } from '@florin/contract/money';
import { tokensText, type WalletOrder, type WalletTransfer, walletTexts } from '@florin/pages';
import { ChainUnavailable } from '../../chains/port/index.ts';
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
import { networkOf } from '../../platform/network-of.ts';
import { type FoundPage, findPage } from '../page/find-page.ts';
import { languageOf } from '../page/language.ts';
import { readPage } from '../page/read-page.ts';
import { proveByText, textToSign } from './prove-by-text.ts';
import { transferData } from './transfer-call.ts';

/** Rate limit per page, for a person who tries wallets. */
const CLICKS = { perSecond: 1, burst: 20 };
/** Transactions that a process builds for wallets. */
const TRANSFERS = { perSecond: 10, burst: 50 };
const BUCKETS_MAX = 10_000;
const RETRY_SECONDS = 5;
/** With the signature of a contract wallet. */
const BYTES_MAX = 16_384;

/**
 * The calls of a payer's page around a wallet in the browser: what it shall send, the text that it shall sign, and the
 * signature. Whoever has the page's address may make them, as the wallet's owner decides what happens. Simulated networks
 * have none: no browser's wallet knows them.
 */
export function walletPages(deps: PaymentDeps, publicUrl: () => string): PublicPage[] {
  const buckets = new TokenBuckets(CLICKS.perSecond, CLICKS.burst, BUCKETS_MAX);
  const transfers = new TokenBuckets(CLICKS.perSecond, CLICKS.burst, BUCKETS_MAX);
  const all = new TokenBuckets(TRANSFERS.perSecond, TRANSFERS.burst, 1);
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
    call('wallet-transfer', async (page, request) => {
      // Each is some questions of the nodes that also show what arrives.
      const nowMs = deps.clock.nowMs();
      transfers.takeOrRefuse(networkOf(request.remoteAddress), nowMs, 'Too many clicks.');
      all.takeOrRefuse('', nowMs, 'Too many wallets pay at this moment.');
      return await transferOf(deps, page, request);
    }),
    call('wallet-text', async (page, request) => {
      const form = formOf(request);
      const network = NETWORKS.find((one) => one === form.get('network'));
      if (network === undefined || deps.chains.facts(page.merchant, network)?.wallets == null)
        throw new Fail('invalid_request', { message: 'No wallet signs for this network.', param: 'network' });
      const account = form.get('account') ?? '';
      const text = textToSign(deps, page, { publicUrl: publicUrl(), network, account });
      return text ?? noWallet();
    }),
    call('wallet-proof', async (page, request) => {
      const form = formOf(request, BYTES_MAX);
      const signed = { token: form.get('token') ?? '', signature: form.get('signature') ?? '' };
      return { outcome: await proveByText(deps, page, { publicUrl: publicUrl(), ...signed }) };
    }),
  ];
}

const noWallet = (): never => {
  throw new Fail('invalid_request', { message: 'This is no wallet.', param: 'account' });
};

/** What the payer's page asks for, if it still shows that. */
async function dueOf(deps: PaymentDeps, page: FoundPage, request: PageRequest) {
  const form = formOf(request);
  const view = await readPage(deps, page, languageOf(request));
  const due = view?.due ?? null;
  const isShown = due?.address === form.get('address') && due?.amount === form.get('amount');
  const facts = due === null ? undefined : deps.chains.facts(page.merchant, due.network);
  const wallet = due?.wallet ?? null;
  return due === null || wallet === null || facts === undefined || !isShown
    ? undefined
    : { due, wallet, facts };
}

/** What a wallet is asked for that pays what the page shows. */
async function orderOf(deps: PaymentDeps, page: FoundPage, request: PageRequest): Promise<WalletOrder> {
  const asked = await dueOf(deps, page, request);
  if (asked === undefined) return { isChanged: true };
  const { due, wallet, facts } = asked;
  const texts = await walletTexts(languageOf(request));
  if (wallet.kind !== 'ethereum') return { kind: wallet.kind, texts };
  return {
    kind: wallet.kind,
    chain: { id: wallet.chainId, name: facts.name, endpoint: facts.publicEndpoint },
    call: { to: wallet.contract, data: transferData(due.address, parseTokens(due.amount)) },
    texts,
  };
}

/** The transaction that pays it, for a wallet that signs a whole one. */
async function transferOf(deps: PaymentDeps, page: FoundPage, request: PageRequest): Promise<WalletTransfer> {
  const asked = await dueOf(deps, page, request);
  if (asked === undefined) return { isChanged: true };
  const { address: to, amount, network, token } = asked.due;
  const asset = ASSETS.find((one) => one === token) ?? noWallet();
  const from = formOf(request).get('account') ?? '';
  const transfer = { from, to, asset, units: parseTokens(amount) };
  try {
    const found =
      (await deps.chains.payerCalls(page.merchant, network)?.payerTransfer(transfer)) ?? noWallet();
    if ('transaction' in found || 'refused' in found || found.short === 'fee') return found;
    return { short: found.short, held: tokensText(found.held, asset) };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new Fail('service_unavailable', {
      message:
        'The network does not answer now. Nothing was paid: try again, or send it by the address above.',
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
}

const json = (value: object): PageAnswer => ({
  status: 200,
  type: 'application/json; charset=utf-8',
  headers: pageHeaders({}),
  body: JSON.stringify(value),
});
