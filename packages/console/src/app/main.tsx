import { createTheme, MantineProvider, Modal } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { listAhead, start } from './ahead.ts';
import { ApiError, keepCsrfToken } from './api.ts';
import { Connection } from './connection.tsx';
import './styles.ts';
import { listQuery } from './list-query.ts';
import { isOfConnection, meQuery, storesQuery } from './session.ts';
import { HomePage, OperatorShell, Shell } from './shell.tsx';
import { styleNonce } from './style-nonce.ts';

/** Filters are texts as they stand in the address: nothing is read as a number or as JSON. */
const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));
function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <Connection />
    </>
  ),
});
const at = (path: string, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component });
const shell = createRoute({ getParentRoute: () => root, path: '/$merchant/$store', component: Shell });
const operator = createRoute({ getParentRoute: () => root, path: '/operator', component: OperatorShell });
type Load = () => Promise<Record<string, unknown>>;
const loaded = (load: Load, name: string) =>
  lazyRouteComponent(load as () => Promise<Record<string, () => React.ReactNode>>, name);
const page = (path: string, load: Load, name: string) =>
  createRoute({ getParentRoute: () => shell, path, component: loaded(load, name) });
const operatorPage = (path: string, load: Load, name: string) =>
  createRoute({ getParentRoute: () => operator, path, component: loaded(load, name) });

const router = createRouter({
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  routeTree: root.addChildren([
    at('/', HomePage),
    createRoute({
      getParentRoute: () => root,
      path: '/requests/$id',
      component: lazyRouteComponent(() => import('./pages/request-door.tsx'), 'RequestDoor'),
    }),
    operator.addChildren([
      operatorPage('/health', () => import('./pages/operator/health.tsx'), 'HealthPage'),
      operatorPage('/networks', () => import('./pages/operator/networks.tsx'), 'NetworksPage'),
      operatorPage('/treasury', () => import('./pages/operator/treasury.tsx'), 'TreasuryPage'),
      operatorPage('/stores', () => import('./pages/operator/stores.tsx'), 'AllStoresPage'),
      operatorPage('/merchants', () => import('./pages/operator/merchants.tsx'), 'MerchantsPage'),
      operatorPage('/merchants/$id', () => import('./pages/operator/statement.tsx'), 'MerchantStatementPage'),
      operatorPage('/risk', () => import('./pages/operator/risk.tsx'), 'RiskPage'),
      operatorPage('/seizures', () => import('./pages/operator/seizures.tsx'), 'SeizuresPage'),
      operatorPage('/jobs', () => import('./pages/operator/jobs.tsx'), 'JobsPage'),
      operatorPage('/settings', () => import('./pages/operator/settings.tsx'), 'SettingsPage'),
      operatorPage('/audit', () => import('./pages/audit.tsx'), 'InstallationAuditPage'),
    ]),
    shell.addChildren([
      page('/home', () => import('./pages/home.tsx'), 'StoreHomePage'),
      page('/search', () => import('./pages/search.tsx'), 'SearchPage'),
      page('/payments', () => import('./pages/payments.tsx'), 'PaymentsPage'),
      page('/payments/$id', () => import('./pages/payment.tsx'), 'PaymentPage'),
      page('/refunds', () => import('./pages/refunds.tsx'), 'RefundsPage'),
      page('/refunds/$id', () => import('./pages/refunds.tsx'), 'RefundPage'),
      page('/payouts', () => import('./pages/payouts.tsx'), 'PayoutsPage'),
      page('/payouts/import', () => import('./pages/payout-import.tsx'), 'PayoutImportPage'),
      page('/payouts/$id', () => import('./pages/payout.tsx'), 'PayoutPage'),
      page('/approvals', () => import('./pages/approvals.tsx'), 'ApprovalsPage'),
      page('/payment-links', () => import('./pages/payment-links.tsx'), 'PaymentLinksPage'),
      page('/payment-methods', () => import('./pages/payment-methods.tsx'), 'PaymentMethodsPage'),
      page('/payment-methods/$id', () => import('./pages/payment-methods.tsx'), 'PaymentMethodPage'),
      page('/customers', () => import('./pages/customers.tsx'), 'CustomersPage'),
      page('/customers/$id', () => import('./pages/customers.tsx'), 'CustomerPage'),
      page('/subscriptions', () => import('./pages/subscriptions.tsx'), 'SubscriptionsPage'),
      page('/subscriptions/$id', () => import('./pages/subscriptions.tsx'), 'SubscriptionPage'),
      page('/invoices', () => import('./pages/invoices.tsx'), 'InvoicesPage'),
      page('/invoices/$id', () => import('./pages/invoices.tsx'), 'InvoicePage'),
      page('/balances', () => import('./pages/balances.tsx'), 'BalancesPage'),
      page('/balances/statement', () => import('./pages/statement.tsx'), 'StatementPage'),
      page('/ledger', () => import('./pages/balances.tsx'), 'LedgerPage'),
      page('/keys', () => import('./pages/keys.tsx'), 'KeysPage'),
      page('/requests', () => import('./pages/requests.tsx'), 'RequestsPage'),
      page('/requests/$id', () => import('./pages/request.tsx'), 'RequestPage'),
      page('/events', () => import('./pages/events.tsx'), 'EventsPage'),
      page('/events/$id', () => import('./pages/events.tsx'), 'EventPage'),
      page('/webhooks', () => import('./pages/webhooks.tsx'), 'WebhooksPage'),
      page('/webhooks/$id', () => import('./pages/webhooks.tsx'), 'WebhookPage'),
      page('/deliveries', () => import('./pages/deliveries.tsx'), 'DeliveriesPage'),
      page('/deliveries/$id', () => import('./pages/deliveries.tsx'), 'DeliveryPage'),
      page('/mails', () => import('./pages/mails.tsx'), 'MailsPage'),
      page('/mails/$id', () => import('./pages/mails.tsx'), 'MailPage'),
      page('/clock', () => import('./pages/sandbox/clock.tsx'), 'ClockPage'),
      page('/chains', () => import('./pages/sandbox/chains.tsx'), 'ChainsPage'),
      page('/inbox', () => import('./pages/sandbox/inbox.tsx'), 'InboxPage'),
      page('/wallets', () => import('./pages/sandbox/wallets.tsx'), 'WalletsPage'),
      page('/stores', () => import('./pages/stores.tsx'), 'StoresPage'),
      page('/settings', () => import('./pages/store/settings.tsx'), 'StoreSettingsPage'),
      page('/branding', () => import('./pages/store/branding.tsx'), 'BrandingPage'),
      page('/team', () => import('./pages/team.tsx'), 'TeamPage'),
      page('/roles', () => import('./pages/roles.tsx'), 'RolesPage'),
      page('/audit', () => import('./pages/audit.tsx'), 'AuditPage'),
    ]),
  ]),
});

