import type { Route } from '../platform/http/index.ts';
import type { SubscriptionDeps } from './deps.ts';
import { portalRoutes } from './page/portal-routes.ts';
import { readRoutes } from './read-routes.ts';
import { writeRoutes } from './write-routes.ts';

/** All routes of subscriptions and their portal. @param publicUrl the base address of payers' pages */
export const subscriptionRoutes = (deps: SubscriptionDeps, publicUrl: () => string): Route[] => [
  ...readRoutes(deps),
  ...writeRoutes(deps, publicUrl),
  ...portalRoutes(deps, publicUrl),
];
