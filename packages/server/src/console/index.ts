import type { LiveEvents } from '../events/index.ts';
import type { PaymentMethodDeps } from '../payment-methods/index.ts';
import type { PaymentDeps } from '../payments/index.ts';
import type { ProcessSetting } from '../platform/config.ts';
import { type Authentication, openApiDocument, type Route } from '../platform/http/index.ts';
import type { PublicPage } from '../platform/http/pages/index.ts';
import type { PeopleMailDeps } from './accounts/mails/index.ts';
import { createApiAuthentication } from './api-authentication.ts';
import { appPages } from './app-pages.ts';
import { auditRoutes, openToPeople } from './audit-routes.ts';
import { createConsoleAuthentication, permitUser } from './authenticate.ts';
import { peoplePages } from './people-page/index.ts';
import { type ApprovalDeps, approvalRoutes } from './routes/approval-routes.ts';
import { auditLogRoutes } from './routes/audit-log-routes.ts';
import { type BrandDeps, brandRoutes } from './routes/brand-routes.ts';
import { changeRoutes } from './routes/change-routes.ts';
import { explorerRoutes } from './routes/explorer-routes.ts';
import { keyRoutes } from './routes/key-routes.ts';
import { networkRoutes } from './routes/network-routes.ts';
import { type OperatorDeps, operatorRoutes } from './routes/operator-routes.ts';
import { overviewRoutes } from './routes/overview-routes.ts';
import { openRoutes, ownRoutes } from './routes/own-routes.ts';
import { passkeySignInRoutes } from './routes/passkey-routes.ts';
import { refundableRoutes } from './routes/refundable-routes.ts';
import { requestRoutes } from './routes/request-routes.ts';
import { riskRoutes } from './routes/risk-routes.ts';
import { roleRoutes } from './routes/role-routes.ts';
import { searchRoutes } from './routes/search-routes.ts';
import { seizureRoutes } from './routes/seizure-routes.ts';
import { settingRoutes } from './routes/setting-routes.ts';
import { type StatementDeps, statementRoutes } from './routes/statement-routes.ts';
import { storeRoutes } from './routes/store-routes.ts';
import { teamRoutes } from './routes/team-routes.ts';
import { walletRoutes } from './routes/wallet-routes.ts';
import { webhookKeyRoutes } from './routes/webhook-key-routes.ts';

export { inviteByMail, renewLink } from './accounts/mails/index.ts';
export * as ownRoles from './accounts/own-roles/index.ts';

/** People of a sandbox are signed in by its name: a cookie and a passkey belong to one. */
const pageOf = (baseUrl: string, path: string) => `${baseUrl.replace('//127.0.0.1', '//localhost')}${path}`;

/** The page of a link; its secret stands behind the `#`, which browsers send to no server. */
export const linkOf = (baseUrl: string, token: string): string => pageOf(baseUrl, `/console/link#${token}`);

/** Where a request of the log is shown, for whoever may see it. */
export const requestPageOf = (baseUrl: string, requestId: string): string =>
  pageOf(baseUrl, `/console/requests/${encodeURIComponent(requestId)}`);

interface ConsoleOptions {
  publicUrl: () => string;
  version: string;
  /** What the operator sees of modules above this one. */
  installationRoutes?: readonly Route[];
  liveEvents: LiveEvents;
  /** Settings of this process. */
  processSettings?: readonly ProcessSetting[] | undefined;
}

const NO_EXAMPLE = { path: {}, query: {}, body: undefined, answer: undefined, samples: [], note: undefined };

type Deps = ApprovalDeps &
  StatementDeps &
  OperatorDeps &
  BrandDeps &
  PeopleMailDeps &
  PaymentDeps &
  PaymentMethodDeps;

/** The routes below `/console/api`, who may come in there and do what, and their OpenAPI document. */
export function createConsole(
  deps: Deps,
  { publicUrl, version, liveEvents, installationRoutes = [], processSettings = [] }: ConsoleOptions,
) {
  const place = { deps, publicUrl };
  const open = [...openRoutes(place), ...passkeySignInRoutes(place)];
  const routes: Route[] = [
    ...open,
    ...auditRoutes(deps, [
      ...ownRoutes(place),
      ...storeRoutes(deps),
      ...brandRoutes(deps),
      ...operatorRoutes(deps),
      ...networkRoutes(deps),
      ...riskRoutes(deps),
      ...seizureRoutes(deps),
      ...installationRoutes,
      ...settingRoutes(deps, processSettings),
      ...keyRoutes(deps),
      ...webhookKeyRoutes(deps),
      ...explorerRoutes(deps),
      ...requestRoutes(deps),
      ...searchRoutes(deps),
      ...statementRoutes(deps),
      ...changeRoutes(deps, liveEvents),
      ...overviewRoutes(deps),
      ...teamRoutes(deps),
      ...roleRoutes(deps),
      ...auditLogRoutes(deps),
      ...refundableRoutes(deps),
      ...walletRoutes(deps),
      ...approvalRoutes({ deps, publicUrl }),
    ]),
  ];
  const openPaths = open.map(({ path }) => path);
  const document: PublicPage = {
    path: '/console/api/openapi.json',
    handle: async () => ({
      status: 200,
      type: 'application/json; charset=utf-8',
      body: JSON.stringify(
        openApiDocument(routes, {
          title: 'Florin console',
          version,
          description:
            'What the console calls beside the API of merchants: people sign in here, and no API key does.',
          serverUrl: publicUrl(),
          errorFormats: [],
          exampleOf: () => NO_EXAMPLE,
          ofPeople: true,
        }),
      ),
    }),
  };
  const authentication = createConsoleAuthentication(deps, { publicUrl, openPaths });
  return {
    routes,
    pages: [document, ...peoplePages(), ...appPages(place)],
    ...authentication,
    permitUser: permitUser(deps),
    /** The API with its second way in: its routes with what people need for them, and who comes in. */
    openApi: (apiRoutes: readonly Route[], keys: Authentication) => ({
      routes: openToPeople(deps, apiRoutes),
      ...createApiAuthentication(deps, keys, { publicUrl }),
    }),
  };
}