/** A refusal is an answer; only what did not arrive is asked for again. */
const retry = (count: number, error: Error) => !(error instanceof ApiError) && count < 2;
/** After a failed call the session may have ended, or the service may be away: `me`, read again, shows which. */
const onError = (error: Error) => {
  if (isOfConnection(error)) void client.invalidateQueries({ queryKey: meQuery.queryKey });
};
const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => queryKey[0] !== 'me' && onError(error),
  }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // Without `always` a browser that believes it is offline keeps a change and sends it later, unasked.
    queries: { retry, networkMode: 'always', refetchOnReconnect: true },
    mutations: { networkMode: 'always' },
  },
});
if (start !== undefined) {
  keepCsrfToken(start.me.csrf_token);
  client.setQueryData(meQuery.queryKey, start.me);
  if (start.merchant !== undefined)
    client.setQueryData(storesQuery(start.merchant.id).queryKey, start.merchant.stores);
  if (listAhead !== undefined) void client.prefetchInfiniteQuery(listQuery(listAhead));
}

/** Shades on which text can be read, in the light and in the dark. */
const theme = createTheme({
  primaryShade: { light: 8, dark: 8 },
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({
      // A click beside a dialog is often an accident, and would take along what was typed.
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, closeOnClickOutside: false },
    }),
  },
});

const place = document.getElementById('root');
if (place === null) throw new Error('the page has no place for the application');
const draw = () =>
  createRoot(place).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  );
// The code of the page is on its way already: what is drawn first is all that there is. A failure is the router's to show.
// No `await`: pages import what stands in this file, which would wait for them.
router.load().then(draw, draw);
