export interface NavigationPage {
  /** Of the file in docs/, without `.md`, or of a page that is made. */
  name: string;
  title: string;
}

export interface NavigationSection {
  title: string;
  pages: readonly NavigationPage[];
}

/** Path of the site on the service. */
export const BASE = '/docs';

export const urlOf = (name: string) => (name === 'index' ? BASE : `${BASE}/${name}`);

const page = (name: string, title: string): NavigationPage => ({ name, title });

/** The menu. A document that it lacks fails the build. */
export const NAVIGATION: readonly NavigationSection[] = [
  {
    title: 'Start',
    pages: [
      page('index', 'Overview'),
      page('concepts', 'Concepts'),
      page('sandbox', 'The sandbox'),
      page('signing', 'Signing a request'),
      page('changelog', 'Changelog'),
    ],
  },
  {
    title: 'Recipes',
    pages: [
      page('recipes/payment-express', 'Take a payment in Express'),
      page('recipes/payment-nextjs', 'Take a payment in Next.js'),
      page('recipes/subscription', 'Sell a subscription'),
      page('recipes/wallet-subscription', 'Subscribe with a browser wallet'),
      page('recipes/pay-200', 'Pay 200 people'),
      page('recipes/refund-exchange', 'Refund an exchange payer'),
      page('recipes/test-webhooks', 'Test webhooks'),
      page('recipes/go-live', 'Go live'),
    ],
  },
  {
    title: 'Developers',
    pages: [
      page('checkout', 'Payments'),
      page('payment-links', 'Payment links'),
      page('subscriptions', 'Subscriptions'),
      page('payouts', 'Payouts'),
      page('refunds', 'Refunds'),
      page('customers', 'Customers'),
      page('webhooks-receiving', 'Receive webhooks'),
      page('webhooks', 'Webhook endpoints'),
      page('mail', 'Mail'),
      page('lists', 'Lists and CSV'),
      page('examples', 'Examples'),
    ],
  },
  {
    title: 'Reference',
    pages: [page('events', 'Events'), page('errors', 'Error codes')],
  },
  {
    title: 'Operators',
    pages: [
      page('live', 'Real money'),
      page('operating', 'Operating'),
      page('signer', 'The signer'),
      page('monitoring', 'Monitoring'),
      page('local-chains', 'Local networks'),
      page('test-nodes', 'Nodes for tests'),
      page('contracts', 'Contracts'),
      page('benchmarks', 'Benchmarks'),
      page('faults', 'Failures under test'),
      page('decisions', 'Decisions'),
    ],
  },
];

/** What the menu lists and is not there, and pages of the first level and recipes that it lacks. */
export function menuFaults(names: readonly string[]): string[] {
  const listed = NAVIGATION.flatMap(({ pages }) => pages.map(({ name }) => name));
  const missing = listed.filter((name) => !names.includes(name));
  const isOwn = (name: string) => !name.includes('/') || name.startsWith('recipes/');
  const unlisted = names.filter((name) => isOwn(name) && !listed.includes(name));
  return [
    ...missing.map((name) => `the menu lists ${name}, which is not there`),
    ...unlisted.map((name) => `${name} is not in the menu`),
  ];
}
