import { NETWORKS } from '@florin/contract/money';
import { type FrontEvent, type FrontNetwork, NETWORK_NAMES, renderList, renderPage } from '@florin/pages';
import { openSessionPage } from '../../checkout/index.ts';
import { listEvents } from '../../events/index.ts';
import type { PaymentDeps } from '../../payments/index.ts';
import { TokenBuckets } from '../../platform/http/index.ts';
import {
  htmlAnswer,
  isLocal,
  type PublicPage,
  pageHeaders,
  seeOther,
} from '../../platform/http/pages/index.ts';
import { getMerchant } from '../../stores/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import { MAILS_PATH } from '../inbox/mail-pages.ts';
import { INBOX_PATH } from '../inbox/pages.ts';
import { timeOf } from '../inbox/view.ts';
import { LIVE_SCRIPT, listAnswer, refuseForeign, refuseOthers, type SandboxOwner } from '../local-pages.ts';

const FRONT_PATH = '/';
const LIST_PATH = '/sandbox/events';
const CHECKOUT_PATH = '/sandbox/checkout';
const EVENTS_SHOWN = 10;
/** For a person who clicks. */
const CHECKOUTS = { perSecond: 1, burst: 20 };
const DEMO = { amount: 499, currency: 'USD', description: 'Demo checkout' } as const;

export interface FrontOptions {
  owner: SandboxOwner;
  version: string;
  /** Follows the name of a command that has to find the data folder. */
  folderOption: string;
}

/** The sandbox's front page, and what it loads. Callers from elsewhere get the name of the service. */
export function frontPages(deps: PaymentDeps, options: FrontOptions): PublicPage[] {
  const { owner } = options;
  return [
    {
      path: FRONT_PATH,
      forBrowsers: true,
      handle: async (request) => {
        if (!isLocal(request)) return htmlAnswer(await renderPage({ page: 'service' }));
        refuseForeign(request);
        return htmlAnswer(await renderPage({ page: 'front', ...(await readFront(deps, options)) }));
      },
    },
    {
      path: LIST_PATH,
      handle: async (request) => {
        refuseOthers(request);
        return listAnswer(
          request,
          await renderList({ page: 'front', events: await readEvents(deps, owner) }),
        );
      },
    },
    checkoutPage(deps, owner),
  ];
}

/** Opens a payment, as a store's server would. */
function checkoutPage(deps: PaymentDeps, owner: SandboxOwner): PublicPage {
  const buckets = new TokenBuckets(CHECKOUTS.perSecond, CHECKOUTS.burst);
  return {
    method: 'POST',
    path: CHECKOUT_PATH,
    handle: async (request) => {
      refuseOthers(request);
      buckets.takeOrRefuse(owner.storeId, deps.clock.nowMs(), 'Too many demo checkouts.');
      const { clockOffset } = await getMerchant(deps.db, owner.merchantId);
      const caller = { ...owner, mode: 'sandbox', clockOffset } as const;
      const path = await openSessionPage(deps, { caller, body: DEMO, idempotencyKey: '' });
      return seeOther(path, pageHeaders({}));
    },
  };
}

async function readFront(deps: PaymentDeps, { owner, version, folderOption }: FrontOptions) {
  const [merchant, networks, events] = await Promise.all([
    getMerchant(deps.db, owner.merchantId),
    Promise.all(NETWORKS.map((network) => readNetwork(deps, owner, network))),
    readEvents(deps, owner),
  ]);
  const ids = { id: encodeId('merchant', owner.merchantId), storeId: encodeId('store', owner.storeId) };
  return {
    version,
    merchant: { name: merchant.name, ...ids },
    networks,
    signedRequest: `npx florin sign GET /api/v1/balances${folderOption} | sh`,
    checkoutPath: CHECKOUT_PATH,
    inboxPath: INBOX_PATH,
    mailsPath: MAILS_PATH,
    scriptPath: LIVE_SCRIPT,
    listPath: LIST_PATH,
    events,
  };
}

/** The simulated chains may be away: the page is shown all the same. */
async function readNetwork(
  { chains }: PaymentDeps,
  { merchantId }: SandboxOwner,
  network: (typeof NETWORKS)[number],
): Promise<FrontNetwork> {
  const name = NETWORK_NAMES[network];
  try {
    const { height } = await chains.sandbox(merchantId, network).height();
    return { name, height: String(height) };
  } catch {
    return { name, height: null };
  }
}

async function readEvents({ db }: PaymentDeps, owner: SandboxOwner): Promise<FrontEvent[]> {
  const events = await listEvents(db, owner, { limit: EVENTS_SHOWN });
  return events.slice(0, EVENTS_SHOWN).map(({ event_id, type, resource, created_at }) => ({
    id: encodeId('event', event_id),
    type,
    resource,
    createdAt: timeOf(created_at),
  }));
}
