import type { PublicPage } from '../../platform/http/pages/index.ts';
import type { SubscriptionDeps } from '../deps.ts';
import { mandatePages } from './mandate-pages.ts';
import { portalPages } from './portal-pages.ts';
import { pageLimits, subscribePages } from './subscribe-pages.ts';

/** All pages of subscriptions that payers see. */
export const subscriptionPages = (deps: SubscriptionDeps): PublicPage[] => [
  ...subscribePages(deps),
  ...mandatePages(deps, pageLimits(deps)),
  ...portalPages(deps),
];
