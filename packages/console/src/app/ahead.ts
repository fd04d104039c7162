// Runs while the application itself is still on its way: it imports nothing, so that it comes first.
import type { Me, Store } from './me.ts';

/** Rows that a list asks for at once. */
export const PAGE = 25;

/** Lists of the API by the folder of their page: those that are asked for ahead. */
export const LISTS = {
  payments: '/api/v1/payments',
  refunds: '/api/v1/refunds',
  payouts: '/api/v1/payout-batches',
  customers: '/api/v1/customers',
  subscriptions: '/api/v1/subscriptions',
  invoices: '/api/v1/invoices',
} as const;

/** What the service wrote into the document for whoever is signed in. */
interface Start {
  me: Me;
  /** The merchant of the address, if the person may see it. */
  merchant?: { id: string; stores: Store[] };
}

const element = document.getElementById('start');
export const start: Start | undefined = element?.textContent ? JSON.parse(element.textContent) : undefined;
// A page that is saved takes no token along.
element?.remove();

/** A request for a list that was sent before the page's code was there. */
interface Ahead {
  /** As its page names it. */
  list: {
    path: string;
    place: { merchant: string; store: string };
    filters: Record<string, string>;
    limit: number;
  };
  /** The whole path of the request. */
  path: string;
  answer: Promise<Response>;
}

const isList = (folder: string): folder is keyof typeof LISTS => Object.hasOwn(LISTS, folder);

/** Requests the list of the page at this address, by the same path as the page will. */
function askAhead(): Ahead | undefined {
  const [, , merchant = '', store = '', folder = '', ...more] = location.pathname.split('/');
  if (start?.merchant?.id !== merchant || !isList(folder) || more.length > 0) return undefined;
  const filters = Object.fromEntries(new URLSearchParams(location.search));
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  const path = `${LISTS[folder]}?${new URLSearchParams([...given, ['limit', String(PAGE)]])}`;
  const headers = {
    'x-csrf-token': start.me.csrf_token,
    'x-service-merchant': merchant,
    'x-service-store': store,
  };
  const answer = fetch(path, { headers });
  // The page sees it, if it takes the answer.
  answer.catch(() => undefined);
  return { list: { path: LISTS[folder], place: { merchant, store }, filters, limit: PAGE }, path, answer };
}

const ahead = askAhead();
export const listAhead = ahead?.list;
let untaken = ahead;
/** An early answer is used for this long; after that the page sends its own request. */
const FRESH_MS = 10_000;
const untilMs = performance.now() + FRESH_MS;

/** Hands the early answer out once, to the request of the same path and place. */
export function takeAhead(
  path: string,
  place: Ahead['list']['place'] | undefined,
): Promise<Response> | undefined {
  const found = untaken;
  if (found?.path !== path) return undefined;
  const { merchant, store } = found.list.place;
  if (merchant !== place?.merchant || store !== place.store) return undefined;
  untaken = undefined;
  return performance.now() < untilMs ? found.answer : undefined;
}
